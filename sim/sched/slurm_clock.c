/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When Slurm's schedulers run, by its rules or by its log.
 */
#include "sched/slurm_clock.h"

#include "dlsim/memory.h"
#include "sched/table.h"

#include <string.h>

/* ---- a log ----------------------------------------------------------------------------------- */

static dls_status read_row(void *clock, char *const *cell, const char *where, dls_error *err)
{
    static const char *const name[] = {"main", "full", "backfill"};
    static const int what[] = {DLS_SLURM_MAIN, DLS_SLURM_MAIN | DLS_SLURM_FULL, DLS_SLURM_BACKFILL};
    dls_slurm_clock *c = clock;
    int64_t at_us;
    if (!dls_sched_table_time(cell[0], &at_us)) {
        return dls_fail(err, DLS_EINPUT, where, "expected seconds and what ran");
    }
    if (c->n_log > 0 && at_us < c->log[c->n_log - 1].at_us) {
        return dls_fail(err, DLS_EINPUT, where, "is earlier than the row before");
    }
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        if (strcmp(cell[1], name[i]) == 0) {
            DLS_TRY(dls_grow(&c->log, &c->log_cap, c->n_log + 1, sizeof *c->log, err));
            c->log[c->n_log++] = (dls_slurm_logged){at_us, what[i]};
            return DLS_OK;
        }
    }
    return dls_fail(err, DLS_EINPUT, where, "scheduler: expected main, full or backfill, not '%s'",
                    cell[1]);
}

static dls_status read_log(dls_slurm_clock *c, const char *path, dls_error *err)
{
    DLS_TRY(dls_sched_table_read(path, "time,scheduler", read_row, c, err));
    return c->n_log == 0 ? dls_fail(err, DLS_EINPUT, path, "no rows") : DLS_OK;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* When slurmctld's loop looks first at that time or later. */
static int64_t look(const dls_slurm_clock *c, int64_t at_us)
{
    const int64_t ago = (at_us - c->loop_at_us) % c->loop_us;
    return ago == 0 ? at_us : at_us - ago + (ago > 0 ? c->loop_us : 0);
}

static int64_t full_due(const dls_slurm_clock *c)
{
    return look(c, dls_slurm_whole_s(c->last_full_us) + c->interval_us);
}

static int64_t main_due(const dls_slurm_clock *c)
{
    const int64_t ready_us = dls_slurm_whole_s(c->last_main_us) + c->delay_us;
    return c->event_us == DLS_NEVER ? DLS_NEVER
                                    : look(c, ready_us > c->event_us ? ready_us : c->event_us);
}

dls_status dls_slurm_clock_init(dls_slurm_clock *c, bool backfill, int64_t boot_us,
                                int64_t first_us, const char *path, dls_error *err)
{
    first_us -= c->delay_us;
    c->last_full_us = boot_us;
    c->last_main_us = boot_us < first_us ? first_us : boot_us;
    c->event_us = DLS_NEVER;
    c->changed_us = DLS_NEVER;
    c->backfill_us = backfill ? boot_us + c->bf_interval_us : DLS_NEVER;
    return path[0] ? read_log(c, path, err) : DLS_OK;
}

void dls_slurm_clock_fini(dls_slurm_clock *c)
{
    dls_free(c->log);
}

dls_status dls_slurm_clock_clone(dls_slurm_clock *c, const dls_slurm_clock *from, dls_error *err)
{
    *c = *from;
    return dls_duplicate(&c->log, from->log, from->n_log, from->log_cap, sizeof *c->log, err);
}

static void advance_backfill(dls_slurm_clock *c, int64_t now_us)
{
    if (c->backfill_us < now_us && c->changed_us < now_us) {
        const int64_t late_us = c->changed_us - c->backfill_us;
        c->backfill_us += late_us > 0 ? (late_us + 999999) / 1000000 * 1000000 : 0;
        if (c->backfill_us < now_us) { /* it ran */
            c->backfill_us += c->bf_interval_us;
            c->changed_us = DLS_NEVER;
        }
    }
    if (c->backfill_us < now_us) { /* without something new it looks again every second */
        c->backfill_us += (now_us - c->backfill_us + 999999) / 1000000 * 1000000;
    }
}

void dls_slurm_clock_advance(dls_slurm_clock *c, int64_t now_us, bool events)
{
    const int64_t gap_us = now_us - c->last_full_us;
    if (gap_us > 10 * c->interval_us) { /* nothing depends on so old a run */
        c->last_full_us += (gap_us / c->interval_us - 2) * c->interval_us;
    }
    for (int64_t due_us = full_due(c); due_us < now_us; due_us = full_due(c)) {
        c->last_full_us = c->last_main_us = due_us;
        c->event_us = c->event_us <= due_us ? DLS_NEVER : c->event_us;
    }
    if (main_due(c) < now_us) {
        c->last_main_us = main_due(c);
        c->event_us = DLS_NEVER;
    }
    advance_backfill(c, now_us);
    if (events) {
        c->event_us = c->event_us == DLS_NEVER ? now_us : c->event_us;
        c->changed_us = c->changed_us == DLS_NEVER ? now_us : c->changed_us;
    }
    while (c->next_log < c->n_log && c->log[c->next_log].at_us < now_us) {
        c->next_log++;
    }
}

int dls_slurm_clock_due(dls_slurm_clock *c, int64_t now_us)
{
    int what = 0;
    if (c->next_log < c->n_log) { /* behind the log's end the rules hold */
        for (; c->next_log < c->n_log && c->log[c->next_log].at_us == now_us; c->next_log++) {
            what |= c->log[c->next_log].what;
        }
        return what;
    }
    if (now_us >= full_due(c)) {
        what = DLS_SLURM_MAIN | DLS_SLURM_FULL;
        c->last_full_us = now_us;
    }
    if (what || now_us >= main_due(c)) {
        what |= DLS_SLURM_MAIN;
        c->last_main_us = now_us;
        c->event_us = DLS_NEVER;
    }
    if (now_us >= c->backfill_us) {
        what |= DLS_SLURM_BACKFILL;
        c->backfill_us = now_us + c->bf_cycle_us + c->bf_interval_us;
        c->changed_us = now_us; /* what it plans for those that wait is new to it */
    }
    return what;
}

int64_t dls_slurm_clock_next(const dls_slurm_clock *c)
{
    if (c->next_log < c->n_log) {
        return c->log[c->next_log].at_us;
    }
    const int64_t due_us = main_due(c), full_us = full_due(c);
    const int64_t main_us = due_us < full_us ? due_us : full_us;
    return main_us < c->backfill_us ? main_us : c->backfill_us;
}
