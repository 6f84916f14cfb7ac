/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gavel's objectives as programs of sched/interior.h.
 */
#include "sched/timeshares.h"

#include "dlsim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Levels of water filling times rows: what is left when that is used up stays as it is. */
enum { LEVELS_WORK = 20000 };
static const double slack = 1e-7; /* relative, by which what was reached may be missed later */

void dls_timeshares_reset(dls_timeshares *s, int32_t n_types, const double *gpus)
{
    s->n_types = n_types;
    memcpy(s->gpus, gpus, (size_t)n_types * sizeof *gpus);
    s->n = 0;
}

dls_timeshare_job *dls_timeshares_add(dls_timeshares *s)
{
    if (dls_grow(&s->job, &s->cap, s->n + 1, sizeof *s->job, NULL) != DLS_OK ||
        dls_grow(&s->floor, &s->floor_cap, s->n + 1, sizeof *s->floor, NULL) != DLS_OK) {
        return NULL;
    }
    memset(&s->job[s->n], 0, sizeof *s->job);
    return &s->job[s->n++];
}

void dls_timeshares_fini(dls_timeshares *s)
{
    DLS_FREE_ALL(s->job, s->floor, s->class, s->class_of);
    dls_interior_fini(&s->lp);
    memset(s, 0, sizeof *s);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* What a speed of a pair would be, were its members alone. */
static double alone(const dls_timeshare_job *j, double speed)
{
    return j->beside > 0 ? speed / j->beside : speed;
}

double dls_timeshares_isolated_speed(const dls_timeshares *s, const dls_timeshare_job *j)
{
    double time = 0, speed = 0;
    for (int32_t w = 0; w < s->n_types; w++) {
        const double share = s->gpus[w] / (double)s->n / j->gpus;
        time += share;
        speed += j->speed[w] * share;
    }
    return alone(j, speed / fmax(time, 1));
}

void dls_timeshares_isolated(dls_timeshares *s)
{
    for (size_t i = 0; i < s->n; i++) {
        dls_timeshare_job *j = &s->job[i];
        double time = 0;
        for (int32_t w = 0; w < s->n_types; w++) {
            j->share[w] = s->gpus[w] / (double)s->n / j->gpus;
            time += j->share[w];
        }
        for (int32_t w = 0; w < s->n_types; w++) {
            j->share[w] /= fmax(time, 1);
        }
    }
}

/* Normalised speed of a share of 1 on a type. */
static double normal(const dls_timeshares *s, const dls_timeshare_job *j, int32_t type)
{
    double in_proportion = 0, gpus = 0;
    for (int32_t w = 0; w < s->n_types; w++) {
        in_proportion += j->speed[w] * s->gpus[w];
        gpus += s->gpus[w];
    }
    in_proportion = alone(j, in_proportion / gpus);
    return in_proportion > 0 ? j->speed[type] * j->gpus / (j->weight * in_proportion) : 0;
}

static dls_status begin(dls_timeshares *s, dls_error *err)
{
    dls_interior_reset(&s->lp, s->n_types, s->gpus);
    for (size_t i = 0; i < s->n; i++) {
        if (!dls_interior_add(&s->lp, s->job[i].gpus)) {
            return dls_nomem(err, "shares", s->n * sizeof *s->lp.job);
        }
    }
    return DLS_OK;
}

static void take_shares(dls_timeshares *s)
{
    for (size_t i = 0; i < s->n; i++) {
        memcpy(s->job[i].share, s->lp.job[i].x, sizeof s->job[i].share);
    }
}

/* Maximise t where every job's speed is at least t times that of floor[]. */
static dls_status most_of(dls_timeshares *s, dls_interior_outcome *outcome, dls_error *err)
{
    DLS_TRY(begin(s, err));
    s->lp.cost = 1;
    for (size_t i = 0; i < s->n; i++) {
        const dls_timeshare_job *j = &s->job[i];
        dls_interior_job *row = &s->lp.job[i];
        row->row = s->floor[i] > 0 ? DLS_NEEDS : DLS_NO_ROW;
        row->level = 1;
        for (int32_t w = 0; w < s->n_types && s->floor[i] > 0; w++) {
            row->gain[w] = j->speed[w] / s->floor[i];
        }
    }
    return dls_interior_solve(&s->lp, outcome, err);
}

/* ---- least attained service ------------------------------------------------------------------ */

dls_status dls_timeshares_las(dls_timeshares *s, dls_interior_outcome *outcome, dls_error *err)
{
    DLS_TRY(begin(s, err));
    s->lp.cost = 1;
    for (size_t i = 0; i < s->n; i++) {
        dls_interior_job *row = &s->lp.job[i];
        row->row = DLS_NEEDS;
        row->level = 1;
        for (int32_t w = 0; w < s->n_types; w++) {
            row->gain[w] = normal(s, &s->job[i], w);
        }
    }
    DLS_TRY(dls_interior_solve(&s->lp, outcome, err));
    s->best = -s->lp.t;
    take_shares(s);
    return DLS_OK;
}

/* Jobs of equal gain and gang: one row of the programs of water filling. */
struct dls_timeshare_class {
    double gain[DLS_TYPES_MAX]; /* normalised speed of a share of 1 */
    double gpus, copies, floor;
    size_t job; /* a member */
    bool is_free;
};
typedef struct dls_timeshare_class class;

static int by_gain(const void *x, const void *y)
{
    const class *a = x, *b = y;
    for (int32_t w = 0; w < DLS_TYPES_MAX; w++) {
        if (a->gain[w] != b->gain[w]) {
            return a->gain[w] < b->gain[w] ? -1 : 1;
        }
    }
    if (a->gpus != b->gpus) {
        return a->gpus < b->gpus ? -1 : 1;
    }
    return a->job < b->job ? -1 : 1;
}

static bool same_class(const class *a, const class *b)
{
    return memcmp(a->gain, b->gain, sizeof a->gain) == 0 && a->gpus == b->gpus;
}

/* One class for each distinct job, or for each job if they have been given speeds already. */
static dls_status make_classes(dls_timeshares *s, bool together, size_t *n, dls_error *err)
{
    DLS_TRY(dls_grow(&s->class, &s->class_cap, s->n + 1, sizeof *s->class, err));
    DLS_TRY(dls_grow(&s->class_of, &s->class_of_cap, s->n + 1, sizeof *s->class_of, err));
    for (size_t i = 0; i < s->n; i++) {
        class *c = &s->class[i];
        *c = (class){.gpus = s->job[i].gpus, .copies = 1, .job = i, .is_free = true};
        for (int32_t w = 0; w < s->n_types; w++) {
            c->gain[w] = normal(s, &s->job[i], w);
            c->floor += together ? 0 : c->gain[w] * s->job[i].share[w];
        }
        s->class_of[i] = i;
    }
    *n = s->n;
    if (together && s->n > 0) {
        qsort(s->class, s->n, sizeof *s->class, by_gain);
        *n = 0;
        for (size_t i = 0; i < s->n; i++) {
            const size_t job = s->class[i].job;
            if (i > 0 && same_class(&s->class[i], &s -> class[*n - 1])) {
                s->class[*n - 1].copies++;
            } else {
                s->class[(*n)++] = s->class[i];
            }
            s->class_of[job] = *n - 1;
        }
    }
    return DLS_OK;
}

/* One level: raise all that are free as far as possible, by *rise; those that cannot go on are no
 * longer free. */
static dls_status raise(dls_timeshares *s, size_t n, double *rise, dls_interior_outcome *outcome,
                        dls_error *err)
{
    double largest = 0;
    dls_interior_reset(&s->lp, s->n_types, s->gpus);
    s->lp.cost = 1;
    for (size_t i = 0; i < n; i++) {
        const class *c = &s->class[i];
        dls_interior_job *row = dls_interior_add(&s->lp, c->gpus * c->copies);
        if (!row) {
            return dls_nomem(err, "levels", n * sizeof *row);
        }
        row->row = c->is_free || c->floor > 0 ? DLS_NEEDS : DLS_NO_ROW;
        row->level = c->is_free ? 1 : 0;
        row->need = c->floor * (1 - slack);
        memcpy(row->gain, c->gain, sizeof row->gain);
    }
    DLS_TRY(dls_interior_solve(&s->lp, outcome, err));
    *rise = fmax(-s->lp.t, 0);
    for (size_t i = 0; i < n; i++) {
        largest = s->class[i].is_free ? fmax(largest, s->lp.job[i].dual) : largest;
    }
    for (size_t i = 0; i < n; i++) {
        s->class[i].floor += s->class[i].is_free ? *rise : 0;
        s->class[i].is_free = s->class[i].is_free && s->lp.job[i].dual < 1e-3 * largest;
    }
    return DLS_OK;
}

/* On one type nothing is to be solved: everybody is raised by the same until a job has all of its
 * time or the GPUs are used up. */
static void fill_one_type(dls_timeshares *s, size_t n)
{
    double low = 0, high = 0, wanted = 0;
    for (size_t i = 0; i < n; i++) {
        const class *c = &s->class[i];
        high = fmax(high, c->gain[0]);
        wanted += c->gpus * c->copies;
    }
    for (int32_t i = 0; i < 200 && wanted > s->gpus[0] && low < high; i++) {
        const double level = (low + high) / 2;
        double used = 0;
        for (size_t k = 0; k < n; k++) {
            const class *c = &s->class[k];
            used += c->gpus * c->copies * fmin(1, (c->floor + level) / c->gain[0]);
        }
        if (used <= s->gpus[0]) {
            low = level;
        } else {
            high = level;
        }
        if (level == (low + high) / 2) {
            break;
        }
    }
    s->best = wanted > s->gpus[0] ? low : high;
    for (size_t i = 0; i < s->n; i++) {
        const class *c = &s->class[s->class_of[i]];
        s->job[i].share[0] = fmin(1, (c->floor + s->best) / c->gain[0]);
    }
}

static dls_status fill_shares(dls_timeshares *s, bool together, dls_interior_outcome *outcome,
                              dls_error *err)
{
    size_t n;
    bool some = s->n > 0;
    *outcome = DLS_INTERIOR_OPTIMAL;
    DLS_TRY(make_classes(s, together, &n, err));
    if (s->n_types == 1) {
        fill_one_type(s, n);
        return DLS_OK;
    }
    for (size_t level = 0; some && level <= LEVELS_WORK / n; level++) {
        dls_interior_outcome of_level;
        double rise = 0;
        DLS_TRY(raise(s, n, &rise, &of_level, err));
        if (level == 0) {
            *outcome = of_level;
            s->best = rise;
        }
        if (of_level != DLS_INTERIOR_OPTIMAL) {
            break; /* later levels: what was reached stays */
        }
        for (size_t i = 0; i < s->n; i++) {
            memcpy(s->job[i].share, s->lp.job[s->class_of[i]].x, sizeof s->job[i].share);
        }
        some = false;
        for (size_t i = 0; i < n; i++) {
            some |= s->class[i].is_free;
        }
    }
    return DLS_OK;
}

dls_status dls_timeshares_water_filling(dls_timeshares *s, dls_interior_outcome *outcome,
                                        dls_error *err)
{
    return fill_shares(s, true, outcome, err);
}

dls_status dls_timeshares_fill(dls_timeshares *s, dls_interior_outcome *outcome, dls_error *err)
{
    const double best = s->best;
    const dls_status status = fill_shares(s, false, outcome, err);
    s->best = best;
    return status;
}

/* ---- finish-time fairness -------------------------------------------------------------------- */

dls_status dls_timeshares_finish_time(dls_timeshares *s, dls_interior_outcome *outcome,
                                      dls_error *err)
{
    DLS_TRY(begin(s, err));
    s->lp.cost = 1;
    for (size_t i = 0; i < s->n; i++) {
        const dls_timeshare_job *j = &s->job[i];
        dls_interior_job *row = &s->lp.job[i];
        const double all_s = j->isolated_s + j->left / dls_timeshares_isolated_speed(s, j);
        row->row = DLS_RATIO;
        row->weight = j->left * (1 / all_s);
        row->offset = j->age * (1 / all_s);
        memcpy(row->gain, j->speed, sizeof row->gain);
    }
    DLS_TRY(dls_interior_solve(&s->lp, outcome, err));
    s->best = s->lp.t;
    take_shares(s);
    return DLS_OK;
}

/* ---- others ---------------------------------------------------------------------------------- */

dls_status dls_timeshares_duration(dls_timeshares *s, dls_interior_outcome *outcome, dls_error *err)
{
    double unit = 0;
    for (size_t i = 0; i < s->n; i++) {
        const dls_timeshare_job *j = &s->job[i];
        double fastest = 0;
        for (int32_t w = 0; w < s->n_types; w++) {
            fastest = fmax(fastest, j->speed[w]);
        }
        unit = fastest > 0 ? fmax(unit, j->left / fastest) : unit;
    }
    for (size_t i = 0; i < s->n; i++) {
        s->floor[i] = s->job[i].left / unit;
    }
    DLS_TRY(most_of(s, outcome, err));
    s->best = unit / -s->lp.t;
    take_shares(s);
    return DLS_OK;
}

dls_status dls_timeshares_throughput(dls_timeshares *s, dls_interior_outcome *outcome,
                                     dls_error *err)
{
    DLS_TRY(begin(s, err));
    s->best = 0;
    for (size_t i = 0; i < s->n; i++) {
        memcpy(s->lp.job[i].value, s->job[i].speed, sizeof s->job[i].speed);
    }
    DLS_TRY(dls_interior_solve(&s->lp, outcome, err));
    take_shares(s);
    for (size_t i = 0; i < s->n; i++) {
        for (int32_t w = 0; w < s->n_types; w++) {
            s->best += s->job[i].speed[w] * s->job[i].share[w];
        }
    }
    return DLS_OK;
}

dls_status dls_timeshares_cost(dls_timeshares *s, bool *met, dls_interior_outcome *outcome,
                               dls_error *err)
{
    bool some = false;
    *met = true;
    for (size_t i = 0; i < s->n; i++) {
        const dls_timeshare_job *j = &s->job[i];
        *met &= j->deadline_s > 0;
        s->floor[i] = isfinite(j->deadline_s) ? j->left / j->deadline_s : 0;
        some |= s->floor[i] > 0;
    }
    if (*met && some) {
        DLS_TRY(most_of(s, outcome, err));
        *met = *outcome == DLS_INTERIOR_OPTIMAL && -s->lp.t >= 1 - slack;
    }
    DLS_TRY(begin(s, err));
    for (size_t i = 0; i < s->n; i++) {
        const dls_timeshare_job *j = &s->job[i];
        dls_interior_job *row = &s->lp.job[i];
        row->row = *met && s->floor[i] > 0 ? DLS_NEEDS : DLS_NO_ROW;
        row->need = 1 - 2 * slack;
        for (int32_t w = 0; w < s->n_types; w++) {
            row->value[w] = j->speed[w] / j->price[w];
            row->gain[w] = row->row == DLS_NEEDS ? j->speed[w] / s->floor[i] : 0;
        }
    }
    DLS_TRY(dls_interior_solve(&s->lp, outcome, err));
    take_shares(s);
    s->best = 0;
    for (size_t i = 0; i < s->n; i++) {
        for (int32_t w = 0; w < s->n_types; w++) {
            s->best += s->job[i].speed[w] / s->job[i].price[w] * s->job[i].share[w];
        }
    }
    return DLS_OK;
}
