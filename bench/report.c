/* SPDX-License-Identifier: Apache-2.0 */
/* The table on stdout, the same as CSV, each line held against its targets, and their summary. */
#include "report.h"
#include "targets.h"

#include <string.h>

#define TARGETS_MAX 64

typedef struct standing { /* of one target, over the free choice's lines */
    unsigned lines, met;
    double worst;
    char where[160];
} standing;

static standing standings[TARGETS_MAX];

typedef struct rivals { /* of one line, in us; 0: none */
    double floor, peer, reference;
} rivals;

static double fastest(const contender *list, size_t count, role as) {
    double best = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].role == as && (best <= 0 || list[i].us < best))
            best = list[i].us;
    return best;
}

static bool at_most(const target *t) {
    return t->against == TIMES_FLOOR || t->against == TIMES_PEER || t->against == MS_OVER_PEER;
}

/* False: the line lacks what the target compares with. */
static bool got(const target *t, double us, const rivals *r, double *value) {
    const double rival = t->against == SPEED_OF_FLOOR || t->against == TIMES_FLOOR ? r->floor
                         : t->against == SPEED_OF_REFERENCE                        ? r->reference
                                                                                   : r->peer;
    if (rival <= 0)
        return false;
    *value = t->against == MS_OVER_PEER ? (us - rival) / 1e3 : at_most(t) ? us / rival : rival / us;
    return true;
}

static void note(standing *at, const target *t, double value, bool met, const char *label) {
    const bool worse = at->lines == 0 || (at_most(t) ? value > at->worst : value < at->worst);
    at->lines++;
    at->met += met;
    if (worse) {
        at->worst = value;
        snprintf(at->where, sizeof at->where, "%s", label);
    }
}

/* Targets are for a few shapes, and for the device as it is. */
static bool is_beside_targets(const line *l) {
    return l->series || l->smem_limit || l->regs_limit;
}

/* Measured against wanted, for each target of the line, in words. */
static void judge(const contender *c, const rivals *r, const char *label, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n_targets; i++) {
        const target *t = &targets[i];
        double value;
        if (!t->applies(&c->line) || !got(t, c->us, r, &value))
            continue;
        const bool met = at_most(t) ? value <= t->wanted : value >= t->wanted;
        const char *of = t->against == SPEED_OF_FLOOR || t->against == TIMES_FLOOR ? "floor"
                         : t->against == SPEED_OF_REFERENCE                        ? "ref"
                                                                                   : "peer";
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s %.3f %s %.2f %s", used ? "; " : "",
                                     met ? "PASS" : "FAIL", value, at_most(t) ? "<=" : ">=", t->wanted, of);
        if (c->context == c->session->free_choice)
            note(&standings[i], t, value, met, label);
    }
}

static void ratio(double rival, double us, char *text, size_t size) {
    if (rival > 0)
        snprintf(text, size, "%.3f", rival / us);
    else
        snprintf(text, size, "-");
}

void report_header(session *s) {
    printf("%-52s %-28s %10s %6s %8s %7s %7s %7s  %s\n", "line", "who", "us", "+-%", "GB/s", "/floor", "/peer",
           "/ref", "kernel, targets");
    if (!s->csv)
        return;
    gp_device_info info = {.struct_size = sizeof info};
    GP(gp_context_device(s->free_choice, &info));
    fprintf(s->csv,
            "op,who,role,shape,n,rows,cols,in_pitch,out_pitch,elem_bytes,offset,in_place,window,border,data,"
            "measure,median_us,low_us,high_us,gbps,ratio_floor,ratio_peer,ratio_reference,kernel,targets,series\n"
            "# %s, %u SMs, libgpuprim %u, %u rounds\n",
            info.name, info.multiprocessors, gp_version(), s->opt.rounds);
}

static void csv_line(FILE *csv, const contender *c, const char *label, double gbps, char ratios[3][16],
                     const char *verdict) {
    static const char *const roles[] = {"floor", "peer", "reference", "ours"};
    static const char *const measures[] = {"device", "result", "return", "first", "spread"};
    static const char *const operations[] = {"process", "reduce", "window", "transpose"};
    const line *l = &c->line;
    const bool reduce = l->operation == GP_OPERATION_REDUCE, window = l->operation == GP_OPERATION_WINDOW;
    fprintf(
        csv,
        "%s,\"%s\",%s,\"%s\",%zu,%zu,%zu,%zu,%zu,%zu,%zu,%d,%zu,%s,%s,%s,%.4f,%.4f,%.4f,%.2f,%s,%s,%s,%s,%s,\"%s\"\n",
        reduce ? reduce_name(l->op) : operations[l->operation], c->who, roles[c->role], label, l->n, l->rows, l->cols,
        l->in_pitch, l->out_pitch, reduce || window ? sizeof(int32_t) : l->elem_bytes, l->offset, (int)l->in_place,
        l->window, window ? border_name(l->border) : "-", data_name(l->data), measures[l->measure], c->us, c->low,
        c->high, gbps, ratios[0], ratios[1], ratios[2], c->kernel, verdict, l->series ? l->series : "");
    fflush(csv);
}

void report(session *s, contender *list, size_t count) {
    const rivals r = {fastest(list, count, ROLE_FLOOR), fastest(list, count, ROLE_PEER),
                      fastest(list, count, ROLE_REFERENCE)};
    for (size_t i = 0; i < count; i++) {
        const contender *c = &list[i];
        char label[160], verdict[256] = "", ratios[3][16];
        const double gbps = c->us > 0 ? line_bytes(&c->line) / c->us * 1e-3 : 0;
        line_label(&c->line, label, sizeof label);
        ratio(r.floor, c->us, ratios[0], sizeof ratios[0]);
        ratio(r.peer, c->us, ratios[1], sizeof ratios[1]);
        ratio(r.reference, c->us, ratios[2], sizeof ratios[2]);
        if (c->role == ROLE_OURS && !is_beside_targets(&c->line))
            judge(c, &r, label, verdict, sizeof verdict);
        if (!s->opt.brief || strstr(verdict, "FAIL"))
            printf("%-52s %-28s %10.2f %6.1f %8.1f %7s %7s %7s  %s%s%s\n", label, c->who, c->us,
                   c->us > 0 ? 50 * (c->high - c->low) / c->us : 0, gbps, ratios[0], ratios[1], ratios[2], c->kernel,
                   c->kernel[0] && verdict[0] ? "  " : "", verdict);
        if (s->csv)
            csv_line(s->csv, c, label, gbps, ratios, verdict);
    }
    fflush(stdout);
}

void report_targets(void) {
    printf("\n%-60s %8s %8s %10s  %s\n", "target (free choice of kernel)", "wanted", "worst", "met", "worst line");
    for (size_t i = 0; i < n_targets && i < TARGETS_MAX; i++) {
        const standing *at = &standings[i];
        if (at->lines)
            printf("%-60s %s %5.2f %8.3f %4u of %-3u  %s%s\n", targets[i].what,
                   at_most(&targets[i]) ? "<=" : ">=", targets[i].wanted, at->worst, at->met, at->lines,
                   at->met == at->lines ? "PASS " : "FAIL ", at->where);
    }
}
