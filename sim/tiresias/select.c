/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Preemptive selection of the Tiresias simulator by ordered sets: applies the next start or
 * suspension in rank order until nothing changes.
 */
#include "tiresias/select.h"

#include <stdlib.h>

dls_status dls_tir_select_init(dls_tir_select *sel, dls_tir *s, bool per_size, dls_error *err)
{
    *sel = (dls_tir_select){.n_groups = per_size ? s->n_sizes : 1};
    sel->waiting = dls_tir_array(s, (size_t)s->n_sizes, sizeof *sel->waiting);
    sel->group = dls_tir_array(s, (size_t)sel->n_groups, sizeof *sel->group);
    sel->flip = dls_tir_array(s, (size_t)s->n, sizeof *sel->flip);
    DLS_TRY(dls_tir_arrays_got(s, err));
    for (int32_t c = 0; c < s->n_sizes; c++) {
        sel->waiting[c] = (dls_order_set)DLS_ORDER_SET_EMPTY;
    }
    for (int32_t i = 0; i < sel->n_groups; i++) {
        sel->group[i] = (dls_tir_group){.running = DLS_ORDER_SET_EMPTY,
                                        .limit_gpus = per_size ? 0 : s->total_gpus,
                                        .first_cls = per_size ? i : 0,
                                        .end_cls = per_size ? i + 1 : s->n_sizes};
    }
    return dls_order_init(&sel->table, s->n, s->n_sizes + sel->n_groups, err);
}

void dls_tir_select_fini(dls_tir_select *sel)
{
    dls_order_fini(&sel->table);
}

static int compare_rank(const void *a, const void *b, void *members)
{
    const dls_member *member = members;
    return dls_rank_cmp(&member[*(const int32_t *)a].rank, &member[*(const int32_t *)b].rank);
}

void dls_tir_select_sort(const dls_tir_select *sel, int32_t *jobs, int32_t n)
{
    if (n > 1) {
        qsort_r(jobs, (size_t)n, sizeof *jobs, compare_rank, sel->table.member);
    }
}

static dls_order_set *set_of(const dls_tir_select *sel, const dls_tir *s, int32_t j)
{
    return s->job[j].status == DLS_JOB_RUNNING ? &dls_tir_group_of(sel, s, j)->running
                                               : &sel->waiting[s->job[j].cls];
}

void dls_tir_select_add(dls_tir_select *sel, const dls_tir *s, int32_t j, dls_rank rank)
{
    dls_order_insert(&sel->table, set_of(sel, s, j), j, rank, s->job[j].gpus, 0);
}

void dls_tir_select_drop(dls_tir_select *sel, const dls_tir *s, int32_t j)
{
    dls_order_remove(&sel->table, set_of(sel, s, j), j);
}

void dls_tir_select_rerank(dls_tir_select *sel, const dls_tir *s, int32_t j, dls_rank rank)
{
    dls_tir_select_drop(sel, s, j);
    dls_tir_select_add(sel, s, j, rank);
}

/* The first waiting job of the group that fits where it stands, if it stands before `bound`. */
static int32_t first_that_fits(dls_tir_select *sel, dls_tir *s, const dls_tir_group *g,
                               int32_t bound)
{
    dls_order *t = &sel->table;
    const int64_t taken = dls_order_sum(t, g->running);
    int32_t best = bound;
    for (int32_t c = g->first_cls; c < g->end_cls && s->size[c] <= g->limit_gpus; c++) {
        const int32_t head = dls_order_first(t, sel->waiting[c]);
        if (head == DLS_NONE ||
            (best != DLS_NONE && dls_rank_cmp(&t->member[best].rank, &t->member[head].rank) < 0)) {
            continue;
        }
        if (taken + s->size[c] <= g->limit_gpus ||
            dls_order_sum_before(t, g->running, &t->member[head].rank) + s->size[c] <=
                g->limit_gpus) {
            best = head;
        }
    }
    return best == bound ? DLS_NONE : best;
}

static dls_status pass_group(dls_tir_select *sel, dls_tir *s, dls_tir_group *g, dls_error *err)
{
    dls_order *t = &sel->table;
    for (;;) {
        const int32_t over = dls_order_sum(t, g->running) > g->limit_gpus
                                 ? dls_order_first_over(t, g->running, g->limit_gpus)
                                 : DLS_NONE;
        const int32_t fits = first_that_fits(sel, s, g, over);
        const int32_t j = fits != DLS_NONE ? fits : over;
        if (j == DLS_NONE) {
            return DLS_OK;
        }
        const dls_rank rank = t->member[j].rank;
        dls_tir_select_drop(sel, s, j);
        if (fits != DLS_NONE) {
            DLS_TRY(dls_tir_start(s, j, err));
        } else {
            dls_tir_suspend(s, j);
        }
        dls_tir_select_add(sel, s, j, rank);
        sel->flip[sel->n_flips++] = j;
    }
}

dls_status dls_tir_select_pass(dls_tir_select *sel, dls_tir *s, dls_error *err)
{
    sel->n_flips = 0;
    for (int32_t i = 0; i < sel->n_groups; i++) {
        DLS_TRY(pass_group(sel, s, &sel->group[i], err));
    }
    return DLS_OK;
}
