/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Buddy-like blocks of the published ElasticFlow simulator (seats.h).
 */
#include "elasticflow/seats.h"

#include "base/alloc.h"

#include <string.h>

static const int32_t sizes[DLS_EF_SIZES] = {1,  2,  4,  8,  12, 16, 24,  32,
                                            40, 48, 56, 64, 72, 88, 128, 256};

dls_status dls_ef_seats_init(dls_ef_seats *s, int32_t nodes, int32_t per_node, dls_error *err)
{
    const size_t n = (size_t)nodes, gpus = n * (size_t)per_node;
    *s = (dls_ef_seats){.nodes = nodes, .per_node = per_node};
    DLS_TRY(DLS_ALLOC_ALL("seats", err, DLS_ARRAY(s->set, n), DLS_ARRAY(s->jobs, gpus),
                          DLS_ARRAY(s->seen, gpus), DLS_ARRAY(s->list[0], DLS_EF_SIZES * n)));
    for (size_t k = 0; k < DLS_EF_SIZES; k++) {
        s->list[k] = s->list[0] + k * n;
    }
    return DLS_OK;
}

void dls_ef_seats_fini(dls_ef_seats *s)
{
    DLS_FREE_ALL(s->set, s->jobs, s->seen, s->list[0]);
}

void dls_ef_seats_forget(dls_ef_seats *s)
{
    memset(s->seen, 0, (size_t)s->nodes * (size_t)s->per_node * sizeof *s->seen);
}

/* DLS_EF_SIZES: there is no such list. */
static int32_t size_of(int32_t gpus)
{
    int32_t k = 0;
    while (k < DLS_EF_SIZES && sizes[k] != gpus) {
        k++;
    }
    return k;
}

static int32_t pop_set(dls_ef_seats *s, int32_t k)
{
    const int32_t set = s->list[k][0];
    memmove(s->list[k], s->list[k] + 1, (size_t)--s->n[k] * sizeof *s->list[k]);
    return set;
}

/* By GPUs in use, stable. */
static void sort_list(dls_ef_seats *s, int32_t k)
{
    int32_t *list = s->list[k];
    for (int32_t i = 1; i < s->n[k]; i++) {
        const int32_t x = list[i];
        int32_t at = i;
        for (; at > 0 && s->set[list[at - 1]].used > s->set[x].used; at--) {
            list[at] = list[at - 1];
        }
        list[at] = x;
    }
}

/* A set with room goes to the list of the greatest size that its room is a multiple of. */
static void file(dls_ef_seats *s, int32_t set, int32_t k)
{
    const int32_t room = s->set[set].room - s->set[set].used;
    int32_t to = k;
    for (int32_t i = DLS_EF_SIZES - 1; room > 0 && i >= 0; i--) {
        if (sizes[i] <= room && room % sizes[i] == 0) {
            to = i;
            break;
        }
    }
    s->list[to][s->n[to]++] = set;
    s->set[set].list = to;
    sort_list(s, k);
    sort_list(s, to);
}

static bool join(dls_ef_seats *s, int32_t k, int32_t list, int32_t job)
{
    if (s->n[list] == 0) {
        return false;
    }
    const int32_t i = pop_set(s, list);
    dls_ef_set *set = &s->set[i];
    if (set->used + sizes[k] > set->room) {
        s->list[list][s->n[list]++] = i;
        return false;
    }
    set->used += sizes[k];
    set->job[set->n_jobs++] = job;
    file(s, i, k);
    return true;
}

static bool seat(dls_ef_seats *s, int32_t job, int32_t gpus)
{
    const int32_t k = size_of(gpus), nodes = (gpus + s->per_node - 1) / s->per_node;
    if (k < DLS_EF_SIZES && join(s, k, k, job)) {
        return true;
    }
    for (int32_t list = DLS_EF_SIZES - 1; list > k; list--) {
        if (join(s, k, list, job)) {
            return true;
        }
    }
    if (k == DLS_EF_SIZES || s->next_node + nodes > s->nodes) {
        return false;
    }
    dls_ef_set *set = &s->set[s->n_sets];
    *set = (dls_ef_set){.job = s->jobs + (size_t)s->next_node * (size_t)s->per_node,
                        .n_jobs = 1,
                        .first_node = s->next_node,
                        .room = nodes * s->per_node,
                        .used = gpus};
    set->job[0] = job;
    s->next_node += nodes;
    file(s, s->n_sets++, k);
    return true;
}

/* A set under a size of whole nodes shows its first job alone. */
static void look_up(dls_ef_seats *s, dls_ef_job *const *job, bool *cached)
{
    for (int32_t i = 0; i < s->n_sets; i++) {
        const dls_ef_set *set = &s->set[i];
        const int32_t shown = sizes[set->list] >= s->per_node ? 1 : set->n_jobs;
        int32_t at = set->first_node * s->per_node;
        for (int32_t k = 0; k < shown; k++) {
            const int32_t gpus = job[set->job[k]]->gpus;
            const uint16_t bit = (uint16_t)(1U << size_of(gpus));
            cached[set->job[k]] = s->seen[at] & bit;
            s->seen[at] |= bit;
            at += gpus;
        }
    }
}

dls_status dls_ef_seat_all(dls_ef_seats *s, dls_ef_job *const *job, size_t n, bool *cached,
                           dls_error *err)
{
    static const int32_t small[] = {4, 2, 1};
    bool seated = true;
    memset(s->n, 0, sizeof s->n);
    s->n_sets = s->next_node = 0;
    for (size_t i = 0; i < n; i++) {
        cached[i] = false;
        seated &= job[i]->gpus < s->per_node || seat(s, (int32_t)i, job[i]->gpus);
    }
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        for (size_t i = 0; i < n && small[k] < s->per_node; i++) {
            seated &= job[i]->gpus != small[k] || seat(s, (int32_t)i, small[k]);
        }
    }
    look_up(s, job, cached);
    return seated ? DLS_OK
                  : dls_fail(err, DLS_ERUN, NULL,
                             "the nodes do not hold the shares in blocks; the published program "
                             "fails here too");
}
