/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgpuprim: what was chosen and why, and choosing oneself. The facts of a device, real or made up; plans, in
 * numbers and in words; pins and limits; the catalogue of kernels; occupancy.
 *
 * The functions lie in the same library as those of gpuprim/gpuprim.h, whose conventions hold here.
 */
#ifndef GPUPRIM_EXPLAIN_H
#define GPUPRIM_EXPLAIN_H

#include "gpuprim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- devices ---- */
/* Bits of gp_device_info.cpu_isa. */
#define GP_ISA_AVX2 1u   /* with F16C */
#define GP_ISA_AVX512 2u /* F, BW, DQ and VL */
#define GP_ISA_NEON 4u   /* Advanced SIMD of AArch64 */

/*
 * Facts of one device as plain numbers. For a processor the GPU's fields are 0. A model (see gp_options) must
 * give struct_size, threads_per_sm, regs_per_sm, smem_per_sm and blocks_per_sm; every other field may be 0, which
 * means what stands beside it, or "no such rule".
 */
struct gp_device_info {
    size_t struct_size;
    int32_t backend; /* what it is: GP_BACKEND_CPU, _CUDA or _MODEL */
    int32_t ordinal; /* CUDA's number of the device; -1 for a processor or model */
    char name[64];
    char no_gpu_reason[192]; /* backend CPU chosen by AUTO: why no GPU is used; else empty */
    uint32_t compute_major;  /* compute capability */
    uint32_t compute_minor;
    uint32_t multiprocessors;   /* streaming multiprocessors, SMs; 0 in a model: 1 */
    uint32_t warp_size;         /* 0: 32 */
    uint32_t threads_per_block; /* most threads of a block; 0: the smaller of 1024 and threads_per_sm */
    uint32_t threads_per_sm;
    uint32_t blocks_per_sm;
    uint32_t regs_per_block; /* 32-bit registers; 0: regs_per_sm */
    uint32_t regs_per_sm;
    uint32_t regs_per_thread;    /* most a thread may have; 0: no such rule */
    uint32_t reg_unit;           /* registers are granted to a warp in this unit; 0: to the register */
    uint32_t sm_partitions;      /* parts of an SM among which warps and registers are split evenly; 0: 1 */
    size_t smem_per_block;       /* bytes of shared memory without opting in; 0: smem_per_sm */
    size_t smem_per_block_optin; /* bytes after opting in; 0: smem_per_block */
    size_t smem_per_sm;
    size_t smem_reserved; /* bytes of each block's share that the system keeps; at most smem_per_sm */
    size_t smem_unit;     /* shared memory is granted in this unit; 0: to the byte */
    size_t l2_bytes;
    size_t memory_bytes;  /* global memory */
    uint32_t cpu_threads; /* threads that processor kernels may use */
    uint32_t cpu_isa;     /* GP_ISA_* bits that the library uses on this processor */
};

/*
 * The facts of the context's device, as gp_context_limit() leaves them. info->struct_size must be set.
 * GP_ERR_ARGUMENT: a NULL, or wrong struct_size.
 */
GP_API gp_status gp_context_device(const gp_context *context, gp_device_info *info);

/* ---- plans ---- */
typedef enum gp_operation {
    GP_OPERATION_NONE = 0,
    GP_OPERATION_REDUCE = 1,
    GP_OPERATION_WINDOW = 2,
    GP_OPERATION_TRANSPOSE = 3,
    GP_OPERATION_REDUCE_ARRAY = 4,    /* gp_reduce(), gp_reduce_pair() */
    GP_OPERATION_REARRANGE_ARRAY = 5, /* gp_rearrange(), but for transposes of one matrix: GP_OPERATION_TRANSPOSE */
    GP_OPERATION_WINDOW_ARRAY = 6     /* gp_window() */
} gp_operation;

/* Which resource of a multiprocessor decides how many blocks it holds at once. */
typedef enum gp_limit {
    GP_LIMIT_NONE = 0,
    GP_LIMIT_THREADS = 1,
    GP_LIMIT_REGISTERS = 2,
    GP_LIMIT_SHARED_MEMORY = 3,
    GP_LIMIT_BLOCKS = 4
} gp_limit;

/* A plan: what a call did, or in a model context would have done. */
typedef struct gp_plan_info {
    size_t struct_size;
    const char *kernel;       /* name, static text */
    int32_t operation;        /* a gp_operation */
    int32_t backend;          /* where it runs: GP_BACKEND_CPU, _CUDA or _MODEL */
    uint64_t grid;            /* blocks launched; on the processor, threads used at most */
    uint32_t block;           /* threads a block; on the processor 1 */
    uint32_t regs_per_thread; /* the ceiling of the kernel's form that was chosen */
    size_t smem_static;       /* bytes a block */
    size_t smem_dynamic;      /* bytes a block, sized for this call */
    uint32_t blocks_per_sm;   /* blocks resident on one SM at once */
    int32_t limited_by;       /* a gp_limit: what keeps blocks_per_sm from being more */
    uint64_t bytes_read;      /* bytes that must move, each input element once */
    uint64_t bytes_written;   /* bytes that must move, each output element once */
} gp_plan_info;

/*
 * The plan of the context's last call that reached planning, also where it found no kernel (then kernel is NULL).
 * Where a GPU computed host data in pieces: the plan of the first piece. plan->struct_size must be set.
 *
 * GP_ERR_ARGUMENT: a NULL, wrong struct_size, or no call was planned yet.
 */
GP_API gp_status gp_context_plan(const gp_context *context, gp_plan_info *plan);

/*
 * The plan of that call in words: the problem, the device, then one line a kernel considered, with its verdict and
 * numbers. Planned anew, by the pins and limits as they are now. Writes at most size bytes with the closing 0 and
 * returns the full length without it, as snprintf does; text may be NULL with size 0. context NULL, or nothing
 * planned yet: an empty text.
 */
GP_API size_t gp_context_explain(const gp_context *context, char *text, size_t size);

/*
 * Pins the kernel for its operation: following calls use it or fail with GP_ERR_NO_KERNEL. Each operation has a pin
 * of its own. In an AUTO context the pinned kernel's place, processor or GPU, goes before the data's.
 *
 * name     as gp_kernel_at() tells; NULL frees all operations again.
 * threads  threads a block; 0 leaves them to the planner. Ignored with name NULL and for processor kernels. Calls for
 *          which the kernel has no tiling with so many fail with GP_ERR_NO_KERNEL.
 *
 * GP_ERR_ARGUMENT: context NULL; unknown name; threads above 1024.
 */
GP_API gp_status gp_context_pin_kernel(gp_context *context, const char *name, unsigned threads);

/*
 * Plans as if a block of the device could have no more than smem_per_block bytes of shared memory, opted in or not,
 * and regs_per_block registers. 0: as the device has it. Calls run by such plans too, except in a model context,
 * which runs nothing. GP_ERR_ARGUMENT: context NULL, a processor context, or more than the device has.
 */
GP_API gp_status gp_context_limit(gp_context *context, size_t smem_per_block, unsigned regs_per_block);

/* ---- the catalogue of kernels ---- */
/* Flags of gp_kernel_info. */
#define GP_KERNEL_GPU 1u       /* runs on a GPU; else on the processor */
#define GP_KERNEL_STUDY 2u     /* for study and comparison: chosen only when pinned */
#define GP_KERNEL_MODULO_32 4u /* its sum is exact modulo 2^32 only */
#define GP_KERNEL_FLOAT 8u     /* adds up in float: off by up to (window + 3) 2^-24 of the sum of the magnitudes */

typedef struct gp_kernel_info {
    size_t struct_size;
    const char *name;         /* static text, as gp_context_pin_kernel takes it */
    const char *about;        /* one line, static text */
    int32_t operation;        /* a gp_operation */
    uint32_t flags;           /* GP_KERNEL_* */
    uint32_t regs_per_thread; /* ceiling */
    uint32_t reserved;
    size_t smem_static; /* bytes a block */
} gp_kernel_info;

/* Number of kernels in the catalogue, the same in every build. */
GP_API size_t gp_kernel_count(void);

/* Describes kernel `index`. info->struct_size must be set. GP_ERR_ARGUMENT: a NULL, wrong struct_size, no such index.
 */
GP_API gp_status gp_kernel_at(size_t index, gp_kernel_info *info);

/* ---- occupancy ---- */
typedef struct gp_occupancy_info {
    size_t struct_size;
    uint32_t blocks_per_sm; /* the least of the four below */
    int32_t limited_by;     /* a gp_limit; the first in its order where several are equal */
    uint32_t blocks_by_threads;
    uint32_t blocks_by_regs;
    uint32_t blocks_by_smem;
    uint32_t blocks_by_slots;      /* the device's blocks_per_sm */
    uint32_t threads_per_sm;       /* resident at once: blocks_per_sm * threads */
    uint32_t regs_per_block;       /* granted to a block, rounded to the device's unit */
    size_t smem_per_block;         /* granted to a block, with the reserved part, rounded */
    size_t smem_used_per_sm;       /* blocks_per_sm * smem_per_block */
    uint32_t full_regs_per_thread; /* most registers a thread may have while all threads that an SM of the device can
                                      hold stay resident; of the device alone, whatever `threads` is */
    uint32_t reserved;
    size_t full_smem_per_block; /* most shared memory a block may ask for (static and dynamic) while as many
                                   blocks stay resident as threads and slots allow */
} gp_occupancy_info;

/*
 * How many blocks of `threads` threads, each with regs_per_thread registers, and smem_bytes of shared memory a block
 * (static and dynamic) an SM of the device holds at once, and what limits them. Pure arithmetic over the facts given.
 * A result of 0 blocks means that not even one fits.
 *
 * GP_ERR_ARGUMENT: a NULL; wrong struct_size; threads 0; a device that lacks threads_per_sm, regs_per_sm, smem_per_sm
 * or blocks_per_sm (a processor, say).
 */
GP_API gp_status gp_occupancy(const gp_device_info *device, unsigned threads, unsigned regs_per_thread,
                              size_t smem_bytes, gp_occupancy_info *info);

#ifdef __cplusplus
}
#endif

#endif
