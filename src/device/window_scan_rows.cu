/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_scan_rows: window_scan for rows so short that a block takes several. Each row lies in shared memory with its
 * own halo; what is known of it (a tile_frame) too, so that a thread that loads or stores for another row finds it.
 */
#include "gpu.h"
#include "window_scan.cuh"

#define LOADS 6 /* 16-byte loads a thread: CHUNK / 4 and the spare words of up to a row a thread */

/* The same for all blocks: words from row to row in shared memory, and divisors as 32-bit reciprocals. */
struct rows_layout {
    uint32_t pixel_words;   /* a multiple of 4 */
    uint32_t output_words;  /* likewise */
    uint32_t pixel_inverse; /* of pixel_words / 4 */
    uint32_t output_inverse;
};

struct rows_shared {
    float *outputs;
    int32_t *pixels;
    void *prefixes;
    tile_frame *frames;
    uint32_t *magnitudes;
};

__device__ __forceinline__ rows_shared lay_out() {
    extern __shared__ __align__(16) unsigned char bytes[];
    rows_shared s;
    s.outputs = (float *)bytes;
    s.pixels = (int32_t *)(s.outputs + GP_WINDOW_ROWS_WORDS(blockDim.x));
    s.prefixes = s.pixels + GP_WINDOW_ROWS_WORDS(blockDim.x);
    s.frames = (tile_frame *)((unsigned char *)s.prefixes + (blockDim.x + 32) * GP_WINDOW_PREFIX_BYTES);
    s.magnitudes = (uint32_t *)((unsigned char *)s.frames + blockDim.x * GP_WINDOW_ROW_BYTES);
    return s;
}

/* dividend / divisor, dividend * divisor < 2^32, inverse = 2^32 / divisor + 1 */
__device__ __forceinline__ uint32_t divide(uint32_t dividend, uint32_t inverse) {
    return __umulhi(dividend, inverse);
}

/* Four pixels of a row from `column` on; zero where the row has none. */
__device__ __forceinline__ int4 load_four(const int32_t *row, int32_t column, int32_t cols) {
    if (column >= 0 && column + 4 <= cols)
        return __ldg((const int4 *)(row + column));
    return make_int4(column >= 0 && column < cols ? row[column] : 0,
                     column >= -1 && column + 1 < cols ? row[column + 1] : 0,
                     column >= -2 && column + 2 < cols ? row[column + 2] : 0,
                     column >= -3 && column + 3 < cols ? row[column + 3] : 0);
}

/* Loads what the rows have; returns the magnitudes that this thread saw, as bits. */
__device__ __forceinline__ uint32_t load_rows(const window_arguments &a, const rows_layout &layout,
                                              const rows_shared &s, int64_t y, uint32_t rows) {
    const int32_t groups_a_row = (int32_t)layout.pixel_words / 4;
    uint32_t magnitude = 0;
    int4 four[LOADS];
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        const uint32_t group = load * blockDim.x + threadIdx.x, r = divide(group, layout.pixel_inverse);
        const int32_t i = ((int32_t)group - (int32_t)r * groups_a_row) * 4;
        four[load] = make_int4(0, 0, 0, 0);
        if (r < rows)
            four[load] = load_four(a.image + (y + r) * a.in_pitch, (int32_t)s.frames[r].column + i, (int32_t)a.cols);
    }
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        const uint32_t group = load * blockDim.x + threadIdx.x;
        if (group * 4 < rows * layout.pixel_words)
            *(int4 *)(s.pixels + group * 4) = four[load];
        magnitude |= magnitude_of(four[load]);
    }
    return magnitude;
}

/* Gives the rows their halos, from themselves: a warp a row. Without a border no window reaches there. */
__device__ __forceinline__ void extend_rows(const window_arguments &a, const rows_layout &layout,
                                            const rows_shared &s, uint32_t rows) {
    const int32_t cols = (int32_t)a.cols;
    if (a.border == GP_BORDER_NONE || a.border == GP_BORDER_ZERO)
        return;
    for (uint32_t r = threadIdx.x / 32; r < rows; r += blockDim.x / 32) {
        int32_t *pixels = s.pixels + r * layout.pixel_words;
        const int32_t before = -(int32_t)s.frames[r].column; /* pixels left of the row */
        const int32_t outside = pixels_needed(a, s.frames[r]) - cols;
        for (int32_t i = (int32_t)threadIdx.x % 32; i < outside; i += 32) {
            const int32_t at = i < before ? i : i + cols;
            pixels[at] = pixels[before + border_column(a.border, at - before, cols)];
        }
    }
    __syncthreads();
}

/* Stores all rows' outputs, which lie in shared memory. */
__device__ __forceinline__ void store_rows(const rows_layout &layout, const rows_shared &s, float *out,
                                           uint32_t rows) {
    const uint32_t groups_a_row = layout.output_words / 4;
    __syncthreads();
    for (uint32_t group = threadIdx.x; group < rows * groups_a_row; group += blockDim.x) {
        const uint32_t r = divide(group, layout.output_inverse);
        const int32_t output = (int32_t)(group - r * groups_a_row) * 4;
        const tile_frame &f = s.frames[r];
        if (output < f.end)
            store_four(out + f.at + output, f.first - output, f.end - output, ((const float4 *)s.outputs)[group]);
    }
}

template <typename SUMS>
__device__ __forceinline__ void scan_rows(const window_arguments &a, const gp_window_cut &cut,
                                          const rows_layout &layout, const rows_shared &s, uint32_t rows) {
    const uint32_t r = threadIdx.x / cut.chunks, chunk = threadIdx.x - r * cut.chunks;
    const int32_t output = (int32_t)chunk * CHUNK;
    const bool exists = r < rows;
    const bool makes = exists && output < s.frames[r].end && output + CHUNK > s.frames[r].first;
    const int32_t *own = s.pixels + (exists ? r * layout.pixel_words + s.frames[r].skew + output : 0);
    const block_prefixes<SUMS> prefixes = {(SUMS *)s.prefixes + 32, (SUMS *)s.prefixes};
    const SUMS sums = first_window(a, prefixes, own, makes);
    float *outputs = s.outputs + r * layout.output_words + output;
    float square[CHUNK];
    if (makes)
        slide(a, sums, own, outputs, square);
    if (a.sum != NULL)
        store_rows(layout, s, a.sum, rows);
    if (a.square == NULL)
        return;
    __syncthreads();
    if (makes) {
#pragma unroll
        for (int i = 0; i < CHUNK; i++)
            outputs[i] = square[i];
    }
    store_rows(layout, s, a.square, rows);
}

__global__ void __maxnreg__(GP_WINDOW_ROWS_REGS)
    window_scan_rows(window_arguments a, gp_window_cut cut, rows_layout layout) {
    const rows_shared s = lay_out();
    const int64_t y = blockIdx.x * (int64_t)cut.rows;
    const uint32_t rows = (uint32_t)min((int64_t)cut.rows, a.rows - y);
    if (threadIdx.x < rows)
        s.frames[threadIdx.x] = find_tile(a, cut, y + threadIdx.x, 0);
    __syncthreads();
    const uint32_t magnitude = load_rows(a, layout, s, y, rows);
    const uint32_t magnitudes = join_magnitudes(magnitude, s.magnitudes);
    extend_rows(a, layout, s, rows);
    GP_WINDOW_BY_CLASS(magnitudes, a.window, scan_rows, a, cut, layout, s, rows)
}

static uint32_t inverse_of(uint32_t divisor) {
    return divisor > 1 ? (uint32_t)(((uint64_t)1 << 32) / divisor + 1) : 0;
}

extern "C" gp_status gp_launch_window_scan_rows(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static_assert(sizeof(tile_frame) <= GP_WINDOW_ROW_BYTES, "rows' frames outgrow their place");
    window_arguments arguments = window_arguments_of(problem);
    gp_window_cut cut = gp_window_cut_row(problem, plan->threads);
    const uint32_t pixel_words = (cut.chunks * CHUNK + GP_WINDOW_ALIGN_IN + 3) / 4 * 4;
    const uint32_t output_words = ((cut.outputs + CHUNK - 1) / CHUNK * CHUNK + 3) / 4 * 4;
    rows_layout layout = {pixel_words, output_words, inverse_of(pixel_words / 4), inverse_of(output_words / 4)};
    void *list[] = {&arguments, &cut, &layout};
    return gp_gpu_launch(context, plan, (const void *)window_scan_rows, list);
}
