/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_strip of moments along one axis, at a cost that does not depend on the window. A warp has a segment of a
 * line of outputs and walks along it, by chunks of eight a lane. From one output to the next an element enters the
 * window and another leaves it: sums are those of the segment's first window, added once, and prefix sums of
 * differences. Results are made as those of walks.cu and floats.cu are; what floats leave open is left to window_any,
 * launched behind.
 */
#include "line.cuh"

template <bool FLOATS, class SUMS> class line_walk {
    static constexpr int depth = GP_LINE_DEPTH;
    static constexpr bool squares = SUMS::has_squares;

    const line_arguments &a;
    line_place &p;
    const line_data data;
    uint32_t *const staged; /* [depth][2][GP_LINE_WORDS] */
    const int64_t window;
    const int own; /* the lane's first output of a chunk */
    /* Of floats: how many elements that windows may see are no whole number of the sums' unit, at most, and up to
       which chunk; up to which some are of no unit, and some are NaNs or infinities. */
    uint32_t lost = 0, most = 0;
    unsigned lost_until = 0, inexact_until = 0, special_until = 0;

  public:
    __device__ line_walk(const line_arguments &arguments, line_place &place, uint32_t *words)
        : a(arguments), p(place), data(arguments, place), staged(words), window(gp_window_x(&a.box)->window),
          own((int)(threadIdx.x % 32 * COLUMNS)) {}

  private:
    /* The first element that the windows of a chunk see. */
    __device__ int64_t first_of(unsigned chunk) const {
        return p.output - gp_window_x(&a.box)->before + (int64_t)chunk * CHUNK;
    }
    /* What adds nothing, as an element. */
    __device__ uint32_t nothing() const {
        return FLOATS ? p.scale.nothing : 0;
    }
    /* Where what enters or leaves with chunk `number` waits. */
    __device__ uint32_t *slot(unsigned number, bool leaves) const {
        return staged + (number % depth * 2 + leaves) * GP_LINE_WORDS;
    }
    __device__ void stage(uint32_t *to, int64_t i, int64_t end) const {
        const bool is_half = FLOATS && data.bytes == 2;
        data.stage(to, i, end, is_half ? __half_as_ushort(__float2half_rn(__uint_as_float(nothing()))) : nothing());
    }
    /* A row enters, and another leaves; `chunk` is the last whose windows see what enters. */
    __device__ void slide(SUMS (&held)[COLUMNS], line_row enters, line_row leaves, unsigned chunk) {
        if constexpr (FLOATS) {
            bool special = false, inexact = false;
            uint32_t least = ~0u;
            if (p.scale.careful) {
                special = __any_sync(GP_FULL_WARP, elements::take_out(&enters, p.scale.nothing) && !a.tiled);
                elements::take_out(&leaves, p.scale.nothing);
            }
            if (squares)
                elements::slide(p.scale, held, enters, leaves, &most, &inexact, &least);
            else
                inexact = slide_sums(held, enters, leaves);
            inexact = __any_sync(GP_FULL_WARP, inexact);
            if (__any_sync(GP_FULL_WARP, squares ? least < p.scale.fine : inexact)) {
                const uint32_t count = gp_warp_sum(count_lost(enters));
                lost += count;
                lost_until = count > 0 ? chunk + 1 : lost_until;
            }
            inexact_until = inexact ? chunk + 1 : inexact_until;
            special_until = special ? chunk + 1 : special_until;
        } else
#pragma unroll
            for (int k = 0; k < COLUMNS; k++) {
                const uint32_t in = enters.word[k], out = leaves.word[k];
                if (sizeof(held[k].sum) > 4)
                    held[k].slide_any(in, out, data.has_sign);
                else
                    held[k].slide((int32_t)(in - out), (int32_t)(in + out));
            }
    }
    /* Without a pivot. Returns whether one that enters is no whole number of units. */
    __device__ bool slide_sums(SUMS (&held)[COLUMNS], const line_row &enters, const line_row &leaves) {
        const double to_sum = p.scale.to_sum;
        bool inexact = false;
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            const double in = __uint_as_float(enters.word[k]), out = __uint_as_float(leaves.word[k]),
                         in_units = in + to_sum, out_units = out + to_sum;
            held[k].sum += (uint64_t)(__double_as_longlong(in_units) - __double_as_longlong(out_units));
            inexact = inexact || in_units - to_sum != in;
            most = max(most, (uint32_t)__double2hiint(in) & 0x7fffffffu);
        }
        return inexact;
    }
    /* Elements that are no whole number of the sums' unit. */
    __device__ uint32_t count_lost(const line_row &row) const {
        uint32_t count = 0;
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            const double x = (double)__uint_as_float(row.word[k]) - p.scale.pivot;
            count += (x + p.scale.to_sum) - p.scale.to_sum != x;
        }
        return count;
    }
    __device__ unsigned last_that_sees(unsigned chunk) const {
        return chunk + 1 + (unsigned)(window / CHUNK);
    }
    /* Takes every step-th chunk of the elements from number i to `end`, some loaded at once. */
    template <class TAKE>
    __device__ __forceinline__ void each(int64_t i, int64_t end, unsigned step, TAKE take) const {
        constexpr unsigned room = 2 * depth; /* chunks */
        const unsigned count = (unsigned)((end - i + step * CHUNK - 1) / (step * CHUNK));
#pragma unroll 1
        for (unsigned next = 0; next < count + room - 1; next++) {
            if (next < count)
                stage(staged + next % room * GP_LINE_WORDS, i + (int64_t)next * step * CHUNK, end);
            end_copies();
            if (next + 1 < room)
                continue;
            const unsigned now = next + 1 - room;
            await_all_but<room - 1>();
            const line_row row = data.row_of<FLOATS>(staged + now % room * GP_LINE_WORDS);
            __syncwarp();
            take(row, i + (int64_t)now * step * CHUNK + own);
        }
        await_all_but<0>();
    }
    /* Of the window of a chunk's first output, to all lanes. */
    __device__ SUMS first_window(unsigned chunk) {
        const int64_t first = first_of(chunk);
        SUMS held[COLUMNS] = {};
        line_row nothings;
        elements::fill(&nothings, nothing());
        each(first, first + window, 1,
             [&](const line_row &row, int64_t) { slide(held, row, nothings, last_that_sees(chunk)); });
#pragma unroll
        for (int k = 1; k < COLUMNS; k++)
            held[0].plus(held[k]);
        return last_sums(held[0].scanned());
    }
    /* Scales floats by every step-th chunk of what the windows of a chunk see. */
    __device__ void look(unsigned chunk, unsigned step) {
        const int64_t first = first_of(chunk), end = first + window + CHUNK;
        const bool everywhere = a.box.border != GP_BORDER_SHRINK;
        float low = INFINITY, high = -INFINITY;
        bool special = false;
        each(first, end, step, [&](const line_row &row, int64_t at) {
#pragma unroll
            for (int k = 0; k < COLUMNS; k++) {
                const float x = __uint_as_float(row.word[k]);
                const bool there = at + k < end && (everywhere || (uint64_t)(at + k) < (uint64_t)data.n),
                           number = x - x == 0;
                special |= there && !number;
                low = there && number ? fminf(low, x) : low;
                high = there && number ? fmaxf(high, x) : high;
            }
        });
        special = __any_sync(GP_FULL_WARP, special);
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2) {
            low = fminf(low, __shfl_xor_sync(GP_FULL_WARP, low, lanes));
            high = fmaxf(high, __shfl_xor_sync(GP_FULL_WARP, high, lanes));
        }
        if (threadIdx.x % 32 == 0) {
            make_scale(&p.scale, squares, SUMS::widest, a.pivots && !SUMS::widest, low, high, __float_as_uint(low),
                       a.cut.area);
            p.scale.careful |= special;
            if (p.scale.careful)
                tell_special(a.space);
        }
        __syncwarp();
    }

    /* ---- results ---- */

    /* Whether the lane's windows have all their elements. */
    __device__ bool is_whole(int at) const {
        const int64_t first = p.output + at - gp_window_x(&a.box)->before;
        return a.box.border != GP_BORDER_SHRINK || (first >= 0 && first + COLUMNS - 1 + window <= data.n);
    }
    /* Of an int's window: result r; false: its last bits are open. */
    template <strip_way WAY> __device__ bool make(unsigned r, const SUMS &s, uint32_t *raw) const {
        const strip_result &how = a.of_ints[r];
        const typename SUMS::sum_type sum = (typename SUMS::sum_type)s.sum;
        const uint32_t count = a.cut.area;
        if constexpr (WAY == WAY_SUM)
            *raw = __float_as_uint((float)sum);
        else if constexpr (WAY == WAY_OWN_MEAN)
            *raw = mean_between(double_of(sum), how.below, how.above);
        else {
            double x = double_of(sum) * how.inverse;
            if constexpr (WAY != WAY_MEAN) {
                if constexpr (SUMS::widest)
                    x = (int32_t)sum == sum && s.square <= a.short_square
                            ? spread_times((int32_t)sum, (uint64_t)s.square, count, how.inverse)
                            : spread_of_many(sum, s.square, count, how.inverse);
                else
                    x = spread_times(sum, s.square, count, how.inverse);
            }
            if (WAY == WAY_STDDEV)
                x = root_near(x);
            *raw = __float_as_uint(__double2float_rn(x));
            return from_half(x) >= HALF_WIDTH && count > 1;
        }
        return true;
    }
    /* Of a float's. */
    template <float_way WAY> __device__ bool make(unsigned r, const SUMS &s, uint32_t *raw) const {
        const float_result &how = a.result[r];
        bool decided = true;
        const two_doubles x = WAY == FLOAT_TOTAL
                                  ? total_of(a, p, s, a.cut.area, lost)
                                  : window_numbers<SUMS>{p.scale, a.cut.area}.spread(s, inexact_until > 0);
        *raw = nearest_float(x, how.by, how.inverse, WAY == FLOAT_STDDEV, &decided);
        return decided;
    }
    /* Makes the lane's eight of result r, the windows being those that follow `before` by differences, and stores
       them. Returns which are open. */
    template <auto WAY>
    __device__ uint32_t make_eight(unsigned r, int at, const SUMS &before, const SUMS (&held)[COLUMNS]) const {
        const unsigned size = !FLOATS && WAY == (decltype(WAY))WAY_OWN_MEAN ? (unsigned)data.bytes : 4;
        uint32_t raw[COLUMNS], open = 0;
        SUMS s = before;
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            open |= make<WAY>(r, s, &raw[k]) ? 0 : 1u << k;
            s.plus(held[k]);
        }
        store_eight(a, p, r, at, size, raw);
        return open;
    }
    __device__ uint32_t make_any(unsigned r, int at, const SUMS &before, const SUMS (&held)[COLUMNS]) const {
        const uint32_t all = (1u << COLUMNS) - 1;
        const unsigned way = FLOATS ? (unsigned)a.result[r].way : (unsigned)a.of_ints[r].way;
        if (!is_whole(at))
            return all;
        if constexpr (FLOATS) {
            if (way == FLOAT_TOTAL)
                return make_eight<FLOAT_TOTAL>(r, at, before, held);
            if constexpr (squares) {
                if (way == FLOAT_VARIANCE)
                    return make_eight<FLOAT_VARIANCE>(r, at, before, held);
                if (way == FLOAT_STDDEV)
                    return make_eight<FLOAT_STDDEV>(r, at, before, held);
            }
        } else {
            if (way == WAY_SUM)
                return make_eight<WAY_SUM>(r, at, before, held);
            if (way == WAY_MEAN)
                return make_eight<WAY_MEAN>(r, at, before, held);
            if (way == WAY_OWN_MEAN)
                return make_eight<WAY_OWN_MEAN>(r, at, before, held);
            if constexpr (squares) {
                if (way == WAY_VARIANCE)
                    return make_eight<WAY_VARIANCE>(r, at, before, held);
                if (way == WAY_STDDEV)
                    return make_eight<WAY_STDDEV>(r, at, before, held);
            }
        }
        return all;
    }
    __device__ void write(unsigned chunk, const SUMS &before, const SUMS (&held)[COLUMNS]) const {
        const int at = (int)chunk * CHUNK + own;
        uint32_t failed = FLOATS && chunk < special_until ? ~0u : 0;
#pragma unroll 1
        for (unsigned r = 0; r < a.box.results && at < p.outputs; r++) {
            const uint32_t open = make_any(r, at, before, held) & ~failed;
            if (open == 0)
                continue;
            SUMS s = before, next[COLUMNS];
#pragma unroll
            for (int k = 0; k < COLUMNS; k++)
                next[k] = held[k];
#pragma unroll 1
            for (int k = 0; k < COLUMNS && at + k < p.outputs; k++) {
                if ((open >> k & 1) && !write_one<FLOATS>(a, p, r, at + k, s, lost, inexact_until > 0))
                    failed |= 1u << k;
                s.plus(next[0]);
#pragma unroll
                for (int j = 0; j + 1 < COLUMNS; j++)
                    next[j] = next[j + 1];
            }
        }
        if (FLOATS && __any_sync(GP_FULL_WARP, failed != 0))
#pragma unroll 1
            for (int k = 0; k < COLUMNS; k++)
                if ((failed >> k & 1) && at + k < p.outputs)
                    fail(a.space, p.number + (uint64_t)(at + k));
    }
    /* The segment's chunks from number `chunk` on. Returns the first that is not done, as elements came that the
       scale has no room for. */
    __device__ unsigned walk(unsigned chunk, unsigned chunks) {
        lost = most = lost_until = inexact_until = special_until = 0;
        SUMS base = first_window(chunk);
#pragma unroll 1
        for (unsigned next = chunk;; next++) {
            const int64_t coming = first_of(next);
            if (next < chunks) {
                stage(slot(next, false), coming + window, INT64_MAX);
                stage(slot(next, true), coming, INT64_MAX);
            }
            end_copies();
            if (next - chunk + 1 < depth)
                continue;
            await_all_but<depth - 1>();
            const line_row enters = data.row_of<FLOATS>(slot(chunk, false)),
                           leaves = data.row_of<FLOATS>(slot(chunk, true));
            __syncwarp();
            SUMS held[COLUMNS] = {};
            if (FLOATS) {
                lost = chunk < lost_until ? lost : 0;
                inexact_until = chunk < inexact_until ? inexact_until : 0;
            }
            slide(held, enters, leaves, last_that_sees(chunk));
            if (FLOATS && __any_sync(GP_FULL_WARP, most >= p.scale.limit))
                break;
            SUMS all = held[0];
#pragma unroll
            for (int k = 1; k < COLUMNS; k++)
                all.plus(held[k]);
            SUMS before = all.scanned();
            const SUMS added = last_sums(before);
            before.minus(all);
            before.plus(base);
            base.plus(added);
            write(chunk, before, held);
            if (++chunk == chunks)
                break;
        }
        await_all_but<0>();
        return chunk;
    }

  public:
    __device__ void walk_all() {
        const unsigned chunks = (unsigned)(p.outputs + CHUNK - 1) / CHUNK;
        unsigned step = (unsigned)(window / CHUNK) / GP_STRIP_LOOKED_AT + 1;
        for (unsigned chunk = 0; chunk < chunks; step = 1) {
            if (FLOATS)
                look(chunk, step);
            chunk = walk(chunk, chunks);
        }
    }
};

template <bool FLOATS, class SUMS>
__global__ void __launch_bounds__(GP_WALK_THREADS, BLOCKS_OF(GP_WALK_THREADS, GP_LINE_BLOCKS))
    window_line(const __grid_constant__ line_arguments a) {
    __shared__ line_place places[GP_WALK_THREADS / 32];
    const unsigned warp = threadIdx.x / 32, number = blockIdx.x * (blockDim.x / 32) + warp;
    if (number >= a.cut.number)
        return;
    if (threadIdx.x % 32 == 0)
        find_line(a, number, &places[warp]);
    __syncwarp();
    gp_grid_dependency_wait();
    line_walk<FLOATS, SUMS>(a, places[warp], (uint32_t *)(prefixes + warp * GP_LINE_BYTES)).walk_all();
}

gp_status gp_window_launch_line(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
#define FORM(floats, sums) (const void *)window_line<floats, walk_##sums>
    /* by gp_strip_form */
    static const void *const forms[] = {FORM(false, linear), FORM(false, long),       FORM(false, wide_linear),
                                        FORM(false, widest), FORM(true, wide_linear), FORM(true, wide),
                                        FORM(true, widest)};
    line_arguments arguments = {};
    arguments.box = *problem->box;
    memcpy(&arguments.cut, plan->tiling.t, sizeof arguments.cut);
    arguments.space = many_space_of(context);
    arguments.pivots = true;
    for (unsigned r = 0; r < arguments.box.results; r++) {
        arguments.result[r] = result_of_floats(problem, &arguments.cut, r);
        arguments.of_ints[r] = result_of_windows(problem, &arguments.cut, r);
        arguments.pivots = arguments.pivots && arguments.box.result[r].op != GP_REDUCE_SUM_SQUARES;
    }
    arguments.dense = arguments.box.axis[arguments.box.outer + 1].in == (int64_t)problem->elem_bytes;
    arguments.short_square = ((uint64_t)1 << 62) / arguments.cut.area;
    arguments.stores = stores_together(problem, 1);
    void *list[] = {&arguments};
    const unsigned form = plan->tiling.form;
    const void *const kernel = forms[form - GP_LINE];
    return form < GP_LINE_FLOATS
               ? gp_gpu_launch(context, plan, kernel, list)
               : gp_window_launch_both(context, plan, problem, kernel, &arguments, &arguments.tiled);
}
