/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgpuprim: reduce arrays, sum and sum of squares in a sliding window, rearrange arrays, at the speed of memory,
 * on an NVIDIA GPU where there is one and on the processor where there is none, with the same bits.
 *
 * This header is the manual of the calls that compute. It includes gpuprim/array.h, the manual of views of arrays and
 * of what can be reduced, and gpuprim/window.h, that of windows. gpuprim/explain.h is the manual of the calls which
 * tell what was chosen and why, and choose themselves. All belong to the one library, need no CUDA header and compile
 * as C99 and as C++11.
 *
 * Conventions that hold for every function:
 *  - Sizes, pitches and window widths are size_t and count elements unless the name says bytes. A pitch is the
 *    distance between the starts of two neighbouring rows, and at least the row's length; the elements between
 *    a row's end and the next row's start (the padding) are never written, and what they hold makes no difference.
 *  - A function that can fail returns a gp_status. Argument errors are found before a byte is written; scalar
 *    results are written on GP_OK only. gp_last_error() then says in words what was wrong, naming the argument.
 *  - Structs that the caller passes or receives start with `struct_size`, which the caller sets to
 *    sizeof(the struct) as he compiled it. A struct may grow at its end in later releases, never otherwise.
 *    Where the caller's struct is longer than the library's, the tail is ignored on input if it is all zero
 *    (else GP_ERR_ARGUMENT) and zeroed on output.
 *  - One context may be used by one thread at a time; different contexts by any number of threads at once.
 *    The functions without a context may be called by any thread at any time.
 *  - A thread that is cancelled (pthread_cancel) within a call ends after it: no call is a cancellation point. With
 *    asynchronous cancellation a thread may make none.
 *  - dlclose() leaves the library loaded: a context's threads run in it.
 *  - What is inexact raises no signal, whatever feenableexcept() was told; the thread's rounding, its handling of
 *    subnormal numbers and its signals are after a call as they were before. Flags of exceptions may be set.
 *  - A call takes up to 128 KiB of the calling thread's stack; on a GPU, what CUDA takes besides.
 *  - Nothing prints, exits, aborts, or installs a handler. The thread's current CUDA device is left as found,
 *    and a CUDA error that the program left unread is never taken for the library's own.
 */
#ifndef GPUPRIM_H
#define GPUPRIM_H

#include "array.h"
#include "window.h"
#include <stddef.h>
#include <stdint.h>

#define GP_VERSION_MAJOR 0
#define GP_VERSION_MINOR 1
#define GP_VERSION_PATCH 0
#define GP_VERSION (GP_VERSION_MAJOR * 10000 + GP_VERSION_MINOR * 100 + GP_VERSION_PATCH)

#if defined(__GNUC__)
#define GP_API __attribute__((visibility("default")))
#else
#define GP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---- */
typedef struct gp_context gp_context;         /* opaque */
typedef struct gp_device_info gp_device_info; /* facts of a device; see gpuprim/explain.h */
struct CUstream_st;                           /* what a cudaStream_t points to */

/* Status of a call. Values are never renumbered. */
typedef enum gp_status {
    GP_OK = 0,
    GP_ERR_ARGUMENT = 1,     /* an argument is outside its domain; the message names it */
    GP_ERR_EMPTY = 2,        /* the minimum or maximum of no elements */
    GP_ERR_OVERFLOW = 3,     /* a size in bytes passes the address space, or a sum passes 64 bits */
    GP_ERR_OVERLAP = 4,      /* arrays overlap that may not */
    GP_ERR_MEMORY = 5,       /* host or device memory, or a thread, could not be had */
    GP_ERR_NO_DEVICE = 6,    /* no usable GPU, or the library was built without CUDA */
    GP_ERR_DRIVER = 7,       /* the driver is missing, too old, or could not be started */
    GP_ERR_DEVICE = 8,       /* a CUDA call or kernel failed; the context may be past use */
    GP_ERR_NO_KERNEL = 9,    /* no kernel, or not the pinned one, can do this on this device */
    GP_ERR_UNSUPPORTED = 10, /* meaningful, but not offered */
    GP_ERR_FORKED = 11       /* a GPU context used in a child forked after it was made */
} gp_status;

/* Where a context computes. */
typedef enum gp_backend {
    GP_BACKEND_AUTO = 0, /* per call where the data lives: device memory on the GPU, host memory on the processor */
    GP_BACKEND_CPU = 1,  /* the processor; no CUDA call is ever made */
    GP_BACKEND_CUDA = 2, /* always the GPU; host data is staged through pinned memory */
    GP_BACKEND_MODEL = 3 /* a made-up GPU: calls are checked, planned and explained, but nothing is executed */
} gp_backend;

/* Which memory gp_alloc() gives. */
typedef enum gp_memory {
    GP_MEMORY_DEVICE = 0, /* of the context's GPU, which a program cannot touch itself; without a GPU, host memory */
    GP_MEMORY_HOST = 1    /* which a program can touch; pinned where there is a GPU */
} gp_memory;

typedef struct gp_options {
    size_t struct_size;
    int32_t backend;             /* a gp_backend */
    int32_t device;              /* CUDA's number of the device; -1: the thread's current one; CUDA and AUTO only */
    uint32_t cpu_threads;        /* threads for processor kernels; 0: as many as the process may use */
    uint32_t reserved;           /* 0 */
    const gp_device_info *model; /* for GP_BACKEND_MODEL, else NULL; copied */
} gp_options;

/* ---- version, errors ---- */
/* Version of the library that runs: major * 10000 + minor * 100 + patch. Compare with GP_VERSION. */
GP_API unsigned gp_version(void);

/* A status in words: static text, never NULL, also for a value that is no gp_status. */
GP_API const char *gp_status_string(gp_status status);

/*
 * This thread's last failure in words: which argument and why, or which CUDA error. "" before the first.
 * A success does not clear it. The text belongs to the thread and holds until its next failing call.
 */
GP_API const char *gp_last_error(void);

/* ---- devices and contexts ---- */
/*
 * Number of usable GPUs. 0 sets the reason as this thread's gp_last_error(): built without CUDA, no driver,
 * a driver too old for the library, no device, or the driver's own error. Only the first probe of a process costs
 * time.
 */
GP_API int gp_device_count(void);

/*
 * Makes a context: a device, its facts, a stream, the memory that calls need, threads.
 *
 * out      receives the context; destroy it with gp_context_destroy().
 * options  NULL for all defaults: backend AUTO, device -1. AUTO with device >= 0 means that GPU or, if no GPU is
 *          usable at all, the processor; the reason then stands in gp_device_info.no_gpu_reason.
 *
 * GP_ERR_ARGUMENT: out NULL; wrong struct_size; unknown backend; device below -1, or past the last with CUDA or AUTO;
 * cpu_threads above 1024; reserved not 0; a model missing, given without GP_BACKEND_MODEL, lacking a needed
 * field, or with more smem_reserved than smem_per_sm. GP_ERR_NO_DEVICE, GP_ERR_DRIVER: backend CUDA and no GPU is
 * usable. GP_ERR_MEMORY: no memory. GP_ERR_DEVICE: the device refused. On failure *out is untouched and nothing is
 * leaked.
 */
GP_API gp_status gp_context_create(gp_context **out, const gp_options *options);

/* Waits for the context's work, then frees it. NULL is allowed. In a forked child it frees host memory only. */
GP_API void gp_context_destroy(gp_context *context);

/*
 * Enqueues the following calls on this stream of the context's device; NULL is the legacy default stream, as at
 * first. Calls of one context stay in order over a change of stream, unless a stream is being captured. A stream must
 * live until another is set or the context is destroyed. No effect on a processor or model context.
 *
 * GP_ERR_ARGUMENT: context NULL. GP_ERR_FORKED. GP_ERR_DEVICE: the streams could not be put in order.
 */
GP_API gp_status gp_context_set_stream(gp_context *context, struct CUstream_st *stream);

/*
 * Waits until all calls of this context are done.
 *
 * GP_ERR_ARGUMENT: context NULL. GP_ERR_FORKED. GP_ERR_DEVICE: a kernel failed, or the stream is being captured.
 * GP_ERR_OVERFLOW: since the last synchronization a sum that was enqueued passed 64 bits (see gp_reduce_int).
 */
GP_API gp_status gp_context_synchronize(gp_context *context);

/* ---- memory ---- */
/*
 * Memory of the kind named, at least 256-byte aligned, not cleared. bytes 0 gives NULL. Free with gp_free(). A
 * program may equally use memory from anywhere else. Fill GP_MEMORY_DEVICE with gp_copy(): a loop that writes to it
 * works on a machine without a GPU and ends with a signal on one with a GPU.
 *
 * GP_ERR_ARGUMENT: context or out NULL; memory no gp_memory. GP_ERR_MEMORY: not to be had. GP_ERR_FORKED.
 * GP_ERR_DEVICE.
 */
GP_API gp_status gp_alloc(gp_context *context, gp_memory memory, size_t bytes, void **out);

/*
 * Frees what gp_alloc() gave for the same context, after the work enqueued before it; NULL is allowed.
 * GP_ERR_ARGUMENT: context NULL, or neither memory of its device nor pinned. GP_ERR_FORKED. GP_ERR_DEVICE.
 */
GP_API gp_status gp_free(gp_context *context, void *memory);

/*
 * Copies bytes in any direction between host and device memory, in order with the context's other calls. Returns
 * when the copy is done if either side is host memory, at once if both are device memory. Model: copies nothing.
 * GP_ERR_ARGUMENT: a NULL with bytes > 0. GP_ERR_OVERFLOW: a range passes the address space. GP_ERR_OVERLAP: the
 * ranges overlap. GP_ERR_FORKED. GP_ERR_DEVICE.
 */
GP_API gp_status gp_copy(gp_context *context, void *to, const void *from, size_t bytes);

/* ---- primitives ---- */
/*
 * Where pointers may live, and when a call returns. On a processor context all pointers are host memory and the call
 * returns when the result is there. On a GPU context each may be pageable or pinned host memory, managed memory or
 * device memory, found out per call; memory of another device is GP_ERR_ARGUMENT.
 *
 * An AUTO context computes on the GPU if any array is device or managed memory, a scalar result is device memory, or
 * the pinned kernel is a GPU's; else on the processor: the same call has the same place always. Open a CUDA context
 * for host data that the GPU is to compute, a CPU context if all data is host memory, which spares some 0.1 us a
 * pointer.
 *
 * If all arrays are device or managed memory (and the scalar result device, managed or pinned memory), a call that
 * the GPU computes is enqueued on the context's stream and returns at once; it then allocates, waits for and queries
 * nothing, and can be captured in a CUDA graph. A graph uses memory of the context: replay it only in order with the
 * context's other calls, and before the context is destroyed. If an array is host memory the call returns when the
 * result is there: the GPU's calls stage it through pinned memory, the processor's wait for the stream first where
 * memory is pinned or managed.
 */

/*
 * *out = in[0] op in[1] op ... op in[n-1], of n int32.
 *
 * Sum is accumulated in 64 bits and exact; min, max, and, or, xor are extended to 64 bits with their sign.
 * n = 0: sum, or and xor give 0, and gives -1; in may then be NULL.
 * The same bits on every backend, device and number of threads.
 *
 * GP_ERR_ARGUMENT: context, out, or in with n > 0 is NULL; in not 4-byte or out not 8-byte aligned; unknown op.
 * GP_ERR_EMPTY: min or max with n = 0. GP_ERR_OVERFLOW: n ints pass the address space; or the sum passes 64 bits
 * (possible past 2^32 elements only): *out is then untouched, save where the call was enqueued, when *out is the
 * sum modulo 2^64 and gp_context_synchronize() reports it. GP_ERR_OVERLAP: out lies within in.
 * GP_ERR_NO_KERNEL: the pinned kernel cannot. GP_ERR_MEMORY, GP_ERR_DEVICE, GP_ERR_FORKED.
 * Method: one pass, tree in registers, the last block to start collects the partial results (after M. Harris,
 * "Optimizing parallel reduction in CUDA").
 */
GP_API gp_status gp_reduce_int(gp_context *context, gp_reduce_op op, const int32_t *in, size_t n, int64_t *out);

/*
 * Reduces an array along any of its axes, with any number of results from 1 to 64.
 *
 * in       any view: of any gp_type, rank 0 to 8, strides of any sign and 0, extents 0 and 1.
 * results  each says what is computed and where to. A result has the rank of `in` and on each axis the extent of
 * `in`, which keeps the axis, or 1, which reduces it; or it has rank 0, which reduces all axes. All results of a call
 * keep the same axes. Results may have strides of any sign, but no two elements may share memory.
 *
 * Every result is the exact mathematical value of its operation, rounded once to the type it is written in (nearest,
 * ties to even), whatever the order, the device, the number of threads and the thread's rounding mode. That holds for
 * sums of floats too: they are computed exactly. `in` is read once for each of bits (AND, OR, XOR), extremes (MIN to
 * ARGMAX, MAX_ABS) and moments (all others) among the results, with GP_SKIP_NAN and without; of a kind that has more
 * than 8 results, once for every 8. With GP_SKIP_NAN, GP_WHERE or pairs the processor may read it more often: MIN and
 * MAX once each, for example.
 *
 *                                result types                            NaN in the input   of no elements
 *   SUM, SUM_ABS, SUM_SQUARES    of ints S64 U64 F64 F32,                NaN                0
 *                                of floats F64 F32 F16 BF16
 *   MEAN                         F64 F32 F16 BF16                        NaN                NaN
 *   VARIANCE .. STDDEV_SAMPLE    F64 F32                                 NaN                NaN; SAMPLE of one: NaN
 *   NORM                         F64 F32                                 NaN                0
 *   COUNT                        S64 U64                                 is not zero        0
 *   MIN, MAX                     the input's; of S32 also S64            NaN                GP_ERR_EMPTY
 *   ARGMIN, ARGMAX               S64 U64                                 the first NaN      GP_ERR_EMPTY
 *   MAX_ABS                      the input's, of ints unsigned           NaN                0
 *   AND, OR, XOR (of ints only)  the input's; of S32 also S64            -                  -1, 0, 0
 *
 * Special values. A NaN result is the quiet one without sign and payload. Infinities of one sign add up to that
 * infinity, of both to NaN; variances of an infinity are NaN. A sum that is zero is +0, of -0s alone too; what rounds
 * to zero keeps its sign. Sums past a float's range are infinite, without an error; there is no overflow on the way.
 * Subnormal numbers count, also where the program has them flushed. -0 is less than +0 to MIN, MAX, ARGMIN and
 * ARGMAX. A variance is never negative, and 0 of equal elements. With GP_SKIP_NAN results are as if the NaNs were not
 * there; of NaNs alone MIN and MAX give NaN, ARGMIN and ARGMAX 0. Places (ARGMIN, ARGMAX) count the elements of the
 * reduced axes, the last one fastest, from 0.
 *
 * Extents of 0: a kept one leaves nothing to be done; a reduced one makes results "of no elements". data may be NULL
 * where there are no elements.
 *
 * GP_ERR_ARGUMENT: context, in, results or data is NULL; count; a type, rank, extent, operation, flag or reserved
 * member out of its domain; a result of a type or for elements that its operation does not have; data not aligned to
 * its elements. GP_ERR_EMPTY: see above. GP_ERR_OVERFLOW: a view passes the address space; or the result is an
 * integer that its type cannot hold: all results are then written, that one modulo 2^64. GP_ERR_OVERLAP: a result
 * overlaps the input, another result or itself (strides that interleave its own axes are taken for that).
 * GP_ERR_NO_KERNEL: no kernel, or not the pinned one, can. GP_ERR_MEMORY, GP_ERR_DEVICE, GP_ERR_FORKED.
 */
GP_API gp_status gp_reduce(gp_context *context, const gp_array *in, const gp_result *results, size_t count);

/*
 * Reduces pairs of elements x of `in` and y of `with`, which has the extents of `in`; all else as gp_reduce() has it.
 *
 * Operations: DOT, SUM_ABS_DIFF, SUM_SQUARE_DIFF (result types of SUM), MAX_ABS_DIFF (those of MAX_ABS), COUNT_DIFF
 * (those of COUNT), of two arrays of one type. A difference is exact; MAX_ABS_DIFF's is rounded to its type. NaN
 * differs from everything. Of no elements all are 0.
 * Or those of gp_reduce(), each with GP_WHERE: on the elements x whose y is not zero; y may be of any type, and a NaN
 * is not zero. Where no element is left, MIN and MAX of floats give NaN, of ints the greatest and the least of their
 * type, ARGMIN and ARGMAX 0, all others what they give of no elements.
 */
GP_API gp_status gp_reduce_pair(gp_context *context, const gp_array *in, const gp_array *with,
                                const gp_result *results, size_t count);

/*
 * Operations of gp_reduce() at every place of `in`, over a window of one or two axes around it. gpuprim/window.h is
 * its manual.
 */
GP_API gp_status gp_window(gp_context *context, const gp_array *in, const gp_window_shape *window,
                           const gp_result *results, size_t count);

/*
 * Sum and sum of squares of an image in a window sliding along each row:
 *   sum[y][x]    = s(x) = image[y][x - k] + ... + image[y][x - k + window - 1],   k = window / 2
 *   square[y][x] = the sum of image[y][i] * image[y][i] over these pixels
 * so that mean = sum / window and variance = square / window - mean^2. Floats keep 24 bits: a variance far below
 * mean^2 comes out with an error of up to some 2^-23 mean^2; an offset taken from all pixels beforehand avoids it.
 *
 * image    rows x cols int32, image_pitch elements from row to row.
 * window   1 or more, also beyond the row.
 * border   what the window sees outside the row; GP_BORDER_NONE leaves columns whose window leaves the row untouched.
 * sum, square  rows x cols float, out_pitch elements from row to row; either may be NULL.
 *
 * Each output value is the exact integer result, for every int32 image and every window, rounded once to float
 * (nearest, ties to even, whatever the thread's rounding mode): the same bits on every backend, device and number of
 * threads. rows or cols 0: nothing is done. Windows of up to 2^31 pixels are not added up pixel by pixel.
 *
 * GP_ERR_ARGUMENT: context NULL; image NULL or both outputs NULL with rows * cols > 0; window 0; unknown border;
 * a pitch below cols; a pointer not 4-byte aligned. GP_ERR_OVERFLOW: an array passes the address space.
 * GP_ERR_OVERLAP: an output overlaps the image or the other output.
 * GP_ERR_NO_KERNEL: the pinned kernel cannot. GP_ERR_MEMORY, GP_ERR_DEVICE, GP_ERR_FORKED.
 */
GP_API gp_status gp_sum_and_square_window(gp_context *context, const int32_t *image, size_t rows, size_t cols,
                                          size_t image_pitch, size_t window, gp_border border, float *sum,
                                          float *square, size_t out_pitch);

/*
 * out[c][r] = in[r][c]: transposes a matrix of rows x cols elements of elem_bytes bytes each.
 *
 * in   rows x cols, in_pitch elements from row to row.   out   cols x rows, out_pitch elements from row to row.
 * elem_bytes  1, 2, 4, 8 and 16 are fastest, every other size works. No alignment is required; elements aligned
 *             to their size are faster.
 * in == out transposes in place: rows == cols and equal pitches then. rows or cols 0: nothing is done.
 *
 * GP_ERR_ARGUMENT: context NULL; in or out NULL with rows * cols > 0; elem_bytes 0; in_pitch < cols; out_pitch <
 * rows. GP_ERR_OVERFLOW: an array passes the address space. GP_ERR_OVERLAP: any other overlap; arrays of different
 * pitches may not interleave either. GP_ERR_NO_KERNEL: the pinned kernel cannot. GP_ERR_MEMORY, GP_ERR_DEVICE,
 * GP_ERR_FORKED. Method: tiles through padded shared memory (G. Ruetsch, P. Micikevicius, "Optimizing matrix
 * transpose in CUDA").
 */
GP_API gp_status gp_transpose(gp_context *context, size_t elem_bytes, const void *in, size_t rows, size_t cols,
                              size_t in_pitch, void *out, size_t out_pitch);

/*
 * out[i] = in[i] for every index i of two views of the same extents: permutations of axes, batches of transposes,
 * crops, axes reversed, elements repeated. Nothing is converted: elements are moved byte by byte.
 *
 * in   any view: of any gp_type or GP_BYTES, rank 0 to 8, strides of any sign and 0, which repeats.
 * out  a view of that rank, of those extents and of elements of as many bytes. Its type may be another. Strides may
 *      have any sign, but no two elements may share memory. What lies between its elements is never written.
 *
 * Elements of 1, 2, 4, 8 and 16 bytes aligned to their size are fastest; every size and every alignment works.
 * Extents of 0: nothing is done; data may then be NULL. Which elements are contiguous, and which axes belong
 * together, is found from the strides: how a program splits or orders axes makes no difference.
 *
 * In place, where both views are the very same elements in another order: axes of one extent may change places in
 * pairs (batches of square transposes), and axes may be reversed; of two that change places with each other both or
 * neither (a turn by 90 degrees is refused). Matrices of any sides may be transposed, in batches too, but no axis
 * besides. That takes other memory: on the processor 144 KiB a thread where elements change places in pairs, for
 * other matrices at most 1 % of the array, or 64 KiB a thread, and of elements with gaps between them a bit each; on
 * a GPU nothing but the context's 8 MiB.
 *
 * A transpose of one matrix takes the kernels of gp_transpose(), unless one of gp_rearrange()'s own is pinned.
 *
 * GP_ERR_ARGUMENT: context, in, out or data is NULL; a type, rank, elem_bytes out of its domain; elements of other
 * sizes, another rank or extent in `out`. GP_ERR_OVERFLOW: a view passes the address space. GP_ERR_OVERLAP: out
 * overlaps itself (strides that interleave its own axes are taken for that), or in without being the same elements.
 * GP_ERR_UNSUPPORTED: in place, any other permutation. GP_ERR_NO_KERNEL: the pinned kernel cannot; on a GPU, in
 * place, what the 8 MiB have no room for: nearly square matrices from some 4 GB on, and more than 50 million elements
 * with gaps between them. GP_ERR_MEMORY, GP_ERR_DEVICE, GP_ERR_FORKED. Method: see gp_transpose(); matrices that are
 * not square in place by cycles of longer pieces (after F. Gustavson, L. Karlsson, B. Kagstrom).
 */
GP_API gp_status gp_rearrange(gp_context *context, const gp_array *in, const gp_array *out);

#ifdef __cplusplus
}
#endif

#endif
