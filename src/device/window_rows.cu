/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_rows: a block takes whole rows and makes prefix sums of all their pixels, one after the other, in shared
 * memory. Every window is then the difference of two prefixes, and one that leaves its row the sum of a few: no halo
 * is ever made, and a pixel costs the same for every window. Sums are as wide as the block's own data needs; wider
 * ones are made one after the other in the same memory.
 */
#include "gpu.h"
#include "window_rows.cuh"

typedef one_sum<uint32_t, COUNT_PIXELS> pixels_32;
typedef one_sum<uint64_t, COUNT_PIXELS> pixels_64;
typedef one_sum<uint64_t, COUNT_SQUARES> squares_64;
typedef one_sum<uint64_t, COUNT_LOW_HALVES> low_halves;
typedef one_sum<uint64_t, COUNT_HIGH_HALVES> high_halves;

#define THREADS GP_WINDOW_ROWS_THREADS
#define LOADS ((CHUNK + 3) / 4)
#define GROUP 3      /* outputs that a thread has under way */
#define WIDE_GROUP 6 /* of which it keeps one half of the squares while it makes the other */

/* This block's part. */
struct block_rows {
    int32_t pixels; /* in all */
    int32_t skew;   /* the first is the block's pixel number `skew`: loads start at 16 bytes */
    int32_t early;  /* outputs before the first, up to a 128-byte line: each warp stores whole lines */
    float *sum, *square;
    unsigned char *prefixes;
    uint64_t *of_warp;
    uint32_t *magnitudes;
    volatile int32_t *zero;
    row_edge *edges;
};

__device__ __forceinline__ block_rows find_rows(const rows_arguments &a, int64_t y) {
    extern __shared__ __align__(16) unsigned char bytes[];
    const window_arguments &w = a.window;
    block_rows b;
    b.pixels = (int32_t)min((int64_t)a.rows, w.rows - y) * a.cols;
    b.skew = a.flat ? (int32_t)((uintptr_t)(w.image + y * w.in_pitch) / 4 & GP_WINDOW_ROWS_ALIGN) : 0;
    b.sum = w.sum != NULL ? w.sum + y * w.out_pitch : NULL;
    b.square = w.square != NULL ? w.square + y * w.out_pitch : NULL;
    b.early = (int32_t)((uintptr_t)(b.sum != NULL ? b.sum : b.square) / 4 % 32);
    b.prefixes = bytes;
    b.of_warp = (uint64_t *)(bytes + GP_WINDOW_ROWS_PREFIX_BYTES);
    b.magnitudes = (uint32_t *)(b.of_warp + THREADS / 32);
    b.zero = (volatile int32_t *)(b.magnitudes + THREADS / 32);
    b.edges = (row_edge *)(bytes + GP_WINDOW_ROWS_SMEM(0));
    return b;
}

/* Four pixels, of which those from `first` to `end` - 1 are there. */
__device__ __forceinline__ int4 load_four(const int32_t *address, int32_t first, int32_t end) {
    if (first <= 0 && end >= 4)
        return __ldg((const int4 *)address);
    return make_int4(first <= 0 && end > 0 ? address[0] : 0, first <= 1 && end > 1 ? address[1] : 0,
                     first <= 2 && end > 2 ? address[2] : 0, first <= 3 && end > 3 ? address[3] : 0);
}

/* This warp's pixels, as they come, to `words`. */
__device__ __forceinline__ void load_warp(const rows_arguments &a, const block_rows &b, int64_t y, int32_t *words) {
    const int32_t lane = threadIdx.x % 32, warp = ((int32_t)threadIdx.x - lane) * CHUNK;
    const int32_t *image = a.window.image + y * a.window.in_pitch;
    if (a.flat || a.vectors) {
        int4 four[LOADS];
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            const int32_t own = (load * 32 + lane) * 4, i = warp + own;
            const int32_t row = a.flat ? 0 : divide(i, a.inverse);
            const int32_t *address =
                a.flat ? image - b.skew + i : image + row * a.window.in_pitch + (i - row * a.cols);
            if (own < 32 * CHUNK)
                four[load] = load_four(address, b.skew - i, b.skew + b.pixels - i);
        }
#pragma unroll
        for (int load = 0; load < LOADS; load++)
            if ((load * 32 + lane) * 4 < 32 * CHUNK)
                ((int4 *)words)[load * 32 + lane] = four[load];
    } else {
#pragma unroll
        for (int load = 0; load < CHUNK; load++) {
            const int32_t i = warp + load * 32 + lane, row = divide(i, a.inverse);
            words[load * 32 + lane] = i < b.pixels ? __ldg(image + row * a.window.in_pitch + (i - row * a.cols)) : 0;
        }
    }
}

/* This thread's pixels: CHUNK neighbours. Warps do not wait for each other. */
__device__ __forceinline__ void load_chunk(const rows_arguments &a, const block_rows &b, int64_t y,
                                           int32_t pixels[CHUNK]) {
    const int32_t lane = threadIdx.x % 32;
    int32_t *words = (int32_t *)(b.prefixes + ((int32_t)threadIdx.x - lane) * CHUNK * 8);
    load_warp(a, b, y, words);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        pixels[i] = words[lane * CHUNK + i];
    __syncwarp();
}

/*
 * Adds a zero that the compiler knows nothing of, so that it computes from the pixels again for every pass what it
 * would else keep in registers that it does not have.
 */
__device__ __forceinline__ void compute_again(const block_rows &b, int32_t pixels[CHUNK]) {
    const int32_t zero = *b.zero;
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        pixels[i] += zero;
}

/* The sums of the warp's pixels before this thread's; the warp's own go to shared memory. */
template <typename P> __device__ __forceinline__ P scan_warp(const int32_t pixels[CHUNK], P *of_warp) {
    const uint32_t lane = threadIdx.x % 32;
    P total = P::zero();
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        total.add(pixels[i]);
    P inclusive = total;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const P below = inclusive.shuffle_up(step);
        if (lane >= step)
            inclusive = inclusive + below;
    }
    if (lane == 31)
        of_warp[threadIdx.x / 32] = inclusive;
    return inclusive - total;
}

template <typename P> __device__ __forceinline__ P add_warps(P before, const P *of_warp) {
#pragma unroll
    for (uint32_t warp = 0; warp < THREADS / 32 - 1; warp++)
        if (warp < threadIdx.x / 32)
            before = before + of_warp[warp];
    return before;
}

template <typename P>
__device__ __forceinline__ void write_prefixes(P running, const int32_t pixels[CHUNK], P *prefixes) {
    P *own = prefixes + threadIdx.x * CHUNK;
#pragma unroll
    for (int i = 0; i < CHUNK; i++) {
        own[i] = running;
        running.add(pixels[i]);
    }
    if (threadIdx.x == THREADS - 1)
        own[CHUNK] = running;
}

/* Where one of the block's outputs lies. */
struct output_place {
    int32_t row, x;
    int32_t prefix; /* of the row's start */
    bool stored;
    __device__ __forceinline__ output_place(const rows_arguments &a, const block_rows &b, int32_t i) {
        const int32_t inside = min(max(i, 0), b.pixels - 1);
        row = divide(inside, a.inverse);
        x = inside - row * a.cols;
        prefix = b.skew + inside - x;
        stored = inside == i && (uint32_t)(x - a.first) < (uint32_t)a.width;
    }
};

/* Calls EACH(k, place, address) for outputs number `group` * COUNT + k of this thread. */
template <bool PITCHED, int COUNT, typename EACH>
__device__ __forceinline__ void each_output(const rows_arguments &a, const block_rows &b, int32_t group, EACH each) {
    const int32_t first = group * COUNT * THREADS + (int32_t)threadIdx.x - (PITCHED ? 0 : b.early);
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        const output_place place(a, b, first + k * THREADS);
        each(k, place, PITCHED ? place.row * a.window.out_pitch + place.x : (int64_t)first + k * THREADS);
    }
}

template <bool PITCHED, int COUNT> __device__ __forceinline__ bool has_group(const block_rows &b, int32_t group) {
    return group * COUNT * THREADS - (PITCHED ? 0 : b.early) < b.pixels;
}

/* Sum and square at once. */
template <bool EDGES, bool PITCHED>
__device__ __forceinline__ void put_both(const rows_arguments &a, const block_rows &b, both_sums before,
                                         const int32_t pixels[CHUNK]) {
    both_sums *prefixes = (both_sums *)b.prefixes;
    write_prefixes(add_warps(before, (const both_sums *)b.of_warp), pixels, prefixes);
    __syncthreads();
#pragma unroll 1
    for (int32_t group = 0; has_group<PITCHED, GROUP>(b, group); group++)
        each_output<PITCHED, GROUP>(a, b, group, [&](int, const output_place &place, int64_t at) {
            const both_sums sums = window_sum<EDGES>(a, b.edges, prefixes + place.prefix, place.x);
            if (place.stored && b.sum != NULL)
                b.sum[at] = __int2float_rn((int)sums.sum);
            if (place.stored && b.square != NULL)
                b.square[at] = __uint2float_rn(sums.square);
        });
}

/* One of them. */
template <bool EDGES, bool PITCHED, typename P, typename ROUND>
__device__ __forceinline__ void put_one(const rows_arguments &a, const block_rows &b, int32_t pixels[CHUNK],
                                        float *out, ROUND round) {
    P *prefixes = (P *)b.prefixes;
    compute_again(b, pixels);
    const P before = scan_warp(pixels, (P *)b.of_warp);
    __syncthreads();
    compute_again(b, pixels);
    write_prefixes(add_warps(before, (const P *)b.of_warp), pixels, prefixes);
    __syncthreads();
#pragma unroll 1
    for (int32_t group = 0; has_group<PITCHED, GROUP>(b, group); group++)
        each_output<PITCHED, GROUP>(a, b, group, [&](int, const output_place &place, int64_t at) {
            const P sum = window_sum<EDGES>(a, b.edges, prefixes + place.prefix, place.x);
            if (place.stored)
                out[at] = round(sum.value);
        });
}

/* Squares of 62 bits: the sums of their low halves, then of their high ones, a few outputs at a time. */
template <bool EDGES, bool PITCHED>
__device__ __forceinline__ void put_halves(const rows_arguments &a, const block_rows &b, int32_t pixels[CHUNK]) {
    low_halves *low = (low_halves *)b.prefixes;
    high_halves *high = (high_halves *)b.prefixes;
    compute_again(b, pixels);
    low_halves low_before = scan_warp(pixels, (low_halves *)b.of_warp);
    __syncthreads();
    low_before = add_warps(low_before, (const low_halves *)b.of_warp);
    __syncthreads();
    compute_again(b, pixels);
    high_halves high_before = scan_warp(pixels, (high_halves *)b.of_warp);
    __syncthreads();
    high_before = add_warps(high_before, (const high_halves *)b.of_warp);
#pragma unroll 1
    for (int32_t group = 0; has_group<PITCHED, WIDE_GROUP>(b, group); group++) {
        uint64_t kept[WIDE_GROUP];
        compute_again(b, pixels);
        write_prefixes(low_before, pixels, low);
        __syncthreads();
        each_output<PITCHED, WIDE_GROUP>(a, b, group + *b.zero, [&](int k, const output_place &place, int64_t) {
            kept[k] = window_sum<EDGES>(a, b.edges, low + place.prefix, place.x).value;
        });
        __syncthreads();
        compute_again(b, pixels);
        write_prefixes(high_before, pixels, high);
        __syncthreads();
        each_output<PITCHED, WIDE_GROUP>(a, b, group + *b.zero, [&](int k, const output_place &place, int64_t at) {
            const uint64_t upper = window_sum<EDGES>(a, b.edges, high + place.prefix, place.x).value;
            if (place.stored)
                b.square[at] = round_split(kept[k], upper);
        });
        __syncthreads();
    }
}

template <bool EDGES, bool PITCHED> __device__ __forceinline__ void take_rows(const rows_arguments &a) {
    const int64_t y = blockIdx.x * (int64_t)a.rows;
    const block_rows b = find_rows(a, y);
    if (EDGES)
        for (int32_t i = (int32_t)threadIdx.x; i < a.edges; i += THREADS)
            b.edges[i] = row_edge::of(a, i < a.edges_left ? i : i + a.cols - a.edges);
    int32_t pixels[CHUNK];
    load_chunk(a, b, y, pixels);
    uint32_t magnitude = 0;
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        magnitude |= (uint32_t)(pixels[i] ^ pixels[i] >> 31);
    magnitude = gp_warp_or(magnitude);
    if (threadIdx.x % 32 == 0)
        b.magnitudes[threadIdx.x / 32] = magnitude;
    if (threadIdx.x == 0)
        *b.zero = 0;
    const both_sums before = scan_warp(pixels, (both_sums *)b.of_warp);
    __syncthreads();
#pragma unroll
    for (int warp = 0; warp < THREADS / 32; warp++)
        magnitude |= b.magnitudes[warp];
    const window_class found = pick_class(magnitude, a.counted);
    if (found == CLASS_32) {
        put_both<EDGES, PITCHED>(a, b, before, pixels);
        return;
    }
    if (b.sum != NULL && found == CLASS_32_64)
        put_one<EDGES, PITCHED, pixels_32>(a, b, pixels, b.sum,
                                           [](uint32_t sum) { return __int2float_rn((int)sum); });
    else if (b.sum != NULL)
        put_one<EDGES, PITCHED, pixels_64>(a, b, pixels, b.sum,
                                           [](uint64_t sum) { return __ll2float_rn((int64_t)sum); });
    if (b.square != NULL && found != CLASS_WIDE)
        put_one<EDGES, PITCHED, squares_64>(a, b, pixels, b.square, [](uint64_t sum) { return __ull2float_rn(sum); });
    else if (b.square != NULL)
        put_halves<EDGES, PITCHED>(a, b, pixels);
}

template <bool EDGES, bool PITCHED> __global__ void __maxnreg__(GP_WINDOW_ROWS_REGS) window_rows(rows_arguments a) {
    gp_await_earlier_kernels();
    take_rows<EDGES, PITCHED>(a);
}

static uint32_t inverse_of(uint64_t divisor) {
    return (uint32_t)(((uint64_t)1 << 31) / divisor + 1);
}

/* What border columns need to know. */
static void describe_edges(rows_arguments &a, const gp_problem *problem) {
    const uint64_t cols = problem->cols, before = problem->window_before, after = problem->window - before;
    a.replicate = problem->border == GP_BORDER_REPLICATE;
    a.reflect = problem->border == GP_BORDER_REFLECT;
    a.apart = problem->border == GP_BORDER_REFLECT_101 && cols > 1;
    a.ends = a.replicate || a.apart;
    const uint64_t period = a.replicate ? UINT64_MAX : a.reflect || a.apart ? 2 * (cols - a.apart) : cols;
    a.period = (int32_t)period;
    a.turns = (int32_t)(before / period + after / period);
    a.edge_before = (int32_t)(before % period);
    a.edge_after = (int32_t)(after % period);
    a.edges = (int32_t)gp_window_rows_edges(problem);
    a.edges_left = (int32_t)(before < cols ? before : cols);
    if (before + after > cols) { /* no window stays inside */
        a.before = (int32_t)cols + 1;
        a.edges_left = (int32_t)cols;
    }
}

static rows_arguments rows_arguments_of(const gp_problem *problem) {
    const uint64_t cols = problem->cols, before = problem->window_before, after = problem->window - before;
    const bool zero = problem->border == GP_BORDER_NONE || problem->border == GP_BORDER_ZERO;
    rows_arguments a = {};
    a.window = window_arguments_of(problem);
    a.cols = (int32_t)cols;
    a.first = (int32_t)problem->col_first;
    a.width = (int32_t)(problem->col_end - problem->col_first);
    a.before = (int32_t)(before < cols + 1 ? before : cols + 1);
    a.after = (int32_t)(after < cols + 1 ? after : cols + 1);
    a.rows = gp_window_rows_of_block(problem);
    a.inverse = inverse_of(cols);
    a.counted = (uint32_t)(zero && problem->window > cols ? cols : problem->window);
    a.flat = problem->in_pitch == cols || problem->rows == 1;
    a.vectors = problem->in_align >= 16 && cols % 4 == 0;
    if (!zero)
        describe_edges(a, problem);
    return a;
}

extern "C" gp_status gp_launch_window_rows(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const void *const kernels[2][2] = {
        {(const void *)window_rows<false, false>, (const void *)window_rows<false, true>},
        {(const void *)window_rows<true, false>, (const void *)window_rows<true, true>}};
    rows_arguments arguments = rows_arguments_of(problem);
    const bool edges = problem->window > 1 && problem->border != GP_BORDER_NONE && problem->border != GP_BORDER_ZERO;
    const bool pitched = problem->out_pitch != problem->cols && problem->rows > 1;
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernels[edges][pitched], list);
}
