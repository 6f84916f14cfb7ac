/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of Slurm's partitions.
 */
#include "sched/slurm_partition.h"

#include "dlsim/memory.h"
#include "sched/table.h"

#include <stdio.h>
#include <string.h>

typedef struct reading {
    dls_slurm_partitions *to;
    int32_t n_nodes, last; /* last: of all rows */
} reading;

int32_t dls_slurm_partition_find(const dls_slurm_partitions *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++) {
        if (strcmp(p->at[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

static dls_status add(dls_slurm_partitions *p, const dls_slurm_partition *made, dls_error *err)
{
    const size_t words = (size_t)p->words;
    DLS_TRY(dls_grow(&p->at, &p->cap, p->n + 1, sizeof *p->at, err));
    DLS_TRY(dls_grow(&p->nodes, &p->nodes_cap, (p->n + 1) * words, sizeof *p->nodes, err));
    p->at[p->n] = *made;
    memset(p->nodes + p->n * words, 0, words * sizeof *p->nodes);
    p->n++;
    return DLS_OK;
}

static void set(dls_slurm_partitions *p, int32_t which, int32_t first, int32_t last)
{
    uint64_t *nodes = p->nodes + (size_t)which * (size_t)p->words;
    for (int32_t n = first; n <= last; n++) {
        nodes[n / 64] |= UINT64_C(1) << n % 64;
    }
}

/* Seconds, or nothing: it stays as it is. */
static bool limit_in(const char *cell, int64_t *us)
{
    return !cell[0] || (dls_sched_table_time(cell, us) && *us > 0);
}

static dls_status read_row(void *user, char *const *cell, const char *where, dls_error *err)
{
    reading *r = user;
    dls_slurm_partition made = {.limit_us = -1, .most_us = -1};
    int32_t first, last;
    if (!cell[0][0] || strlen(cell[0]) >= sizeof made.name) {
        return dls_fail(err, DLS_EINPUT, where, "no partition, or a name longer than 63 bytes");
    }
    if (!dls_sched_table_whole(cell[1], 0, 65533, &made.tier) ||
        !dls_sched_table_number(cell[2], 0, 1, &made.factor) ||
        !limit_in(cell[3], &made.limit_us) || !limit_in(cell[4], &made.most_us)) {
        return dls_fail(err, DLS_EINPUT, where,
                        "expected a tier, a factor of 0 to 1, and limits in seconds or nothing");
    }
    if (!dls_sched_table_whole(cell[5], 0, r->n_nodes - 1, &first) ||
        !dls_sched_table_whole(cell[6], first, r->n_nodes - 1, &last)) {
        return dls_fail(err, DLS_EINPUT, where,
                        "expected the first and last of the cluster's %d nodes", (int)r->n_nodes);
    }
    snprintf(made.name, sizeof made.name, "%s", cell[0]);
    if (dls_slurm_partition_find(r->to, cell[0]) < 0) {
        DLS_TRY(add(r->to, &made, err));
    }
    set(r->to, dls_slurm_partition_find(r->to, cell[0]), first, last);
    r->last = last > r->last ? last : r->last;
    return DLS_OK;
}

dls_status dls_slurm_partitions_init(dls_slurm_partitions *p, const dls_view *view,
                                     const char *path, dls_error *err)
{
    reading r = {p, dls_place_nodes(dls_view_index(view)), -1};
    if (!path[0]) {
        return DLS_OK;
    }
    p->words = (r.n_nodes + 63) / 64;
    p->n_of = (size_t)view->n_jobs;
    DLS_TRY(dls_sched_table_read(path, "partition,tier,factor,limit,most,first,last", read_row, &r, err));
    for (size_t i = 0; i < p->n; i++) {
        set(p, (int32_t)i, r.last + 1, r.n_nodes - 1);
    }
    DLS_TRY(dls_alloc_array(&p->of, p->n_of + 1, sizeof *p->of, "partitions", err));
    for (int32_t j = 0; j < view->n_jobs; j++) {
        p->of[j] = dls_slurm_partition_find(p, dls_view_name(view, DLS_NAME_VC, view->vc[j]));
    }
    return DLS_OK;
}

void dls_slurm_partitions_fini(dls_slurm_partitions *p)
{
    DLS_FREE_ALL(p->at, p->nodes, p->of);
}

dls_status dls_slurm_partitions_clone(dls_slurm_partitions *p, const dls_slurm_partitions *from,
                                      dls_error *err)
{
    *p = *from;
    return DLS_COPY_ALL(err, DLS_COPY(p->at, from->n, from->cap),
                        DLS_COPY(p->nodes, from->n * (size_t)from->words, from->nodes_cap),
                        DLS_COPY(p->of, from->n_of, from->n_of + 1));
}
