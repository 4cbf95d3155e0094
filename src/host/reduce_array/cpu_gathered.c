/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of one output that are not contiguous, and short runs: gathered first, as loops take vectors. */
#include "cpu.h"

/* A shorter run is gathered with others, which takes less time than a call of the loops for it alone. */
#define SHORT_RUN_BYTES 512

typedef struct {
    _Alignas(64) unsigned char in[GP_GATHERED_BYTES];
} gathered_elements;

static bool has_short_runs(const gp_pass *pass) {
    return pass->reduced > 1 &&
           pass->axis[pass->kept + pass->reduced - 1].n * gp_type_bytes(pass->type) < SHORT_RUN_BYTES;
}

bool gp_gathers(const gp_pass *pass) {
    return pass->reduced > 0 && pass->with_type == 0 && !pass->skip_nan &&
           (has_short_runs(pass) || !gp_pass_is_contiguous(pass, &pass->axis[pass->kept + pass->reduced - 1]));
}

/* Copies elements from number `at` on: those of one run, or as many as there is room for. Returns how many. first:
 * the place of the first one; least: the least place of all. */
static uint64_t gather(const gp_pass *pass, const unsigned char *in, uint64_t at, uint64_t end, bool one_run,
                       gathered_elements *to, int64_t *first, int64_t *least) {
    const unsigned axes = pass->kept + pass->reduced;
    const gp_pass_axis *inner = &pass->axis[axes - 1], *outer = inner - 1;
    const size_t bytes = gp_type_bytes(pass->type), most = GP_GATHERED_BYTES / bytes;
    uint64_t have = 0;
    for (uint64_t n, runs = 1; at < end && have < most && !(one_run && have > 0); at += runs * n, have += runs * n) {
        const gp_pass_axis way = gp_pass_way_to(pass, pass->kept, axes, at);
        const uint64_t room = gp_least(end - at, most - have);
        n = gp_least(inner->n - at % inner->n, room);
        if (pass->reduced > 1 && !one_run)
            runs = n < inner->n ? 1 : gp_least(room / n, outer->n - at / n % outer->n);
        GP_WITH_BYTES(gp_gather_runs, bytes, in + way.in, runs, outer->in, n, inner->in, to->in + have * bytes);
        const int64_t back = inner->place < 0 ? (int64_t)(n - 1) * inner->place : 0;
        const int64_t here =
            way.place + back + (runs > 1 && outer->place < 0 ? (int64_t)(runs - 1) * outer->place : 0);
        *first = have == 0 ? way.place : *first;
        *least = have == 0 || here < *least ? here : *least;
    }
    return have;
}

/* Whether elements with these extremes, at places from `least` on, may have the place of one. */
static bool may_come_first(const gp_accumulator *a, const gp_accumulator *these, uint64_t least) {
    return !a->some || these->nan || these->min.key < a->min.key || these->max.key > a->max.key ||
           (these->min.key == a->min.key && least < a->min.place) ||
           (these->max.key == a->max.key && least < a->max.place);
}

void gp_take_gathered(gp_accumulator *a, const gp_pass *pass, gp_pass_run run, const unsigned char *in,
                      uint64_t begin, uint64_t end, bool by_runs) {
    const size_t bytes = gp_type_bytes(pass->type);
    const bool places = pass->wants & GP_WANT_PLACES, one_run = places && (by_runs || !has_short_runs(pass));
    gathered_elements gathered;
    gp_pass alone = *pass;
    alone.kept = 0, alone.reduced = 1;
    alone.axis[0] = (gp_pass_axis){GP_GATHERED_BYTES / bytes, (int64_t)bytes, 0,
                                   pass->axis[pass->kept + pass->reduced - 1].place};
    alone.in = gathered.in;
    if (!one_run)
        alone.wants &= (uint16_t)~GP_WANT_PLACES;
    for (uint64_t n; begin < end; begin += n) {
        int64_t first = 0, least = 0;
        n = gather(pass, in, begin, end, one_run, &gathered, &first, &least);
        if (!places || one_run) {
            run(a, &alone, gathered.in, NULL, pass->place_first + first, n);
            continue;
        }
        gp_accumulator these;
        gp_accumulator_clear(&these);
        run(&these, &alone, gathered.in, NULL, 0, n);
        if (may_come_first(a, &these, (uint64_t)(pass->place_first + least)))
            gp_take_gathered(a, pass, run, in, begin, begin + n, true);
        else
            a->counted += these.counted;
    }
}
