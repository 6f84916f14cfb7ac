/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of reservations and of nodes out of service.
 */
#include "sched/slurm_outage.h"

#include "dlsim/memory.h"
#include "sched/table.h"

#include <stdio.h>
#include <string.h>

typedef struct reading {
    dls_slurm_outages *to;
    int32_t n_nodes;
} reading;

int32_t dls_slurm_reservation_find(const void *outages, const char *name)
{
    const dls_slurm_outages *o = outages;
    for (size_t i = 0; i < o->n_names; i++) {
        if (strcmp(o->name[i], name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

static dls_status name_of(dls_slurm_outages *o, const char *name, int32_t *out, dls_error *err)
{
    *out = name[0] ? dls_slurm_reservation_find(o, name) : -1;
    if (*out >= 0 || !name[0]) {
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&o->name, &o->names_cap, o->n_names + 1, sizeof *o->name, err));
    snprintf(o->name[o->n_names], sizeof *o->name, "%s", name);
    *out = (int32_t)o->n_names++;
    return DLS_OK;
}

static dls_status read_row(void *user, char *const *cell, const char *where, dls_error *err)
{
    const reading *r = user;
    dls_slurm_outages *o = r->to;
    const size_t words = (size_t)o->words;
    dls_slurm_outage made = {.end_us = DLS_NEVER, .known_us = INT64_MIN, .nodes = o->n_sets};
    int32_t first, last;
    if (strlen(cell[0]) >= sizeof *o->name) {
        return dls_fail(err, DLS_EINPUT, where, "a name longer than 63 bytes");
    }
    if ((cell[1][0] && !dls_sched_table_time(cell[1], &made.known_us)) ||
        !dls_sched_table_time(cell[2], &made.begin_us) ||
        (cell[3][0] && !dls_sched_table_time(cell[3], &made.end_us)) ||
        made.end_us < made.begin_us) {
        return dls_fail(err, DLS_EINPUT, where,
                        "expected seconds: known or nothing, start, end or nothing");
    }
    if (!dls_sched_table_whole(cell[4], 0, r->n_nodes - 1, &first) ||
        !dls_sched_table_whole(cell[5], first, r->n_nodes - 1, &last)) {
        return dls_fail(err, DLS_EINPUT, where,
                        "expected the first and last of the cluster's %d nodes", (int)r->n_nodes);
    }
    DLS_TRY(name_of(o, cell[0], &made.reservation, err));
    DLS_TRY(dls_grow(&o->sets, &o->sets_cap, o->n_sets + words, sizeof *o->sets, err));
    memset(o->sets + o->n_sets, 0, words * sizeof *o->sets);
    for (int32_t n = first; n <= last; n++) {
        o->sets[o->n_sets + (size_t)n / 64] |= UINT64_C(1) << n % 64;
    }
    o->n_sets += words;
    DLS_TRY(dls_grow(&o->at, &o->cap, o->n + 1, sizeof *o->at, err));
    o->at[o->n++] = made;
    return DLS_OK;
}

DLS_BY(by_kind, dls_slurm_outage, DLS_ORDER(x->reservation < 0, y->reservation < 0), DLS_UP(nodes));

DLS_BY(by_time, int64_t, DLS_ORDER(*x, *y));

dls_status dls_slurm_outages_init(dls_slurm_outages *o, const dls_view *view, const char *path,
                                  dls_error *err)
{
    reading r = {o, dls_place_nodes(dls_view_index(view))};
    o->words = (r.n_nodes + 63) / 64;
    if (!path[0]) {
        return DLS_OK;
    }
    o->n_sets = (size_t)o->words;
    DLS_TRY(dls_grow(&o->sets, &o->sets_cap, o->n_sets, sizeof *o->sets, err));
    memset(o->sets, 0, o->n_sets * sizeof *o->sets);
    DLS_TRY(
        dls_sched_table_read(path, "reservation,known,start,end,first,last", read_row, &r, err));
    DLS_TRY(dls_alloc_array(&o->change_us, 2 * o->n + 1, sizeof *o->change_us, "outages", err));
    for (size_t i = 0; i < o->n; i++) {
        o->n_reserved += o->at[i].reservation >= 0;
        o->n_endless += o->at[i].end_us == DLS_NEVER;
        o->change_us[2 * i] = o->at[i].begin_us;
        o->change_us[2 * i + 1] = o->at[i].end_us;
    }
    dls_sort(o->at, o->n, sizeof *o->at, by_kind);
    dls_sort(o->change_us, 2 * o->n, sizeof *o->change_us, by_time);
    return DLS_OK;
}

void dls_slurm_outages_fini(dls_slurm_outages *o)
{
    DLS_FREE_ALL(o->at, o->name, o->change_us, o->sets);
}

dls_status dls_slurm_outages_clone(dls_slurm_outages *o, const dls_slurm_outages *from,
                                   dls_error *err)
{
    *o = *from;
    return DLS_COPY_ALL(err, DLS_COPY(o->at, from->n, from->cap),
                        DLS_COPY(o->change_us, 2 * from->n, 2 * from->n + 1),
                        DLS_COPY(o->name, from->n_names, from->names_cap),
                        DLS_COPY(o->sets, from->n_sets, from->sets_cap));
}

void dls_slurm_outages_look(dls_slurm_outages *o, int64_t now_us)
{
    o->now_us = now_us;
    if (o->n == o->n_reserved || (o->from_us <= now_us && now_us < o->until_us)) {
        return;
    }
    memset(o->sets, 0, (size_t)o->words * sizeof *o->sets);
    for (size_t i = o->n_reserved; i < o->n; i++) {
        const dls_slurm_outage *a = &o->at[i];
        for (int32_t w = 0; a->begin_us <= now_us && now_us < a->end_us && w < o->words; w++) {
            o->sets[w] |= o->sets[a->nodes + (size_t)w];
        }
    }
    o->from_us = now_us;
    o->until_us = dls_slurm_outages_next(o, now_us);
}

int64_t dls_slurm_outages_apply(const dls_slurm_outages *o, int32_t reservation, int64_t start_us,
                                int64_t end_us, uint64_t *nodes)
{
    int64_t later_us = DLS_NEVER;
    for (size_t i = 0; i < o->n_reserved; i++) {
        const dls_slurm_outage *a = &o->at[i];
        if (a->reservation == reservation || a->known_us > o->now_us) {
            continue;
        }
        later_us = a->end_us > start_us && a->end_us < later_us ? a->end_us : later_us;
        for (int32_t w = 0; a->begin_us < end_us && start_us < a->end_us && w < o->words; w++) {
            nodes[w] &= ~o->sets[a->nodes + (size_t)w];
        }
    }
    for (int32_t w = 0; w < o->words; w++) {
        uint64_t own = 0;
        for (size_t i = 0; reservation >= 0 && i < o->n_reserved; i++) {
            own |= o->at[i].reservation == reservation ? o->sets[o->at[i].nodes + (size_t)w] : 0;
        }
        nodes[w] &= (reservation >= 0 ? own : UINT64_MAX) & ~o->sets[w];
    }
    return later_us;
}

static bool is_for_good(const dls_slurm_outage *a, int64_t now_us)
{
    return a->end_us == DLS_NEVER && a->begin_us <= now_us && a->known_us <= now_us;
}

size_t dls_slurm_outages_for_good(const dls_slurm_outages *o, int64_t now_us)
{
    size_t n = 0;
    for (size_t i = 0; o->n_endless > 0 && i < o->n; i++) {
        n += is_for_good(&o->at[i], now_us);
    }
    return n;
}

void dls_slurm_outages_gone(const dls_slurm_outages *o, int32_t reservation, int64_t now_us, uint64_t *nodes)
{
    for (int32_t w = 0; o->n_endless > 0 && w < o->words; w++) {
        uint64_t own = 0, others = 0;
        bool confined = false;
        for (size_t i = 0; i < o->n; i++) {
            const dls_slurm_outage *a = &o->at[i];
            const bool mine = reservation >= 0 && a->reservation == reservation;
            own |= mine ? o->sets[a->nodes + (size_t)w] : 0;
            others |= !mine && is_for_good(a, now_us) ? o->sets[a->nodes + (size_t)w] : 0;
            confined = confined || (mine && is_for_good(a, now_us));
        }
        nodes[w] &= (confined ? own : UINT64_MAX) & ~others;
    }
}

int64_t dls_slurm_outages_next(const dls_slurm_outages *o, int64_t now_us)
{
    size_t lo;
    DLS_BISECT(lo, 2 * o->n, o->change_us[lo] <= now_us);
    return lo < 2 * o->n ? o->change_us[lo] : DLS_NEVER;
}

int64_t dls_slurm_reservation_begin(const dls_slurm_outages *o, int32_t reservation, int64_t now_us)
{
    int64_t begin_us = DLS_NEVER;
    for (size_t i = 0; i < o->n; i++) {
        const dls_slurm_outage *a = &o->at[i];
        if (a->reservation == reservation && a->end_us > now_us && a->begin_us < begin_us) {
            begin_us = a->begin_us;
        }
    }
    return begin_us;
}
