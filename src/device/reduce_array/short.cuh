/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_short: short rows behind each other without gaps, by way of shared memory, so that any alignment of rows
 * is read at the memory's speed. A row has one thread, or a few neighbours.
 */
#ifndef GP_SHORT_CUH
#define GP_SHORT_CUH

#include "finish.cuh"

/* A lane's units of a row in shared memory. */
template <class LANE>
__device__ __forceinline__ void take_staged(const LANE &form, typename LANE::state &s, const unsigned char *row,
                                            uint32_t n, uint32_t lane, uint32_t step, uint32_t bytes) {
    const uint32_t width = LANE::BYTES ? LANE::BYTES : bytes;
    const unsigned char *at = row + lane * width;
#pragma unroll 4
    for (uint32_t e = lane; e < n; e += step, at += step * width)
        form.take(s, load_unit<LANE::BYTES>(at, bytes), e);
}

/* Rows behind each other, to go to shared memory. Rows of an even number of vectors get one more between them, so
   that threads that read whole vectors of rows beside each other use all banks. */
struct staged_rows {
    uint32_t row, vectors; /* of a row: bytes; vectors, or 0: they are not padded */
    uint32_t pitch, reciprocal;
    __device__ staged_rows(uint32_t row_bytes, bool in_vectors)
        : row(row_bytes), vectors(in_vectors && row_bytes / 16 % 2 == 0 ? row_bytes / 16 : 0) {
        pitch = row + (vectors > 0 ? 16 : 0);
        reciprocal = vectors > 0 ? (1 << 20) / vectors + 1 : 0;
    }
    /* Bytes from .. to of device memory; `from` comes to lie at (address of from) % 16. */
    __device__ __forceinline__ void copy(unsigned char *shared, const unsigned char *from,
                                         const unsigned char *to) const {
        const uint32_t skew = (uint32_t)((uintptr_t)from % 16), all = (uint32_t)(to - from);
        const uint32_t head = min(all, (16 - skew) % 16), count = (all - head) / 16, tail = head + count * 16;
        const int4 *const first = (const int4 *)(from + head);
        int4 *const there = (int4 *)(shared + skew + head);
#pragma unroll 1
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) /* i / vectors: exact, as both are below 2^11 */
            copy_vector(there + i + (i * reciprocal >> 20), first + i);
        if (head > 0 && threadIdx.x < head)
            shared[skew + threadIdx.x] = from[threadIdx.x];
        if (threadIdx.x < all - tail)
            shared[skew + tail + threadIdx.x] = from[tail + threadIdx.x];
        copied();
    }
    /* As many at once as there are, without registers, from architecture 80 on. */
    static __device__ __forceinline__ void copy_vector(int4 *to, const int4 *from) {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
                     "l"(from)
                     : "memory");
#else
        *to = gp_load_once(from);
#endif
    }
    static __device__ __forceinline__ void copied() {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    }
};

/* An SM of Turing has not so many threads: there the registers alone are bound. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define SHORT_BOUNDS __maxnreg__(GP_REDUCE_SHORT_REGS)
#else
#define SHORT_BOUNDS __launch_bounds__(GP_REDUCE_SHORT_THREADS, GP_REDUCE_SHORT_BLOCKS)
#endif

template <class LANE>
__global__ void SHORT_BOUNDS reduce_short(const __grid_constant__ reduce_arguments a,
                                          const __grid_constant__ gp_short_cut cut) {
    gp_grid_dependency_wait();
    unsigned char *const shared = (unsigned char *)columns;
    const gp_pass &pass = a.pass;
    const uint32_t lane = threadIdx.x & (cut.lanes - 1), mine = threadIdx.x / cut.lanes;
    const uint32_t n = (uint32_t)pass.length / LANE::PACKED, bytes = bytes_of(pass.type);
    const uint32_t outputs = (uint32_t)pass.outputs, in_tile = cut.outputs * cut.groups;
    const staged_rows staged((uint32_t)pass.length * bytes, LANE::BYTES == 16);
    const only_result only(pass);
    LANE form(pass);
#pragma unroll 1
    for (uint32_t tile = blockIdx.x; tile < cut.tiles; tile += gridDim.x) {
        const uint32_t first = tile * in_tile, rows = min(in_tile, outputs - first);
        const unsigned char *const from = pass.in + (uint64_t)first * staged.row;
        __syncthreads(); /* until all have taken the rows before */
        staged.copy(shared, from, from + (uint64_t)rows * staged.row);
        __syncthreads();
        const unsigned char *at = shared + (uintptr_t)from % 16 + mine * staged.pitch;
#pragma unroll 1
        for (uint32_t row = mine; row < in_tile; row += cut.outputs, at += cut.outputs * staged.pitch) {
            typename LANE::state s = LANE::state::none();
            if (row < rows) {
                form.begin(at);
                take_staged(form, s, at, n, lane, cut.lanes, bytes);
            }
#pragma unroll 1
            for (uint32_t other = cut.lanes / 2; other > 0; other /= 2)
                s.join(from_lane(s, other));
            if (lane == 0 && row < rows)
                finish_output(a, only, form.total(s), first + row);
        }
    }
}

#endif
