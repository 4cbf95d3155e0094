/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_strip: one side of the matrix is a few elements long, a record. Many records are one piece of memory,
 * read or written in vectors whatever their length; on the other side each element of the record has a row of its
 * own.
 */
#include "../gpu.h"
#include "../warp.cuh"
#include "transpose.cuh"

struct strip_arguments {
    const unsigned char *in;
    unsigned char *out;
    uint64_t records;
    uint64_t row_pitch; /* bytes, of the side with a row for each element of the record */
    uint32_t width;     /* elements a record */
    uint32_t log2_tile; /* records a block */
    bool vectors;       /* rows are 16-byte aligned */
};

/* An element's room after every 128 bytes: keeps both the records' elements and neighbours out of each other's bank.
 */
template <int bytes> __device__ inline uint32_t padded(uint32_t i) {
    return i + i / (128 / bytes);
}

/* A run of elements from `at` on, which starts anywhere: `head` elements, whole vectors, the rest. */
template <int bytes> struct run {
    uint32_t total, head, vectors;
    __device__ run(const void *at, uint32_t elements) {
        constexpr uint32_t elems = 16 / bytes;
        total = elements;
        head = min(elements, ((0u - (uint32_t)(uintptr_t)at) & 15) / bytes);
        vectors = (elements - head) / elems;
    }
    /* Element i of those before and after the vectors, i < singles(). */
    __device__ uint32_t singles() const {
        return total - vectors * (16 / bytes);
    }
    __device__ uint32_t single(uint32_t i) const {
        return i < head ? i : i + vectors * (16 / bytes);
    }
};

template <int bytes> union vector_of {
    uint4 vector;
    typename element_of<bytes>::type element[16 / bytes];
};

template <int bytes> __global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, 4) transpose_gather(strip_arguments a) {
    gp_await_earlier_kernels();
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 16 / bytes, loads = GP_TRANSPOSE_STRIP_BYTES / 16;
    element *shared = (element *)transpose_shared;
    const uint64_t first = (uint64_t)blockIdx.x << a.log2_tile;
    const uint32_t records = left_of(a.records, first, 1u << a.log2_tile), step = blockDim.x;
    const element *from = (const element *)a.in + first * a.width;
    const run<bytes> part(from, records * a.width);
    for (uint32_t begin = threadIdx.x; begin < part.vectors; begin += loads * step) {
        vector_of<bytes> kept[loads];
#pragma unroll
        for (uint32_t i = 0; i < loads; i++)
            if (begin + i * step < part.vectors)
                kept[i].vector = *(const uint4 *)(from + part.head + (begin + i * step) * elems);
#pragma unroll
        for (uint32_t i = 0; i < loads; i++)
            if (begin + i * step < part.vectors)
#pragma unroll
                for (uint32_t k = 0; k < elems; k++)
                    shared[padded<bytes>(part.head + (begin + i * step) * elems + k)] = kept[i].element[k];
    }
    for (uint32_t i = threadIdx.x; i < part.singles(); i += step)
        shared[padded<bytes>(part.single(i))] = from[part.single(i)];
    __syncthreads();
    const uint32_t each = a.vectors ? elems : 1, log2_items = a.log2_tile - (a.vectors ? 31 - __clz(elems) : 0);
    unsigned char *to = a.out + first * bytes;
    for (uint32_t i = threadIdx.x; i < a.width << log2_items; i += step) {
        const uint32_t c = i >> log2_items, r = (i & ((1u << log2_items) - 1)) * each;
        element *row = (element *)(to + c * a.row_pitch) + r;
        if (a.vectors && r + elems <= records) {
            vector_of<bytes> v;
#pragma unroll
            for (uint32_t k = 0; k < elems; k++)
                v.element[k] = shared[padded<bytes>((r + k) * a.width + c)];
            *(uint4 *)row = v.vector;
        } else {
            for (uint32_t k = 0; k < each && r + k < records; k++)
                row[k] = shared[padded<bytes>((r + k) * a.width + c)];
        }
    }
}

template <int bytes> __global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, 4) transpose_scatter(strip_arguments a) {
    gp_await_earlier_kernels();
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 16 / bytes, loads = GP_TRANSPOSE_STRIP_BYTES / 16;
    element *shared = (element *)transpose_shared;
    const uint64_t first = (uint64_t)blockIdx.x << a.log2_tile;
    const uint32_t records = left_of(a.records, first, 1u << a.log2_tile), step = blockDim.x;
    const unsigned char *from = a.in + first * bytes;
    const uint32_t each = a.vectors ? elems : 1, log2_items = a.log2_tile - (a.vectors ? 31 - __clz(elems) : 0);
    const uint32_t items = a.width << log2_items;
    for (uint32_t begin = threadIdx.x; begin < items; begin += loads * step) {
        vector_of<bytes> kept[loads];
#pragma unroll
        for (uint32_t i = 0; i < loads; i++) {
            const uint32_t item = begin + i * step, c = item >> log2_items;
            const uint32_t r = (item & ((1u << log2_items) - 1)) * each;
            const element *row = (const element *)(from + c * a.row_pitch) + r;
            if (item < items && a.vectors && r + elems <= records)
                kept[i].vector = *(const uint4 *)row;
            else if (item < items)
#pragma unroll
                for (uint32_t k = 0; k < elems; k++)
                    if (k < each && r + k < records)
                        kept[i].element[k] = row[k];
        }
#pragma unroll
        for (uint32_t i = 0; i < loads; i++) {
            const uint32_t item = begin + i * step, c = item >> log2_items;
            const uint32_t r = (item & ((1u << log2_items) - 1)) * each;
#pragma unroll
            for (uint32_t k = 0; k < elems; k++)
                if (item < items && k < each)
                    shared[padded<bytes>((r + k) * a.width + c)] = kept[i].element[k];
        }
    }
    __syncthreads();
    element *to = (element *)a.out + first * a.width;
    const run<bytes> part(to, records * a.width);
    for (uint32_t i = threadIdx.x; i < part.vectors; i += step) {
        vector_of<bytes> v;
#pragma unroll
        for (uint32_t k = 0; k < elems; k++)
            v.element[k] = shared[padded<bytes>(part.head + i * elems + k)];
        *(uint4 *)(to + part.head + i * elems) = v.vector;
    }
    for (uint32_t i = threadIdx.x; i < part.singles(); i += step)
        to[part.single(i)] = shared[padded<bytes>(part.single(i))];
}

extern "C" gp_status gp_launch_transpose_strip(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    const gp_transpose_cut cut = gp_transpose_cut_of(plan);
    const size_t bytes = problem->elem_bytes;
    const bool gather = problem->cols <= problem->rows;
    const uint32_t tile = gather ? cut.tile_rows : cut.tile_cols;
    strip_arguments arguments = {};
    arguments.in = static_cast<const unsigned char *>(problem->in);
    arguments.out = static_cast<unsigned char *>(problem->out);
    arguments.records = gather ? problem->rows : problem->cols;
    arguments.row_pitch = (gather ? problem->out_pitch : problem->in_pitch) * bytes;
    arguments.width = (uint32_t)(gather ? problem->cols : problem->rows);
    while (1u << arguments.log2_tile < tile)
        arguments.log2_tile++;
    arguments.vectors = (gather ? problem->out_align : problem->in_align) >= GP_TRANSPOSE_VECTOR;
    void *list[] = {&arguments};
    static const void *const kernels[][2] = {
        {(const void *)transpose_scatter<1>, (const void *)transpose_gather<1>},
        {(const void *)transpose_scatter<2>, (const void *)transpose_gather<2>},
        {(const void *)transpose_scatter<4>, (const void *)transpose_gather<4>},
        {(const void *)transpose_scatter<8>, (const void *)transpose_gather<8>},
        {(const void *)transpose_scatter<16>, (const void *)transpose_gather<16>}};
    const unsigned size = bytes == 16 ? 4 : bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
    return gp_gpu_launch(context, plan, kernels[size][gather], list);
}
