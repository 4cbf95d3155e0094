/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_any: any window, element by element. Moments are added in doubles, rounding down and up; what that does not
 * prove, of floats by doubles with their rests, else, as extremes and windows far larger than the array, by the
 * processor's own source. Launched behind window_strip, it does again what that has left, and writes the results of
 * windows that see NaNs or infinities.
 */
#include "../reduce_array/lane_moments.cuh"

#include "../../host/reduce_array/accumulator.c"
#include "../../host/reduce_array/accumulator_write.c"
#include "../../host/window_array/fit.h"
#include "../../host/window_array/one.c"
#include "failed.cuh"
#include "order.cuh"
#include "quotient.cuh"
#include "special.cuh"

/* An output has a warp up to so many works, which are outputs, or entries of a list with up to 32; of more, and of a
 * warp's works that have MANY each, it has a thread. */
#define TEAM_MAX 32768
#define MANY 8

struct window_any_arguments {
    gp_window_box box;
    gp_special_cut special;  /* rows 0: outputs that see NaNs or infinities are listed */
    many_space *space;       /* of what failed; or NULL: all outputs are done */
    volatile uint32_t *done; /* or NULL: `sequence` is written there after the results */
    uint32_t sequence;
};

/* An output: where its results go, and what it sees. */
struct window_place {
    uint64_t number, y, x;
    const unsigned char *in;
};

static __device__ window_place place_of(const gp_window_box &box, uint64_t output) {
    window_place place = {output, 0, 0, box.in};
    const gp_window_axis *y = gp_window_y(&box), *x = gp_window_x(&box);
    place.x = output % x->outputs;
    output /= x->outputs;
    place.y = output % y->outputs;
    output /= y->outputs;
    for (unsigned axis = box.outer; axis-- > 0; output /= box.axis[axis].n)
        place.in += (int64_t)(output % box.axis[axis].n) * box.axis[axis].in;
    return place;
}

/* `count` elements of a row, `step` bytes apart. */
template <class T, class STATE>
static __device__ void take_as(STATE *s, const unsigned char *from, int64_t count, int64_t step, bool squares) {
#pragma unroll 4
    for (int64_t j = 0; j < count; j++) {
        const double x = (double)*(const T *)(from + j * step);
        if (squares)
            s->add(x);
        else
            s->sum.add(x);
    }
}

template <class STATE>
static __device__ void take(STATE *s, unsigned type, const unsigned char *from, int64_t count, int64_t step,
                            bool squares) {
    switch (type) {
    case GP_U8:
        return take_as<uint8_t>(s, from, count, step, squares);
    case GP_S8:
        return take_as<int8_t>(s, from, count, step, squares);
    case GP_U16:
        return take_as<uint16_t>(s, from, count, step, squares);
    case GP_S16:
        return take_as<int16_t>(s, from, count, step, squares);
    case GP_U32:
        return take_as<uint32_t>(s, from, count, step, squares);
    case GP_S32:
        return take_as<int32_t>(s, from, count, step, squares);
    case GP_F16:
        return take_as<__half>(s, from, count, step, squares);
    default:
        return take_as<float>(s, from, count, step, squares);
    }
}

/* Of the elements that a window holds, every team-th of a row from number `member` on. */
template <class STATE>
static __device__ STATE moments_of(const gp_window_box &box, const window_place &place, float pivot, unsigned member,
                                   unsigned team) {
    const gp_window_axis &y = *gp_window_y(&box), &x = *gp_window_x(&box);
    const int64_t first = (int64_t)place.x - x.before,
                  mine = x.window > member ? (x.window - member - 1) / team + 1 : 0;
    const bool inside = first >= 0 && first + x.window <= (int64_t)x.n, squares = box.wants & GP_WANT_SQUARES;
    STATE s = STATE::none();
    s.pivot = pivot;
    for (int64_t i = 0; i < y.window; i++) {
        const int64_t row = source_near(box.border, (int64_t)y.n, (int64_t)place.y - y.before + i);
        const unsigned char *const from = place.in + row * y.in;
        if (inside && row >= 0) {
            take(&s, box.type, from + (first + member) * x.in, mine, team * x.in, squares);
            continue;
        }
        for (int64_t j = member; j < x.window; j += team) {
            const int64_t column = source_near(box.border, (int64_t)x.n, first + j);
            const uint32_t zero = 0;
            if (row >= 0 && column >= 0)
                take(&s, box.type, from + column * x.in, 1, 0, squares);
            else if (box.border == GP_BORDER_ZERO)
                take(&s, box.type, (const unsigned char *)&zero, 1, 0, squares);
        }
    }
    join_team(s, team);
    return s;
}

/* Whether windows hold elements so often that it is less to take each once, times how often, as exact sums do. */
static __device__ bool is_vast(const gp_window_box &box) {
    const gp_window_axis *y = gp_window_y(&box), *x = gp_window_x(&box);
    return y->window > 4 * (int64_t)y->n + 64 || x->window > 4 * (int64_t)x->n + 64;
}

static __device__ uint64_t counted(const gp_window_box &box, const window_place &place) {
    return gp_window_counted(gp_window_y(&box), box.border, place.y) *
           gp_window_counted(gp_window_x(&box), box.border, place.x);
}

/* Writes the results that the bounds prove. Returns whether these are all. */
static __device__ bool write_proved(const gp_window_box &box, const gp_pass &pass, const window_place &place,
                                    const moments_state &s) {
    const uint64_t count = counted(box, place);
    const moments_total t = s.total(1 / (double)count);
    bool all = true;
    for (unsigned r = 0; r < box.results; r++) {
        const unsigned op = box.result[r].op, type = box.result[r].type;
        uint64_t raw;
        const bool proved = gp_type_is_float(type) && moment_of(count, op, type, t, &raw);
        if (proved)
            gp_result_store(type, raw, gp_pass_address(&pass, r, place.number));
        all = all && proved;
    }
    return all;
}

/* Sums of floats, and of their squares, which doubles hold, with what additions lost. */
struct sums_and_rests {
    sum_and_rest sum, square;
    float pivot; /* 0 */
    static __device__ sums_and_rests none() {
        return {sum_and_rest::none(), sum_and_rest::none(), 0};
    }
    __device__ void add(double x) {
        sum.add(x);
        square.add(x * x);
    }
    __device__ void join(const sums_and_rests &other) {
        sum.join(other.sum);
        square.join(other.square);
    }
};

static __device__ two_doubles total_of(const sum_and_rest &s) {
    return normal_of(s.sum, s.rest.down, 2 * (s.rest.up - s.rest.down));
}

/* n Q - S^2; what is lost of the lower double is below 2^-50 of its parts. */
static __device__ two_doubles spread_of(const sums_and_rests &s, double n) {
    const two_doubles sum = total_of(s.sum), square = total_of(s.square);
    const double by = __dmul_rn(n, square.high), product = __dmul_rn(sum.high, sum.high),
                 twice = 2 * sum.high + sum.low;
    const two_doubles x = normal_of(by, -product, 0);
    const double part[] = {__fma_rn(n, square.high, -by), -__fma_rn(sum.high, sum.high, -product), n * square.low,
                           -twice * sum.low};
    double low = x.low, lost = fabs(x.low);
    for (const double more : part) {
        low += more;
        lost += fabs(more);
    }
    return normal_of(x.high, low, 0x1p-50 * lost + 2 * (n * square.error + (fabs(twice) + sum.error) * sum.error));
}

/* Where the bounds leave something open: nothing but what is halfway between two results remains, and infinities. */
static __device__ bool write_nearly(const gp_window_box &box, const gp_pass &pass, const window_place &place,
                                    unsigned member, unsigned team) {
    const uint64_t count = counted(box, place);
    const sums_and_rests s = moments_of<sums_and_rests>(box, place, 0, member, team);
    bool all = count < (uint64_t)1 << 26;
    for (unsigned r = 0; r < box.results; r++) {
        const unsigned op = box.result[r].op, type = box.result[r].type;
        const two_doubles number = op >= GP_REDUCE_VARIANCE      ? spread_of(s, (double)count)
                                   : op == GP_REDUCE_SUM_SQUARES ? total_of(s.square)
                                                                 : total_of(s.sum);
        uint64_t raw;
        all = all && decide(number, op, type, (uint32_t)count, &raw);
        if (all)
            gp_result_store(type, raw, gp_pass_address(&pass, r, place.number));
    }
    return all;
}

/* The least key of what a window holds, of which each of a team looks at every team-th of a row. */
template <int E>
static __device__ uint32_t least_of(const gp_window_box &box, const window_place &place, const order<E> &keys,
                                    unsigned member, unsigned team) {
    const gp_window_axis &y = *gp_window_y(&box), &x = *gp_window_x(&box);
    const int64_t first = (int64_t)place.x - x.before;
    const bool inside = first >= 0 && first + x.window <= (int64_t)x.n;
    uint32_t least = order<E>::all;
    for (int64_t i = 0; i < y.window; i++) {
        const int64_t row = source_near(box.border, (int64_t)y.n, (int64_t)place.y - y.before + i);
#pragma unroll 4
        for (int64_t j = member; j < x.window; j += team) {
            const int64_t column = inside ? first + j : source_near(box.border, (int64_t)x.n, first + j);
            const bool there = row >= 0 && column >= 0;
            const unsigned char *const from = place.in + row * y.in + column * x.in;
            const uint32_t raw = !there   ? 0
                                 : E == 4 ? *from
                                 : E == 2 ? *(const uint16_t *)from
                                          : *(const uint32_t *)from;
            if (there || box.border == GP_BORDER_ZERO)
                least = min(least, keys.keys_of(raw) & order<E>::all);
        }
    }
    for (unsigned lanes = team / 2; lanes > 0; lanes /= 2)
        least = min(least, __shfl_xor_sync(GP_FULL_WARP, least, lanes));
    return least;
}

template <int E>
static __device__ void write_extremes(const gp_window_box &box, const gp_pass &pass, const window_place &place,
                                      unsigned member, unsigned team, bool mine) {
    for (unsigned r = 0; r < box.results; r++) {
        const order<E> keys(box.type, box.result[r].op == GP_REDUCE_MAX);
        const uint32_t least = least_of(box, place, keys, member, team);
        if (mine && member == 0)
            gp_result_store(box.type, keys.bits_of(least) & order<E>::all, gp_pass_address(&pass, r, place.number));
    }
}

static __device__ void write_exactly(gp_accumulator *sums, const gp_window_one &one, const window_place &place) {
    unsigned char *to[GP_PASS_RESULTS];
    for (unsigned r = 0; r < one.box->results; r++)
        to[r] = gp_pass_address(&one.pass, r, place.number);
    gp_window_gather_one(sums, &one, place.in, place.y, place.x);
    gp_window_write_one(sums, &one, to);
}

/* The pivot of an output is an element that it sees; none for sums of squares. */
static __device__ float pivot_of(const gp_window_box &box, const window_place &place) {
    const gp_window_axis &y = *gp_window_y(&box), &x = *gp_window_x(&box);
    for (unsigned r = 0; r < box.results; r++)
        if (box.result[r].op < GP_REDUCE_VARIANCE && box.result[r].op != GP_REDUCE_MEAN)
            return 0;
    const int64_t row = min((int64_t)place.y, (int64_t)y.n - 1), column = min((int64_t)place.x, (int64_t)x.n - 1);
    moments_state first = moments_state::none();
    take(&first, box.type, place.in + row * y.in + column * x.in, 1, 0, false);
    return (box.wants & GP_WANT_SQUARES) && first.sum.down - first.sum.down == 0 ? (float)first.sum.down : 0;
}

/* An output of each lane, or with a team of 32 one of all. */
static __device__ void do_outputs(const window_any_arguments &a, const gp_window_one &one, gp_accumulator *sums,
                                  uint64_t number, bool mine, unsigned team) {
    const unsigned lane = threadIdx.x % 32, member = lane % team;
    const window_place place = place_of(a.box, mine ? number : 0);
    if (a.box.kind == GP_PASS_EXTREMES && !is_vast(a.box)) {
        const unsigned bytes = gp_type_bytes(a.box.type);
        if (bytes == 1)
            write_extremes<4>(a.box, one.pass, place, member, team, mine);
        else if (bytes == 2)
            write_extremes<2>(a.box, one.pass, place, member, team, mine);
        else
            write_extremes<1>(a.box, one.pass, place, member, team, mine);
        return;
    }
    bool proved = !mine;
    if (!proved && a.box.kind == GP_PASS_MOMENTS && !is_vast(a.box)) {
        const float pivot = pivot_of(a.box, place);
        proved = write_proved(a.box, one.pass, place, moments_of<moments_state>(a.box, place, pivot, member, team));
        if (!proved && gp_type_is_float(a.box.type)) /* a team is of one mind */
            proved = write_nearly(a.box, one.pass, place, member, team);
    }
    for (uint32_t left = __ballot_sync(GP_FULL_WARP, !proved && member == 0); left != 0; left &= left - 1) {
        if (lane == (unsigned)__ffs((int)left) - 1)
            write_exactly(sums, one, place);
        __syncwarp();
    }
}

__global__ void __launch_bounds__(GP_WINDOW_ANY_THREADS) window_any(const __grid_constant__ window_any_arguments a) {
    extern __shared__ gp_accumulator sums[]; /* one a warp */
    __shared__ gp_window_one one;
    gp_grid_dependency_wait();
    const uint32_t count = a.space != NULL ? *(volatile uint32_t *)&a.space->failed : 0,
                   failed = count & ~FAILED_SPECIAL;
    const bool listed = a.space != NULL && failed <= GP_WINDOW_FAILED_MAX, alone = a.box.outputs <= TEAM_MAX;
    if (listed && count == 0)
        return;
    if (threadIdx.x == 0) {
        one.box = &a.box;
        gp_window_as_pass(&a.box, &one.pass);
    }
    __syncthreads();
    if ((count & FAILED_SPECIAL) != 0 && listed && a.special.rows > 0)
        write_specials(a.box, one.pass, a.special, (uint32_t *)sums);
    const uint64_t works = listed ? failed : alone ? a.box.outputs : (a.box.outputs + 31) / 32;
    const uint32_t team_most = works <= TEAM_MAX ? 32 : 1, each = 32 / team_most,
                   lane = threadIdx.x % 32; /* each: works of a warp at once */
    gp_accumulator *const own = &sums[threadIdx.x / 32];
    const uint64_t step = (uint64_t)gridDim.x * (blockDim.x / 32) * each;
    const uint32_t last = ~0u >> (32 - a.box.outputs % 32) % 32; /* outputs of the last 32 */
    for (uint64_t first = ((uint64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * each; first < works;
         first += step) {
        const uint64_t work = first + lane;
        window_few few = {0, 0};
        if (lane < each && work < works)
            few = listed  ? few_of(a.space)[work]
                  : alone ? window_few{(uint32_t)(work / 32), 1u << work % 32}
                          : window_few{(uint32_t)work, work == works - 1 ? last : ~0u};
        unsigned end = __popc(few.mask); /* of the outputs of lanes up to this one */
        for (int below = 1; below < 32; below *= 2)
            add_from_below(&end, below);
        const unsigned all = __shfl_sync(GP_FULL_WARP, end, 31), team = all >= MANY * each ? 1 : team_most;
        for (unsigned next = 0; next < all; next += 32 / team) {
            const unsigned item = next + lane / team;
            unsigned from = 0;
            for (unsigned half = 16; half > 0; half /= 2)
                from += __shfl_sync(GP_FULL_WARP, end, from + half - 1) <= item ? half : 0;
            const uint32_t mask = __shfl_sync(GP_FULL_WARP, few.mask, from);
            const unsigned rest = __shfl_sync(GP_FULL_WARP, end, from) - item; /* bits from its own on */
            const uint64_t first_of = (uint64_t)__shfl_sync(GP_FULL_WARP, few.first, from) * 32;
            do_outputs(a, one, own, first_of + __fns(mask, 31, -(int)rest), item < all, team);
        }
    }
    if (a.done != NULL && threadIdx.x == 0) { /* of one output */
        __threadfence_system();
        *a.done = a.sequence;
    }
    if (a.space != NULL) {
        __syncthreads(); /* all have read what failed */
        if (threadIdx.x == 0 && atomicInc(&a.space->finished, gridDim.x - 1) == gridDim.x - 1)
            a.space->failed = 0;
    }
}

static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem, many_space *space) {
    const gp_gpu *gpu = context->gpu;
    window_any_arguments arguments = {};
    arguments.box = *problem->box;
    arguments.space = space;
    arguments.sequence = gpu->sequence;
    memcpy(&arguments.special, plan->tiling.t, sizeof arguments.special);
    for (unsigned r = 0; r < arguments.box.results; r++)
        if (arguments.box.to[r] == (void *)&gpu->slot_device->reduced[r])
            arguments.done = &gpu->slot_device->done;
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, (const void *)window_any, list);
}

gp_status gp_window_launch_both(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                                const void *kernel, void *arguments, bool *tiled) {
    gp_plan again = *plan;
    void *list[] = {arguments};
    memset(&again.tiling, 0, sizeof again.tiling);
    GP_TRY(gp_fit_window_failed(problem, &context->planned_on, &again.tiling));
    *tiled = again.tiling.t[GP_TILE_ROWS] > 0;
    GP_TRY(gp_gpu_launch(context, plan, kernel, list));
    return launch(context, &again, problem, many_space_of(context));
}

GP_DECLARE_LAUNCHER(gp_launch_window_any) {
    return launch(context, plan, problem, NULL);
}
