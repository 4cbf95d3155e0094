/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_strip of minima and maxima. A block has the elements of its outputs' windows in shared memory, as whole
 * numbers whose least one wins. Minima of 2, 4, 8 .. neighbours, of which two that overlap make a window, are found
 * along rows, a warp a row, then along columns, a thread a column.
 */
#include "extremes.cuh"

/* A number of which the least wins: of signed ints and floats in their order, NaN before all. */
template <typename KEY> struct order {
    static constexpr KEY top = (KEY)((KEY)1 << (8 * sizeof(KEY) - 1)), all = (KEY) ~(KEY)0;
    static constexpr KEY infinity = sizeof(KEY) == 4 ? (KEY)0x7f800000u : (KEY)0x7c00;
    bool is_float, is_signed, of_maximum;

    __device__ KEY key_of(KEY bits) const {
        KEY key = bits;
        if (is_float) {
            if ((KEY)(bits & (KEY)~top) > infinity)
                return 0;
            key = bits & top ? (KEY)~bits : (KEY)(bits | top);
        } else if (is_signed) {
            key = (KEY)(bits ^ top);
        }
        return of_maximum ? (KEY)~key : key;
    }
    __device__ KEY bits_of(KEY won) const {
        if (is_float && won == 0)
            return sizeof(KEY) == 4 ? (KEY)0x7fc00000u : (KEY)0x7e00;
        const KEY key = of_maximum ? (KEY)~won : won;
        if (is_float)
            return key & top ? (KEY)(key & (KEY)~top) : (KEY)~key;
        return is_signed ? (KEY)(key ^ top) : key;
    }
};

/* Which outputs are a block's. */
struct extremes_place {
    int64_t row, col;
    int rows, cols;
    const unsigned char *in;
    uint64_t batch;
};

__device__ inline extremes_place find_tile(const extremes_arguments &a) {
    const gp_window_axis &y = a.box.axis[a.box.outer], &x = a.box.axis[a.box.outer + 1];
    const uint32_t down = blockIdx.x / a.cut.across, batch = down / a.cut.down;
    extremes_place place;
    place.row = (int64_t)(down - batch * a.cut.down) * a.cut.rows;
    place.col = (int64_t)(blockIdx.x - down * a.cut.across) * a.cut.cols;
    place.rows = (int)min((int64_t)a.cut.rows, (int64_t)y.outputs - place.row);
    place.cols = (int)min((int64_t)a.cut.cols, (int64_t)x.outputs - place.col);
    place.in = a.box.in;
    place.batch = batch;
    uint64_t rest = batch;
    for (unsigned axis = a.box.outer; axis-- > 0; rest /= a.box.axis[axis].n)
        place.in += (int64_t)(rest % a.box.axis[axis].n) * a.box.axis[axis].in;
    return place;
}

/* Minima of `window` neighbours of a row of `width`, in place: from[x] is that of from[x] and those behind it. */
template <typename KEY> __device__ inline void shrink_row(KEY *row, int width, int window) {
    const int lane = threadIdx.x % 32;
    int have = 1;
    while (have < window) {
        const int step = min(have, window - have);
        for (int first = 0; first < width - step; first += 32) {
            const int x = first + lane;
            const bool inside = x + step < width;
            const KEY mine = inside ? row[x] : 0, other = inside ? row[x + step] : 0;
            __syncwarp();
            if (inside)
                row[x] = other < mine ? other : mine;
            __syncwarp();
        }
        have += step;
    }
}

/* Minima of `window` neighbours of a column, by one thread. */
template <typename KEY> __device__ inline void shrink_column(KEY *column, int width, int height, int window) {
    int have = 1;
    while (have < window) {
        const int step = min(have, window - have);
#pragma unroll 4
        for (int y = 0; y < height - step; y++) {
            const KEY mine = column[y * width], other = column[(y + step) * width];
            column[y * width] = other < mine ? other : mine;
        }
        have += step;
    }
}

template <typename KEY>
__device__ inline void load_row(const extremes_arguments &a, const extremes_place &place, const order<KEY> &by,
                                int64_t row, KEY *to, int width) {
    const gp_window_axis &y = a.box.axis[a.box.outer], &x = a.box.axis[a.box.outer + 1];
    const KEY outside = a.box.border == GP_BORDER_ZERO ? by.key_of(0) : order<KEY>::all;
    const int64_t from = gp_window_source(a.box.border, (int64_t)y.n, row - y.before);
    const unsigned char *line = place.in + (from > 0 ? from : 0) * y.in;
    for (int i = threadIdx.x % 32; i < width; i += 32) {
        const int64_t at = gp_window_source(a.box.border, (int64_t)x.n, place.col + i - x.before);
        to[i] = from >= 0 && at >= 0 ? by.key_of(__ldg((const KEY *)(line + at * x.in))) : outside;
    }
}

template <typename KEY>
__device__ inline void store_columns(const extremes_arguments &a, const extremes_place &place, const order<KEY> &by,
                                     const KEY *tile, int width, unsigned r) {
    const unsigned outer = a.box.outer;
    const int64_t *stride = a.box.result[r].stride;
    unsigned char *to = (unsigned char *)a.box.to[r] + place.row * stride[outer] + place.col * stride[outer + 1];
    uint64_t rest = place.batch;
    for (unsigned axis = outer; axis-- > 0; rest /= a.box.axis[axis].outputs)
        to += (int64_t)(rest % a.box.axis[axis].outputs) * stride[axis];
    for (int x = threadIdx.x; x < place.cols; x += GP_EXTREMES_THREADS)
        for (int y = 0; y < place.rows; y++)
            *(KEY *)(to + y * stride[outer] + x * stride[outer + 1]) = by.bits_of(tile[y * width + x]);
}

template <typename KEY>
__global__ void __launch_bounds__(GP_EXTREMES_THREADS, 8)
    window_extremes(const __grid_constant__ extremes_arguments a) {
    extern __shared__ __align__(16) unsigned char extremes_shared[];
    KEY *const tile = (KEY *)extremes_shared;
    gp_grid_dependency_wait();
    const extremes_place place = find_tile(a);
    const int window_y = (int)a.box.axis[a.box.outer].window, window_x = (int)a.box.axis[a.box.outer + 1].window;
    const int width = place.cols + window_x - 1, height = place.rows + window_y - 1;
    for (unsigned maximum = 0; maximum < 2; maximum++) {
        if (!(a.box.wants & (maximum ? GP_WANT_MAX : GP_WANT_MIN)))
            continue;
        const order<KEY> by = {gp_type_is_float(a.box.type), gp_type_is_signed(a.box.type), maximum != 0};
        for (int row = threadIdx.x / 32; row < height; row += GP_EXTREMES_THREADS / 32) {
            load_row(a, place, by, place.row + row, tile + row * width, width);
            __syncwarp();
            shrink_row(tile + row * width, width, window_x);
        }
        __syncthreads();
        for (int x = threadIdx.x; x < place.cols; x += GP_EXTREMES_THREADS)
            shrink_column(tile + x, width, height, window_y);
        for (unsigned r = 0; r < a.box.results; r++)
            if ((a.box.result[r].op == GP_REDUCE_MAX) == (maximum != 0))
                store_columns(a, place, by, tile, width, r);
        __syncthreads();
    }
}

gp_status gp_window_launch_extremes(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const void *const kernels[] = {(const void *)window_extremes<uint8_t>,
                                          (const void *)window_extremes<uint16_t>,
                                          (const void *)window_extremes<uint32_t>};
    extremes_arguments arguments = {};
    arguments.box = *problem->box;
    memcpy(&arguments.cut, plan->tiling.t, sizeof arguments.cut);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernels[plan->tiling.form - GP_STRIP_FORMS], list);
}
