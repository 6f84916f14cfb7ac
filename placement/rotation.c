/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Exact compatibility of the jobs of a link, the rotation that is best, and the shifts that follow
 * for jobs on several links (CASSINI, NSDI 2024).
 */
#include "placement/rotation.h"

#include "dlsim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 0x1p46 /* the capacity: rates are whole numbers, so that what is added goes again */
#define GAIN 1e-12  /* a shift is better if its score is, by this */
#define ORDERS 1    /* descents */
#define SWEEPS 16   /* of a descent, at most */

typedef struct end_of_phase {
    double at;
    int64_t step; /* of the load from there on */
} end_of_phase;

/* The load of a link around its circle: load[i] from at[i] to at[i + 1]; at[0] is 0, at[n] is L. */
typedef struct circle {
    double length;
    int32_t n;
    double at[DLS_ROTATION_EDGES + 2];
    int64_t load[DLS_ROTATION_EDGES + 2];
    double excess; /* integral of what is above the capacity, in UNITs */
} circle;

static int64_t gcd(int64_t a, int64_t b)
{
    while (b > 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The common period, 0 if there would be too many ends of phases. */
static int64_t circle_length(const dls_rotor *rotor, int32_t n, int64_t *ends)
{
    int64_t length = 1;
    *ends = 0;
    for (int32_t j = 0; j < n; j++) {
        const int64_t times = rotor[j].period / gcd(length, rotor[j].period);
        if (__builtin_mul_overflow(length, times, &length)) {
            return 0;
        }
    }
    for (int32_t j = 0; j < n; j++) {
        const int64_t times = length / rotor[j].period;
        if (times > DLS_ROTATION_EDGES) {
            return 0;
        }
        *ends += times * rotor[j].n * 3; /* two ends, and one more where a phase passes 0 */
    }
    return *ends <= DLS_ROTATION_EDGES ? length : 0;
}

int64_t dls_rotation_ends(const dls_rotor *rotor, int32_t n)
{
    int64_t ends;
    return circle_length(rotor, n, &ends) > 0 ? ends : INT64_MAX;
}

static double within(double x, double period)
{
    const double rest = fmod(x, period);
    return rest < 0 ? rest + period : rest;
}

static int64_t parts_of(double rate)
{
    return llround(fmin(rate, 64) * UNIT);
}

DLS_BY(by_place, end_of_phase, DLS_UP(at));

static int32_t add_edges(const dls_rotor *r, double length, end_of_phase *out, int32_t n)
{
    const int32_t times = (int32_t)nearbyint(length / (double)r->period);
    for (int32_t p = 0; p < r->n; p++) {
        const int64_t rate = parts_of(r->phase[p].rate);
        for (int32_t i = 0; i < times; i++) {
            const double from =
                within(r->phase[p].start + r->shift + (double)i * (double)r->period, length);
            const double to = from + r->phase[p].length;
            out[n++] = (end_of_phase){from, rate};
            out[n++] = (end_of_phase){to > length ? to - length : to, -rate};
            if (to > length) {
                out[n++] = (end_of_phase){0, rate};
            }
        }
    }
    return n;
}

/* The load of all jobs but `without`, -1: of all. */
static void draw_load(const dls_rotor *rotor, int32_t n, int32_t without, int64_t length, circle *c)
{
    end_of_phase all[DLS_ROTATION_EDGES];
    int32_t ends = 0;
    int64_t load = 0;
    for (int32_t j = 0; j < n; j++) {
        ends = j == without ? ends : add_edges(&rotor[j], (double)length, all, ends);
    }
    qsort(all, (size_t)ends, sizeof *all, by_place);
    c->length = (double)length;
    c->n = 0;
    c->at[0] = 0;
    c->excess = 0;
    for (int32_t i = 0; i <= ends; i++) {
        const double at = i < ends ? all[i].at : c->length;
        if (at > c->at[c->n]) {
            c->load[c->n] = load;
            c->excess += (double)(load > (int64_t)UNIT ? load - (int64_t)UNIT : 0) *
                         (at - c->at[c->n]) / UNIT;
            c->at[++c->n] = at;
        }
        load += i < ends ? all[i].step : 0;
    }
}

/* ---- one job against the rest ---------------------------------------------------------------- */

/* What a phase of one job adds to the excess, folded onto the job's own circle: sum[i] if it lasts
 * from 0 to at[i]; at[0] is 0, at[n] the period. */
typedef struct folded {
    double period;
    int32_t n;
    double at[DLS_ROTATION_EDGES + 2], sum[DLS_ROTATION_EDGES + 2];
} folded;

static int64_t added(int64_t load, int64_t rate)
{
    const int64_t unit = (int64_t)UNIT;
    return (load + rate > unit ? load + rate - unit : 0) - (load > unit ? load - unit : 0);
}

static void fold(const circle *c, int64_t rate, double period, folded *f)
{
    end_of_phase step[DLS_ROTATION_EDGES + 1];
    int64_t now = 0,
            before = 0; /* what is added at 0, in all turns together; by the piece before */
    int32_t n = 0;
    for (int32_t i = 0; i < c->n; i++) {
        const int64_t here = added(c->load[i], rate);
        const double at = fmod(c->at[i], period);
        now += here * (int64_t)(ceil(c->at[i + 1] / period) - ceil(c->at[i] / period));
        if (at > 0) {
            step[n++] = (end_of_phase){at, here - before};
        }
        before = here;
    }
    qsort(step, (size_t)n, sizeof *step, by_place);
    f->period = period;
    f->n = 0;
    f->at[0] = f->sum[0] = 0;
    for (int32_t i = 0; i <= n; i++) {
        const double at = i < n ? step[i].at : period, last = f->at[f->n];
        if (at > last) {
            f->sum[f->n + 1] = f->sum[f->n] + (double)now * (at - last) / UNIT;
            f->at[++f->n] = at;
        }
        now += i < n ? step[i].step : 0;
    }
}

/* sum at x, 0 <= x <= period. */
static double until(const folded *f, double x)
{
    int32_t low;
    DLS_BISECT(low, f->n - 1, f->at[low + 1] <= x);
    const int32_t high = low + 1;
    return f->sum[low] +
           (f->sum[high] - f->sum[low]) * ((x - f->at[low]) / (f->at[high] - f->at[low]));
}

typedef struct against {
    circle rest;
    folded phase[DLS_ROTOR_PHASES];
} against;

static double score_at(const against *a, const dls_rotor *r, double shift)
{
    double excess = a->rest.excess;
    for (int32_t p = 0; p < r->n; p++) {
        const folded *f = &a->phase[p];
        const double from = within(r->phase[p].start + shift, f->period);
        const double to = from + r->phase[p].length;
        excess += to <= f->period ? until(f, to) - until(f, from)
                                  : f->sum[f->n] - until(f, from) + until(f, to - f->period);
    }
    return 1 - excess / a->rest.length;
}

/* Turn one job to the least of its best shifts; what the score is then. */
static double turn_one(dls_rotor *rotor, int32_t n, int32_t job, int64_t length)
{
    against a;
    dls_rotor *r = &rotor[job];
    draw_load(rotor, n, job, length, &a.rest);
    for (int32_t p = 0; p < r->n; p++) {
        fold(&a.rest, parts_of(r->phase[p].rate), (double)r->period, &a.phase[p]);
    }
    double best = score_at(&a, r, 0), shift = 0;
    for (int32_t q = 0; q < 2 * r->n * r->n; q++) { /* ends of each phase at what each one meets */
        const folded *f = &a.phase[q / 2 % r->n];
        const dls_rotor_phase *mine = &r->phase[q / 2 / r->n];
        const double end = mine->start + (q % 2 ? mine->length : 0);
        for (int32_t i = 0; i < f->n; i++) {
            const double s = within(f->at[i] - end, f->period), score = score_at(&a, r, s);
            if (score > best + GAIN || (score > best - GAIN && s < shift)) {
                best = fmax(score, best);
                shift = s;
            }
        }
    }
    r->shift = shift;
    return score_at(&a, r, shift);
}

/* Jobs are entered one after the other, from `first` on and round, each where it fits best beside
 * those that are there, then turned again as long as that gains. */
static double descend(dls_rotor *rotor, int32_t n, int32_t first, int64_t length)
{
    dls_rotor in[DLS_ROTORS];
    int32_t at[DLS_ROTORS], n_in = 0;
    double score = 1;
    for (int32_t pass = 0; pass < 2; pass++) { /* those that are fixed come first */
        for (int32_t i = 0; i < n; i++) {
            const int32_t j = (first + i) % n;
            if (rotor[j].fixed == (pass == 0)) {
                at[n_in] = j;
                in[n_in++] = rotor[j];
                if (!rotor[j].fixed) {
                    in[n_in - 1].shift = 0;
                    score = n_in > 1 ? turn_one(in, n_in, n_in - 1, length) : 1;
                }
            }
        }
    }
    for (int32_t sweep = 0; sweep < SWEEPS && n > 2; sweep++) {
        const double before = score;
        for (int32_t i = 0; i < n; i++) {
            score = in[i].fixed ? score : turn_one(in, n, i, length);
        }
        if (!(score > before + GAIN)) {
            break;
        }
    }
    for (int32_t i = 0; i < n; i++) {
        rotor[at[i]].shift = in[i].shift;
    }
    return dls_rotation_score(rotor, n);
}

double dls_rotation_score(const dls_rotor *rotor, int32_t n)
{
    circle c;
    int64_t ends;
    const int64_t length = circle_length(rotor, n, &ends);
    if (length == 0) {
        return (double)NAN;
    }
    draw_load(rotor, n, -1, length, &c);
    return 1 - c.excess / c.length;
}

/* Against the first job, which then stands at 0. */
static void turn_back(dls_rotor *rotor, int32_t n)
{
    const double by = rotor[0].shift;
    for (int32_t j = 0; j < n; j++) {
        rotor[j].shift = within(rotor[j].shift - by, (double)rotor[j].period);
    }
}

double dls_rotation_turn(dls_rotor *rotor, int32_t n)
{
    dls_rotor trial[DLS_ROTORS];
    int64_t ends;
    const int64_t length = circle_length(rotor, n, &ends);
    double best = -(double)INFINITY;
    bool any_fixed = false;
    if (length == 0) {
        return (double)NAN;
    }
    for (int32_t j = 0; j < n; j++) {
        any_fixed = any_fixed || rotor[j].fixed;
    }
    for (int32_t first = 0; first < n && first < (n > 2 ? ORDERS : 1) && best < 1 - GAIN; first++) {
        memcpy(trial, rotor, (size_t)n * sizeof *trial);
        const double score = descend(trial, n, first, length);
        if (score > best + GAIN) {
            best = score;
            if (!any_fixed) {
                turn_back(trial, n);
            }
            for (int32_t j = 0; j < n; j++) {
                rotor[j].shift = trial[j].shift;
            }
        }
    }
    return n > 0 ? best : 1;
}

/* ---- affinity graph -------------------------------------------------------------------------- */

static int32_t root_of(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        v = parent[v] = parent[parent[v]];
    }
    return v;
}

bool dls_affinity_is_forest(const dls_affinity_edge *edge, size_t n)
{
    int32_t parent[2 * DLS_AFFINITY_VERTICES];
    for (int32_t v = 0; v < 2 * DLS_AFFINITY_VERTICES; v++) {
        parent[v] = v;
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t a = root_of(parent, edge[i].job);
        const int32_t b = root_of(parent, DLS_AFFINITY_VERTICES + edge[i].link);
        if (a == b) {
            return false;
        }
        parent[a] = b;
    }
    return true;
}

bool dls_affinity_shifts(const dls_affinity_edge *edge, size_t n, const double *period,
                         int32_t n_jobs, double *shift)
{
    bool known[DLS_AFFINITY_VERTICES] = {false}, on[DLS_AFFINITY_VERTICES] = {false};
    double turned[DLS_AFFINITY_VERTICES]; /* a link against what its jobs were found for */
    if (!dls_affinity_is_forest(edge, n)) {
        return false;
    }
    for (int32_t root = 0; root < n_jobs; root++) {
        known[root] = true; /* if it is not yet, as it is */
        for (bool more = true; more;) {
            more = false;
            for (size_t i = 0; i < n; i++) {
                const int32_t j = edge[i].job, l = edge[i].link;
                if (known[j] && !on[l]) {
                    turned[l] = shift[j] - edge[i].shift;
                    on[l] = more = true;
                } else if (on[l] && !known[j]) {
                    shift[j] = within(turned[l] + edge[i].shift, period[j]);
                    known[j] = more = true;
                }
            }
        }
    }
    return true;
}
