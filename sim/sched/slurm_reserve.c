/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of reservations of Slurm's backfill: spans of time, each with the nodes that are free
 * in it.
 */
#include "sched/slurm_plan.h"

#include "dlsim/memory.h"

#include <string.h>

/* Cut to whole multiples of the resolution on the clock. */
int64_t dls_slurm_plan_cut(const dls_slurm_plan *p, int64_t us)
{
    const int64_t shown_us = us + p->clock_us, over_us = shown_us % p->resolution_us;
    return shown_us - over_us - (over_us < 0 ? p->resolution_us : 0) - p->clock_us;
}

/* A set of nodes behind the others; *at is its offset. */
dls_status dls_slurm_plan_new_set(dls_slurm_plan *p, size_t *at, dls_error *err)
{
    DLS_TRY(dls_grow(&p->sets, &p->sets_cap, p->n_sets + (size_t)p->words, sizeof *p->sets, err));
    *at = p->n_sets;
    p->n_sets += (size_t)p->words;
    return DLS_OK;
}

/* Span i becomes two, the second from then on. An empty first part stays, as in Slurm's table. */
static dls_status split(dls_slurm_plan *p, size_t i, int64_t at_us, dls_error *err)
{
    size_t set;
    DLS_TRY(dls_slurm_plan_new_set(p, &set, err));
    DLS_TRY(dls_grow(&p->span, &p->span_cap, p->n_span + 1, sizeof *p->span, err));
    memcpy(p->sets + set, p->sets + p->span[i].nodes, (size_t)p->words * sizeof *p->sets);
    memmove(p->span + i + 2, p->span + i + 1, (p->n_span - i - 1) * sizeof *p->span);
    p->span[i + 1] = (dls_slurm_span){at_us, p->span[i].end_us, set};
    p->span[i].end_us = at_us;
    p->n_span++;
    return DLS_OK;
}

/* The first two of spans first .. last that follow each other with the same nodes become one. Slurm
 * does this once a reservation: others of the same nodes stay apart, which decides what is tried.
 */
static void join(dls_slurm_plan *p, size_t first, size_t last)
{
    const size_t bytes = (size_t)p->words * sizeof *p->sets;
    for (size_t i = first; i < last && i + 1 < p->n_span; i++) {
        dls_slurm_span *s = p->span + i;
        if (memcmp(p->sets + s[0].nodes, p->sets + s[1].nodes, bytes) == 0) {
            s[0].end_us = s[1].end_us;
            memmove(s + 1, s + 2, (p->n_span - i - 2) * sizeof *s);
            p->n_span--;
            return;
        }
    }
}

dls_status dls_slurm_plan_reserve(dls_slurm_plan *p, int64_t start_us, int64_t limit_us,
                                  dls_error *err)
{
    int64_t begin_us = dls_slurm_plan_cut(p, start_us),
            end_us = dls_slurm_plan_cut(p, start_us + limit_us);
    size_t i = 0, last;
    begin_us = begin_us > p->span[0].begin_us ? begin_us : p->span[0].begin_us;
    end_us = end_us > begin_us + p->resolution_us ? end_us : begin_us + p->resolution_us;
    while (i < p->n_span && p->span[i].end_us < begin_us) {
        i++;
    }
    if (i == p->n_span) {
        return DLS_OK;
    }
    const size_t before = i > 0 ? i - 1 : 0;
    if (p->span[i].end_us > begin_us) {
        DLS_TRY(split(p, i, begin_us, err));
    }
    for (last = i + 1; last < p->n_span; last++) {
        if (p->span[last].end_us > end_us) {
            DLS_TRY(split(p, last, end_us, err));
        }
        for (int32_t w = 0; w < p->words; w++) {
            p->sets[p->span[last].nodes + (size_t)w] &= ~p->chosen[w];
        }
        if (p->span[last].end_us == end_us) {
            break;
        }
    }
    join(p, before, last + 1);
    return DLS_OK;
}
