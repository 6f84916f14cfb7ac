/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "placement/outlook.h"

#include "dlsim/memory.h"
#include "placement/traffic.h"

#define NOW INT64_MIN

dls_status dls_outlook_init(dls_outlook *o, const dls_place_index *index, dls_error *err)
{
    const size_t n = (size_t)dls_place_nodes(index), n_idle = n + (size_t)dls_place_types(index);
    size_t first = 0;
    o->freed = dls_alloc_zero(n, sizeof *o->freed);
    o->touched = dls_alloc_zero(n, sizeof *o->touched);
    o->idle_us = dls_alloc_zero(n_idle, sizeof *o->idle_us);
    if (!o->freed || !o->touched || !o->idle_us) {
        return dls_nomem(err, "links", n_idle * sizeof *o->idle_us);
    }
    for (int32_t t = 0; t < dls_place_types(index); t++) {
        o->type[t].touched = o->touched + first;
        o->type[t].idle_us = o->idle_us + first + t;
        for (int32_t size = 1; size <= dls_place_max_gpus(index, t); size++) {
            first += (size_t)dls_place_sizes(index, t, size);
        }
    }
    return DLS_OK;
}

void dls_outlook_fini(dls_outlook *o)
{
    dls_free(o->freed);
    dls_free(o->touched);
    dls_free(o->idle_us);
}

void dls_outlook_forget(dls_outlook *o, int32_t type)
{
    dls_outlook_type *at = &o->type[type];
    while (at->n_touched > 0) {
        o->freed[at->touched[--at->n_touched]] = 0;
    }
    at->known = false;
}

/* What there is now, with no end gone through. */
static void begin(dls_outlook *o, const dls_place_index *index, int32_t type, uint64_t of_jobs)
{
    dls_outlook_type *at = &o->type[type];
    const int32_t most = dls_place_max_gpus(index, type);
    dls_outlook_forget(o, type);
    at->known = true;
    at->of_gpus = dls_place_changes(index, type);
    at->of_jobs = of_jobs;
    at->ends = 0;
    at->idle = dls_place_count(index, type, most);
    for (at->largest = most; at->largest > 0; at->largest--) {
        if (dls_place_count(index, type, at->largest) > 0) {
            break;
        }
    }
    for (int32_t g = 0; g <= at->largest; g++) {
        at->hole_us[g] = NOW;
    }
    for (int32_t k = 0; k <= at->idle; k++) {
        at->idle_us[k] = NOW;
    }
}

/* One end more. */
static void go_on(dls_outlook *o, const dls_place_index *index, int32_t type, int32_t most,
                  const dls_runner *p)
{
    dls_outlook_type *at = &o->type[type];
    for (size_t k = 0; k < p->n; k++) {
        const int32_t node = p->part[k].node;
        const int32_t before = dls_place_free(index, node) + o->freed[node];
        const int32_t after = before + p->part[k].gpus;
        if (o->freed[node] == 0) {
            at->touched[at->n_touched++] = node;
        }
        o->freed[node] += p->part[k].gpus;
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
    dls_outlook_type *at = &t->outlook.type[want->type];
    const int32_t most = dls_place_max_gpus(index, want->type);
    const bool whole = want->n_nodes > 1;
    const int32_t wanted = whole ? want->n_nodes : want->gpus;
    const int32_t *there = whole ? &at->idle : &at->largest;
    if (!at->known || at->of_gpus != dls_place_changes(index, want->type) ||
        at->of_jobs != t->changes[want->type]) {
        begin(&t->outlook, index, want->type, t->changes[want->type]);
    }
    const dls_by_end *end = t->end[want->type];
    const size_t n =
        t->n_end[want->type] < DLS_OUTLOOK_ENDS ? t->n_end[want->type] : DLS_OUTLOOK_ENDS;
    while (*there < wanted && at->ends < n && end[at->ends].end_us - now_us <= limit_us) {
        go_on(&t->outlook, index, want->type, most, &t->runner[end[at->ends].runner]);
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
