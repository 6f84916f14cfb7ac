/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Expected openings by GPU type: goes through the predicted ends of running jobs in order of time
 * and records when the largest gap on a node and the number of idle nodes grow.
 */
#include "placement/openings.h"

#include "dlsim/memory.h"
#include "placement/traffic.h"

#define NOW INT64_MIN

dls_status dls_openings_init(dls_openings *o, const dls_place_index *index, dls_error *err)
{
    const size_t n = (size_t)dls_place_nodes(index), n_idle = n + (size_t)dls_place_types(index);
    DLS_TRY(DLS_ALLOC_ALL("openings", err, DLS_ARRAY(o->node, n), DLS_ARRAY(o->idle_us, n_idle)));
    int64_t *idle_us = o->idle_us;
    for (int32_t t = 0; t < dls_place_types(index); t++) {
        o->type[t].idle_us = idle_us++;
        for (int32_t size = 1; size <= dls_place_max_gpus(index, t); size++) {
            idle_us += dls_place_sizes(index, t, size);
        }
    }
    return DLS_OK;
}

void dls_openings_fini(dls_openings *o)
{
    DLS_FREE_ALL(o->node, o->idle_us);
}

/* What there is now, with no end gone through. */
static void begin(dls_openings *o, const dls_place_index *index, int32_t type,
                  uint64_t jobs_version)
{
    dls_openings_type *at = &o->type[type];
    const int32_t most = dls_place_max_gpus(index, type);
    at->pass = ++o->passes;
    at->gpus_version = dls_place_changes(index, type);
    at->jobs_version = jobs_version;
    at->ends = 0;
    at->idle = dls_place_count(index, type, most);
    at->largest = most;
    while (at->largest > 0 && dls_place_count(index, type, at->largest) == 0) {
        at->largest--;
    }
    for (int32_t g = 0; g <= at->largest; g++) {
        at->hole_us[g] = NOW;
    }
    for (int32_t k = 0; k <= at->idle; k++) {
        at->idle_us[k] = NOW;
    }
}

/* One end more. */
static void go_on(dls_openings *o, const dls_place_index *index, int32_t type, int32_t most,
                  const dls_runner *p)
{
    dls_openings_type *at = &o->type[type];
    for (size_t k = 0; k < p->n; k++) {
        dls_openings_node *node = &o->node[p->part[k].node];
        if (node->pass != at->pass) {
            *node = (dls_openings_node){.pass = at->pass};
        }
        const int32_t before = dls_place_free(index, p->part[k].node) + node->freed;
        const int32_t after = before + p->part[k].gpus;
        node->freed += p->part[k].gpus;
        if (before < most && after >= most) {
            at->idle_us[++at->idle] = p->end_us;
        }
        while (at->largest < after && at->largest < most) {
            at->hole_us[++at->largest] = p->end_us;
        }
    }
    at->ends++;
}

int64_t dls_traffic_wait_us(dls_traffic *t, const dls_place_index *index, const dls_shape *want,
                            int64_t now_us, int64_t limit_us)
{
    dls_openings_type *at = &t->openings.type[want->type];
    const int32_t most = dls_place_max_gpus(index, want->type);
    const bool whole = want->n_nodes > 1;
    const int32_t wanted = whole ? want->n_nodes : want->gpus;
    const int32_t *there = whole ? &at->idle : &at->largest;
    if (at->pass == 0 || at->gpus_version != dls_place_changes(index, want->type) ||
        at->jobs_version != t->changes[want->type]) {
        begin(&t->openings, index, want->type, t->changes[want->type]);
    }
    const dls_by_end *end = t->ends[want->type].next;
    const size_t n_next = t->ends[want->type].n_next;
    const size_t n = n_next < DLS_OPENINGS_ENDS ? n_next : DLS_OPENINGS_ENDS;
    while (*there < wanted && at->ends < n && end[at->ends].end_us - now_us <= limit_us) {
        go_on(&t->openings, index, want->type, most, &t->runner[end[at->ends].runner]);
    }
    if (*there < wanted) {
        return DLS_NEVER;
    }
    const int64_t open_us = whole ? at->idle_us[wanted] : at->hole_us[wanted];
    if (open_us == NOW) {
        return 0;
    }
    if (open_us - now_us > limit_us) {
        return DLS_NEVER;
    }
    return open_us > now_us ? open_us - now_us : 0;
}
