/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_pick_rows, _cols: elements of 1, 2 and (few rows) 4 bytes, one side of the matrix very short and its rows
 * without padding, any length and alignment. Rows are copied to shared memory as they lie, in 16-byte vectors;
 * elements are picked from there one by one and stored as words, which costs fewer instructions than aligning words
 * on both sides.
 */
#include "../gpu.h"
#include "pick.cuh"

struct pick_arguments {
    const unsigned char *in;
    unsigned char *out;
    uint64_t records;             /* length of the long side */
    uint64_t in_pitch, out_pitch; /* bytes */
    uint32_t width;               /* elements of the short side */
    gp_transpose_cut cut;
};

/* Stores those of a word's elements that lie in first .. end - 1; `to` is aligned. */
template <int bytes>
__device__ inline void store_picked(unsigned char *to, const uint32_t *e, uint32_t row, uint32_t lowest,
                                    uint32_t end) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 4 / bytes;
    if (row >= lowest && row + elems <= end)
        *(uint32_t *)to = word_of_elements<bytes>(e);
    else
        for (uint32_t k = 0; k < elems; k++)
            if (row + k >= lowest && row + k < end)
                ((element *)to)[k] = (element)e[k];
}

/*
 * Many rows: a tile is one piece of memory, as many rows as `tile_rows` and the halo that skewed output segments
 * start in. A warp stores 8 words of each of 4 columns at a time, whole sectors; `steps` times down.
 */
template <int bytes, int steps>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, 4) transpose_pick_rows(pick_arguments a) {
    gp_await_earlier_kernels();
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 4 / bytes, rows = GP_TRANSPOSE_PICK_WORDS * elems; /* a step */
    const uint32_t pitch = (uint32_t)a.in_pitch, halo = a.cut.halo, height = a.cut.tile_rows + halo;
    const int64_t row = (int64_t)blockIdx.x * a.cut.tile_rows - halo, left = (int64_t)a.records - row;
    const uint32_t lowest = row < 0 ? (uint32_t)-row : 0, end = left < height ? (uint32_t)left : height;
    const unsigned char *base = a.in + row * (int64_t)a.in_pitch;
    const uint32_t past = (uint32_t)(uintptr_t)base & 15;
    const unsigned char *memory_end = a.in + a.records * a.in_pitch;
    const uint32_t bytes_inside = past + height * pitch;
    if (base - past >= a.in && base + height * pitch + 15 <= memory_end) {
#pragma unroll 4
        for (uint32_t i = threadIdx.x * 16; i < bytes_inside; i += blockDim.x * 16)
            copy_async(transpose_shared + i, base - past + i);
    } else {
        for (uint32_t i = threadIdx.x * 16; i < bytes_inside; i += blockDim.x * 16)
            copy_inside(transpose_shared + i, base - past + i, a.in, memory_end);
    }
    await_copies();
    __syncthreads();
    const uint32_t lane = threadIdx.x % 32, quads = (a.width + 3) / 4;
    const uint32_t items = quads * (a.cut.tile_rows / (rows * steps)), skewed = halo > 0 ? halo - 1 : 0;
#pragma unroll 1
    for (uint32_t item = threadIdx.x / 32; item < items; item += blockDim.x / 32) {
        const uint32_t block = item / quads, c = (item - block * quads) * 4 + lane % 4;
        if (c >= a.width)
            continue;
        unsigned char *to = a.out + c * a.out_pitch;
        const uint32_t r =
            halo - ((uint32_t)((uintptr_t)to / bytes) & skewed) + block * steps * rows + lane / 4 * elems;
        const unsigned char *from = transpose_shared + past + r * pitch + c * bytes;
        to += (row + r) * (int64_t)bytes;
#pragma unroll
        for (uint32_t n = 0; n < steps; n++, from += rows * pitch) {
            uint32_t e[elems];
#pragma unroll
            for (uint32_t k = 0; k < elems; k++)
                e[k] = *(const element *)(from + k * pitch);
            store_picked<bytes>(to + n * rows * bytes, e, r + n * rows, lowest, end);
        }
    }
}

/*
 * Few rows: the output is one piece of memory. A thread's words lie a multiple of `width` words apart: their elements
 * come from the same rows, so that the places to pick from only move along.
 */
template <int bytes>
__global__ void __launch_bounds__(GP_TRANSPOSE_PICK_COLS_THREADS, 8) transpose_pick_cols(pick_arguments a) {
    gp_await_earlier_kernels();
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 4 / bytes;
    const uint64_t col = (uint64_t)blockIdx.x * a.cut.tile_cols;
    const uint32_t cols = left_of(a.records, col, a.cut.tile_cols),
                   pitch = GP_TRANSPOSE_PICK_PITCH(a.cut.tile_cols * bytes);
    const unsigned char *base = a.in + col * bytes, *end = a.in + (a.width - 1) * a.in_pitch + a.records * bytes;
    for (uint32_t r = threadIdx.x / 16; r < a.width; r += blockDim.x / 16) {
        const unsigned char *from = base + r * a.in_pitch;
        const uint32_t past = (uint32_t)(uintptr_t)from & 15;
#pragma unroll 4
        for (uint32_t v = threadIdx.x % 16; v * 16 < past + cols * bytes; v += 16)
            copy_inside(transpose_shared + r * pitch + v * 16, from - past + v * 16, a.in, end);
    }
    await_copies();
    __syncthreads();
    const uint32_t past = (uint32_t)(uintptr_t)base, slope = (uint32_t)a.in_pitch;
    const auto picked = [&](uint32_t i) { /* element i of the output */
                                          const uint32_t c = i / a.width, r = i - c * a.width;
                                          return (const element *)(transpose_shared + r * pitch +
                                                                   ((past + r * slope) & 15) + c * bytes);
    };
    element *to = (element *)(a.out + col * a.out_pitch);
    const uint32_t n = cols * a.width, head = min(n, (0u - (uint32_t)(uintptr_t)to & 3) / bytes),
                   words = (n - head) / elems;
    const uint32_t turns = blockDim.x / a.width, active = turns * a.width;
    if (threadIdx.x < active) {
        const element *from[elems];
#pragma unroll
        for (uint32_t k = 0; k < elems; k++)
            from[k] = picked(head + threadIdx.x * elems + k);
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < words; i += active) {
            uint32_t e[elems];
#pragma unroll
            for (uint32_t k = 0; k < elems; k++, from[k - 1] += turns * elems)
                e[k] = *from[k];
            ((uint32_t *)(to + head))[i] = word_of_elements<bytes>(e);
        }
    }
    const uint32_t rest = n - words * elems, i = threadIdx.x < head ? threadIdx.x : threadIdx.x + words * elems;
    if (threadIdx.x < rest)
        to[i] = *picked(i);
}

static pick_arguments pick_arguments_of(const gp_problem *problem, const gp_transpose_cut &cut, bool rows) {
    return {static_cast<const unsigned char *>(problem->in),
            static_cast<unsigned char *>(problem->out),
            rows ? problem->rows : problem->cols,
            problem->in_pitch * problem->elem_bytes,
            problem->out_pitch * problem->elem_bytes,
            (uint32_t)(rows ? problem->cols : problem->rows),
            cut};
}

template <int bytes> static const void *pick_rows_of_steps(unsigned steps) {
    return steps == 8 ? (const void *)transpose_pick_rows<bytes, 8> : (const void *)transpose_pick_rows<bytes, 4>;
}

extern "C" gp_status gp_launch_transpose_pick_rows(gp_context *context, const gp_plan *plan,
                                                   const gp_problem *problem) {
    pick_arguments arguments = pick_arguments_of(problem, gp_transpose_cut_of(plan), true);
    void *list[] = {&arguments};
    const unsigned steps = GP_TRANSPOSE_PICK_STEPS(problem->cols * problem->elem_bytes);
    return gp_gpu_launch(
        context, plan, problem->elem_bytes == 2 ? pick_rows_of_steps<2>(steps) : pick_rows_of_steps<1>(steps), list);
}

extern "C" gp_status gp_launch_transpose_pick_cols(gp_context *context, const gp_plan *plan,
                                                   const gp_problem *problem) {
    pick_arguments arguments = pick_arguments_of(problem, gp_transpose_cut_of(plan), false);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan,
                         problem->elem_bytes == 4   ? (const void *)transpose_pick_cols<4>
                         : problem->elem_bytes == 2 ? (const void *)transpose_pick_cols<2>
                                                    : (const void *)transpose_pick_cols<1>,
                         list);
}
