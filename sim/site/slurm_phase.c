/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds the clock of Slurm's backfill.
 */
#include "site/slurm_phase.h"

#include "base/alloc.h"
#include "base/own.h"
#include "traces/date.h"
#include "traces/sacct_json.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#define MOST_STARTS 2000 /* from the first on: a site is restarted sooner or later */
#define CYCLES 126       /* of 0 .. 0.25 s */
#define CYCLE_STEP_S 0.002

typedef struct starts {
    double *s; /* in seconds from the epoch, as recorded */
    size_t n, cap;
    int64_t zero_us;
} starts;

static void starts_fini(starts *all)
{
    dls_free(all->s);
}

static dls_status add_start(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    starts *all = user;
    int64_t at_us;
    if (col[0] >= 0 && col[1] >= 0 && csv->n_cells == csv->n_header &&
        strstr(dls_csv_text(csv, col[1]), "SchedBackfill") &&
        dls_date_or_seconds(csv->cell[col[0]].s, csv->cell[col[0]].len, &at_us)) {
        DLS_TRY(dls_grow(&all->s, &all->cap, all->n + 1, sizeof *all->s, err));
        all->s[all->n++] = 1e-6 * (double)(at_us - all->zero_us);
    }
    return DLS_OK;
}

/* Sorted, each second once, the first so many. */
static void thin(starts *all)
{
    size_t n = 0;
    gsl_sort(all->s, 1, all->n);
    for (size_t i = 0; i < all->n && n < MOST_STARTS; i++) {
        if (n == 0 || all->s[i] > all->s[n - 1]) {
            all->s[n++] = all->s[i];
        }
    }
    all->n = n;
}

/* Most starts that a run at `phase` and every period from then on could have made; room: [2 n]. A
 * start recorded as s came from s up to s + 1. */
static size_t best_phase(const starts *all, double period_s, double *room, double *phase_s)
{
    size_t best = 0, last = 0;
    for (size_t i = 0; i < all->n; i++) {
        room[i] = fmod(all->s[i] - all->s[0], period_s);
    }
    gsl_sort(room, 1, all->n);
    for (size_t i = 0; i < all->n; i++) {
        room[all->n + i] = room[i] + period_s;
    }
    for (size_t i = 0; i < all->n; i++) { /* those within a second from i on share an instant */
        for (last = last < i ? i : last; last < 2 * all->n && room[last] < room[i] + 1;) {
            last++;
        }
        if (last - i > best) {
            best = last - i;
            *phase_s = all->s[0] + 0.5 * (room[last - 1] + room[i] + 1);
        }
    }
    return best;
}

dls_status dls_site_phase_of(const dls_trace_source *sacct, const char *epoch, double interval_s,
                             dls_site_phase *out, bool *found, dls_error *err)
{
    static const char *const names[] = {"Start", "Flags"};
    DLS_OWN(starts_fini) starts all = {0};
    DLS_FREED double *room = NULL;
    double phase_s = 0;
    size_t best = 0;
    *found = false;
    if (interval_s < 2 || !dls_date_parse(epoch, strlen(epoch), &all.zero_us)) {
        return DLS_OK; /* of runs every second nothing is seen */
    }
    DLS_TRY(dls_sacct_rows(sacct, names, 2, 0, add_start, &all, err));
    if (all.n == 0) {
        return DLS_OK;
    }
    thin(&all);
    DLS_TRY(dls_alloc_array(&room, 2 * all.n, sizeof *room, "starts", err));
    for (int k = 0; k < CYCLES && all.n >= 10; k++) {
        const double period_s = interval_s + k * CYCLE_STEP_S;
        const size_t n = best_phase(&all, period_s, room, &phase_s);
        if (n > best) {
            best = n;
            /* the last that is no later than 0 */
            out->boot_s = phase_s - (floor(phase_s / period_s) + 1) * period_s;
            out->cycle_s = k * CYCLE_STEP_S;
        }
    }
    *found = all.n >= 10 && 5 * best >= 4 * all.n;
    return DLS_OK;
}
