/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One simulation for a test: cluster, trace and options together, audited.
 */
#ifndef DLS_TESTS_SIM_SETUP_H
#define DLS_TESTS_SIM_SETUP_H

#include "support/sim_case.h"

#include "base/rng.h"

#define S(seconds) llround((seconds)*1e6)

typedef struct sim_setup {
    dls_cluster_spec cluster; /* groups from the heap of the C library, vcs static */
    dls_trace *trace;
    dls_option_value *values, *place_values; /* owned */
    dls_sim_params p;
} sim_setup;

static inline void setup_policy(sim_setup *s, const char *sched, const char *placement)
{
    s->p.sched = case_sched(sched);
    s->p.placement = case_placement(placement);
    dls_free(s->values);
    dls_free(s->place_values);
    s->p.sched_values = s->values = case_defaults(s->p.sched->options);
    s->p.placement_values = s->place_values = case_defaults(s->p.placement->options);
}

/* Takes the trace and the cluster. s must not move afterwards. */
static inline void setup_init(sim_setup *s, dls_cluster_spec cluster, dls_trace *trace,
                              const char *sched, const char *placement)
{
    memset(s, 0, sizeof *s);
    s->cluster = cluster;
    s->trace = trace;
    dls_sim_params_init(&s->p);
    s->p.cluster = &s->cluster;
    s->p.trace = trace;
    s->p.audit = true;
    setup_policy(s, sched, placement);
}

static inline void setup_fini(sim_setup *s)
{
    dls_trace_destroy(s->trace);
    dls_free(s->values);
    dls_free(s->place_values);
    free(s->cluster.groups);
}

static inline dls_option_value *setup_option(sim_setup *s, const char *name)
{
    for (int i = 0; s->p.sched->options[i].type != DLS_OPT_END; i++) {
        if (strcmp(s->p.sched->options[i].name, name) == 0) {
            return &s->values[i];
        }
    }
    fprintf(stderr, "%s has no option '%s'\n", s->p.sched->name, name);
    exit(1);
}

static inline void setup_limits(sim_setup *s, int n, const double *limits)
{
    dls_option_value *v = setup_option(s, "queue_limits");
    v->n_list = n;
    for (int i = 0; i < n; i++) {
        v->list[i] = limits[i];
    }
}

/* Two groups of nodes: type "V100" first, then "P100". */
static inline dls_cluster_spec two_types(int nodes0, int nodes1, int gpus_per_node,
                                         int nodes_per_rack)
{
    dls_cluster_spec c = case_cluster(nodes0, gpus_per_node, nodes_per_rack);
    c.n_types = 2;
    snprintf(c.types[0].name, sizeof c.types[0].name, "V100");
    snprintf(c.types[1].name, sizeof c.types[1].name, "P100");
    c.groups = realloc(c.groups, 2 * sizeof *c.groups);
    c.groups[1] = c.groups[0];
    snprintf(c.groups[1].name, sizeof c.groups[1].name, "more");
    c.groups[1].nodes = nodes1;
    c.groups[1].type = 1;
    c.n_groups = 2;
    return c;
}

/* Gangs of 1..most GPUs on a busy cluster, whole seconds, with ties. */
static inline dls_trace *random_trace(uint64_t seed, size_t n, int most, uint64_t gap_s,
                                      const char *const *vcs, const char *const *types)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 8);
    case_job *jobs = calloc(n, sizeof *jobs);
    double t = 0;
    for (size_t j = 0; j < n; j++) {
        t += (double)dls_rng_below(&rng, gap_s);
        jobs[j].submit_s = t;
        jobs[j].duration_s = (double)(dls_rng_below(&rng, 8) ? 1 + dls_rng_below(&rng, 60) : 0);
        jobs[j].gpus = 1 + (int)dls_rng_below(&rng, 1 + dls_rng_below(&rng, (uint64_t)most));
        jobs[j].vc = vcs ? vcs[dls_rng_below(&rng, 4)] : NULL;
        jobs[j].types = types ? types[dls_rng_below(&rng, 4)] : NULL;
    }
    dls_trace *trace = case_trace(jobs, n);
    free(jobs);
    return trace;
}

/* For dls_placement_ops.share: two pairs of five share, one host better than another. */
static inline double share_by_chance(void *state, const dls_place_index *index,
                                     const dls_request *r, int32_t host, const dls_shape *shape)
{
    return (double)(dls_mix64((uint64_t)(r->job * 64 + host)) % 5) - 2;
}

/* 25 random jobs on 12 GPUs. */
static inline void setup_small(sim_setup *s, uint64_t seed)
{
    setup_init(s, case_cluster(3, 4, 2), random_trace(seed, 25, 4, 20, NULL, NULL), "fifo",
               "consolidated");
}

#endif
