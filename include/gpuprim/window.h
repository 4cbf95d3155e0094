/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgpuprim: windows that slide over arrays: their extents, their borders, and the manual of gp_window(). Part of
 * gpuprim/gpuprim.h, whose conventions hold here.
 */
#ifndef GPUPRIM_WINDOW_H
#define GPUPRIM_WINDOW_H

#include "array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a window sees where it leaves its row, for a row a b c d. */
typedef enum gp_border {
    GP_BORDER_NONE = 0,        /* nothing is computed there: those places are left untouched */
    GP_BORDER_ZERO = 1,        /* 0 0 0 | a b c d | 0 0 0 */
    GP_BORDER_REPLICATE = 2,   /* a a a | a b c d | d d d */
    GP_BORDER_REFLECT = 3,     /* c b a | a b c d | d c b */
    GP_BORDER_REFLECT_101 = 4, /* d c b | a b c d | c b a; a row of one element is replicated */
    GP_BORDER_WRAP = 5,        /* b c d | a b c d | a b c */
    GP_BORDER_SHRINK = 6       /* gp_window() only: the window shrinks to what lies inside */
} gp_border;

/* The window of gp_window(). */
typedef struct gp_window_shape {
    size_t struct_size;
    size_t extent[GP_AXES];   /* elements along each axis of the array; 0 and 1: no window along it */
    ptrdiff_t shift[GP_AXES]; /* 0: centred, elements x - extent / 2 .. x - extent / 2 + extent - 1 for place x; else
                                 moved so many elements towards higher x, but x stays inside */
    int32_t border;           /* a gp_border; the same on all axes */
    uint32_t reserved;        /* 0 */
} gp_window_shape;

/*
 * gp_window() computes operations of gp_reduce() at every place of an array, over a window around the place: local
 * sums, means, deviations and extremes of pictures.
 *
 * in       any view of U8 S8 U16 S16 U32 S32 F16 F32, of rank 0 to 8.
 * window   extents along one axis or two, anywhere among the axes: rows and columns of a picture, whose channels and
 *          batches are further axes. They may be larger than the array. Beyond the array the window sees what
 *          `border` says, on each axis for itself.
 * results  1 to 64, each with the rank and the extents of `in`, and strides of any sign; no two elements may share
 *          memory.
 *
 *                                result types                              n of a window
 *   SUM, SUM_SQUARES             F64 F32                                   -
 *   MEAN                         F64 F32; of ints also the input's         its extents' product; with
 *   VARIANCE .. STDDEV_SAMPLE    F64 F32                                   GP_BORDER_SHRINK what lies inside
 *   MIN, MAX                     the input's                               -
 *
 * Each result is the exact value of its operation, rounded once to its type (nearest, ties to even; to an integer
 * type too): the same bits on every backend, kernel, device and number of threads, and nothing drifts along a row.
 * NaN, infinities and zeros: as gp_reduce() has them, window by window; the zeros of GP_BORDER_ZERO count as
 * elements. A SAMPLE of one element is NaN. With GP_BORDER_NONE places whose window leaves the array are not written.
 * Extents of 0 in `in`: nothing is done.
 *
 * A call makes one pass for each of extremes (MIN, MAX) and moments (all others) among the results, and of a kind
 * that has more than 8 results one for every 8. If a pass fails, as where a pinned kernel does only the other kind,
 * the results of the passes before it are written.
 *
 * What a pass costs on the processor does not depend on the window. That holds on a GPU too for moments; extremes
 * cost more with large windows. Floats: windows that hold NaNs or infinities, and the few whose results their sums do
 * not decide, are added up again, element by element, as are all windows where a GPU's plan names window_any: those
 * too large for window_strip. Where an extent is more than four times the array's, and 64, an element of the array is
 * taken once, times how often the window sees it.
 *
 * GP_ERR_ARGUMENT: context, in, window, results or data is NULL; wrong struct_size; count; a type, rank, extent,
 * border, operation or reserved member out of its domain; an extent of the window on an axis that `in` has not; a
 * shift that moves the window off its place; a result of a type that its operation does not have; data not aligned to
 * its elements. GP_ERR_UNSUPPORTED: a window along three axes or more; U64, S64, BF16 or F64 as input; GP_SKIP_NAN;
 * operations and result types of gp_reduce() that are not in the table. GP_ERR_OVERFLOW: a view passes the address
 * space; the window's extents multiply past 2^62. GP_ERR_OVERLAP: a result overlaps the input, another result or
 * itself. GP_ERR_NO_KERNEL: no kernel, or not the pinned one, can. GP_ERR_MEMORY, GP_ERR_DEVICE, GP_ERR_FORKED.
 */

#ifdef __cplusplus
}
#endif

#endif
