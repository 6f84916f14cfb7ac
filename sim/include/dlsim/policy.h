/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scheduling and placement policies: what one must export, and what it may see and do.
 *
 * A policy is one C file with one const table. Built in, the file lies in sim/sched or placement and
 * the build finds it; as a plug-in it is a shared object that exports dls_plugin_entry (below). The
 * code is the same. A policy reads a const view and answers; the engine checks and applies, so a
 * wrong policy gets an error (EPOLICY) and never corrupts a run.
 *
 * Scheduling policies come in two tiers.
 * - An order: `priority` says where a job stands, smallest (level, key, tie) first, and when that
 *   next changes. The engine keeps the queues and selects; a pass costs only what changed.
 * - A program: `pass` walks the waiting and the running jobs and emits actions. It costs what it
 *   walks.
 *
 * Pointers from a view are valid until the callback returns. One run is one thread; a policy keeps
 * its state in the memory that it is given and not in globals, because a process may run many.
 */
#ifndef DLSIM_POLICY_H
#define DLSIM_POLICY_H

#include "dlsim/error.h"
#include "dlsim/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLS_POLICY_ABI 3u
#define DLS_NEVER INT64_MAX /* a time that does not come */

/* ---- options ----------------------------------------------------------------------------------- */

typedef enum dls_option_type {
    DLS_OPT_END = 0,
    DLS_OPT_BOOL,
    DLS_OPT_I64,
    DLS_OPT_F64,
    DLS_OPT_STR,
    DLS_OPT_F64_LIST, /* numbers within min..max, ascending */
    DLS_OPT_PATH      /* as STR: a file, relative to the folder of the configuration that names it */
} dls_option_type;

#define DLS_OPT_LIST_MAX 32

/* One option of a policy; a table ends with {0}. Shown by `dlsim list`, checked by the loader. */
typedef struct dls_option {
    const char *name;
    dls_option_type type;
    double min, max;     /* inclusive; numbers only */
    const char *def;     /* default, written as in a config: "true", "60", "3250,7200", "text" */
    const char *unit;    /* "s", "GPU-s", "" */
    const char *doc;     /* one line */
    const char *choices; /* STR only: "a|b|c", NULL: any text */
} dls_option;

typedef struct dls_option_value {
    bool b;
    int64_t i;
    double f;
    const char *s;                 /* borrowed for the life of the run */
    double list[DLS_OPT_LIST_MAX];
    int32_t n_list;
} dls_option_value;

/* ---- what a scheduling policy sees ------------------------------------------------------------- */

typedef struct dls_engine dls_engine;

/* Columns are [n_jobs], indexed by job: 0-based in order of submission. */
typedef struct dls_view {
    int64_t now_us;
    int32_t n_jobs;
    const int32_t *gpus;           /* gang size */
    const int64_t *submit_us;
    const int64_t *duration_us;    /* run time at the reference rate, for policies that know it: true; or
                                      estimate_us if run times are to come from a predictor, but in
                                      `init`, where it is what a history of such jobs would show */
    const int64_t *estimate_us;    /* predicted run time, for those that do not; never absent */
    const int64_t *first_start_us; /* -1: never started */
    const int64_t *since_us;       /* when the job got its present state */
    const int64_t *progress_us;    /* of a running job: from when on it progresses, restored */
    const uint8_t *running;        /* 1: holds GPUs */
    int64_t total_gpus;
    int64_t free_gpus;
    int32_t running_jobs, waiting_jobs;
    uint64_t seed;
    uint64_t pass;                 /* number of the scheduling pass */
    const dls_engine *engine;
} dls_view;

/* GPU-microseconds of service, at most 2^61, so that what is computed from it fits. */
static inline int64_t dls_service_us(int64_t run_us, int32_t gpus)
{
    int64_t service_us;
    return __builtin_mul_overflow(run_us, gpus, &service_us) || service_us > INT64_MAX / 4
               ? INT64_MAX / 4
               : service_us;
}
/* Seconds of service are time spent running, without restoring; x GPUs = attained service. */
DLS_API int64_t dls_view_executed_us(const dls_view *view, int32_t job);
/* Run time left, for policies that know it: at the rate at which the job progresses now, or did when it
 * last held GPUs; at the reference rate before its first start. If run times come from a predictor: the
 * predicted one less what has been executed and not lost, at least 1. */
DLS_API int64_t dls_view_remaining_us(const dls_view *view, int32_t job);
/* When the checkpoint that a running job is taking will be written; now if it is taking none. */
DLS_API int64_t dls_view_saved_us(const dls_view *view, int32_t job);
/* The policy's own zero-initialised bytes for a job (job_state_bytes of the table). */
DLS_API void *dls_view_job_state(const dls_view *view, int32_t job);
/* For `pass`: waiting jobs in order of submission, running ones in order of their last start; -1 ends.
 * The job that a walk stands at may be started or preempted. */
DLS_API int32_t dls_view_first_waiting(const dls_view *view);
DLS_API int32_t dls_view_next_waiting(const dls_view *view, int32_t job);
DLS_API int32_t dls_view_first_running(const dls_view *view);
DLS_API int32_t dls_view_next_running(const dls_view *view, int32_t job);

/* ---- what it answers --------------------------------------------------------------------------- */

/* A job has at most one alarm; each answer replaces it. */
typedef enum dls_alarm {
    DLS_ALARM_NONE,
    DLS_ALARM_RESCHEDULE, /* ask again then, and hold a pass if that moves the job: it has attained the
                             service that demotes it, or has waited long enough to be promoted */
    DLS_ALARM_YIELD       /* ask again, and hold a pass, at the first time from then on at which jobs wait:
                             its time slice is over, which matters only to others */
} dls_alarm;

/* Where a job stands, smallest first by (level, key, tie), then in order of submission. */
typedef struct dls_priority {
    int32_t level;    /* queue */
    int64_t key;      /* at view->now_us; while the job runs it falls with the table's ageing */
    int64_t tie;      /* preset 0 */
    int64_t valid_until_us; /* preset DLS_NEVER: ask again at the first pass at or after this time, for
                               keys that drift; no pass is held for it */
    dls_alarm alarm;        /* preset DLS_ALARM_NONE: what is to happen .. */
    int64_t alarm_us;       /* .. at this time */
    bool ask_after_pass;    /* ask again (DLS_EVENT_PASSED) when the coming pass is over */
    bool promoted;          /* count this as a promotion for having starved */
} dls_priority;

/* Why `priority` is asked. */
typedef enum dls_job_event {
    DLS_EVENT_SUBMITTED,
    DLS_EVENT_STARTED,   /* got GPUs */
    DLS_EVENT_PREEMPTED, /* lost them */
    DLS_EVENT_DUE,       /* alarm_us or valid_until_us has come */
    DLS_EVENT_PASSED,    /* the pass that was to come is over */
    DLS_EVENT_RATE       /* it progresses at another rate; asked only where keys age, and not if run
                            times come from a predictor, which do not follow the rate */
} dls_job_event;

/* Who is taken when the jobs are looked at in order. */
typedef enum dls_discipline {
    DLS_STRICT,  /* start in order, stop at the first that does not fit */
    DLS_FIT,     /* start in order, skip what does not fit */
    DLS_EASY,    /* skip, but never delay the first that does not fit (EASY backfilling) */
    DLS_PREEMPT  /* select in order over running and waiting jobs, skip what does not fit; running
                    jobs that are not selected lose their GPUs */
} dls_discipline;

/* How the key of a running job moves; the key of a waiting one stands still. */
typedef enum dls_ageing {
    DLS_AGE_NONE,
    DLS_AGE_TIME,    /* falls by 1 per microsecond: remaining time */
    DLS_AGE_SERVICE  /* falls by the job's GPUs per microsecond: remaining service */
} dls_ageing;

typedef struct dls_actions dls_actions;
/* For `pass`, applied in the order of the calls. Starting a job that does not fit, or one that is not
 * waiting, and preempting one that is not running, are errors of the policy. A start that the
 * placement refuses leaves the job waiting and returns false. */
DLS_API bool dls_act_start(dls_actions *out, int32_t job);
DLS_API void dls_act_preempt(dls_actions *out, int32_t job);
/* Another pass at this time; of several calls before it the earliest counts. */
DLS_API void dls_act_wake(dls_actions *out, int64_t at_us);

/* For policies that divide the cluster among gang sizes: one group per distinct size, ascending. */
typedef struct dls_groups {
    int32_t n;
    const int32_t *gpus;      /* [n] gang size */
    const int64_t *demand;    /* [n] GPUs wanted by the group's waiting and running jobs */
    const int64_t *used;      /* [n] GPUs held */
    int64_t *reserved;        /* [n] in/out: the group's share; never below `used` */
    int64_t total_gpus;
    int64_t next_us;          /* out: when to be asked again */
} dls_groups;

typedef struct dls_sched_ops {
    uint32_t abi;          /* DLS_POLICY_ABI */
    const char *name;      /* as in a config */
    const char *summary;   /* one line */
    const dls_option *options;   /* NULL: none */
    size_t state_bytes;          /* zeroed before init */
    size_t job_state_bytes;      /* per job, zeroed */
    dls_discipline discipline;
    dls_ageing ageing;
    dls_status (*init)(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err);                                /* optional */
    void (*fini)(void *state);                                         /* optional */
    void (*priority)(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out);                               /* an order ... */
    dls_status (*pass)(void *state, const dls_view *view, dls_actions *out,
                       dls_error *err);                                /* ... or a program */
    void (*share)(void *state, const dls_view *view, dls_groups *groups); /* optional, orders only */
} dls_sched_ops;

/* ---- placement --------------------------------------------------------------------------------- */

#define DLS_TYPES_MAX 16 /* GPU types in one cluster */
#define DLS_GPUS_PER_NODE_MAX 64

typedef struct dls_place_index dls_place_index; /* what is free in the cluster */

/* What a predictor tells apart of all the ways to place a gang. */
typedef struct dls_shape {
    int32_t type;    /* GPU type */
    int32_t gpus;
    int32_t n_nodes; /* over which the gang is spread */
    int32_t n_racks;
} dls_shape;

/* What the configured predictor says of a job on a shape. */
typedef struct dls_prediction {
    double iteration_s;   /* burst and idle of the GPU together; > 0 */
    double remaining_s;   /* for the work that is left, without waiting and restoring */
    double metric[12];    /* dls_metric of dlsim/predictor.h; NAN where the predictor has none */
    double link_bps;      /* sent by a node while its network burst lasts, bytes per second; NAN */
    double mem_bytes;     /* GPU memory held on each GPU; NAN: unknown */
    double distance;      /* between the shape and the setting that answered; 0: exact */
} dls_prediction;

typedef struct dls_place_predictor dls_place_predictor; /* asked through a request, see below */

typedef struct dls_request {
    int32_t job;
    int32_t gpus;
    int32_t type;               /* every GPU of a gang is of this type */
    int32_t attempt;            /* 0 for the first start of the job, 1 for the next, ... */
    int64_t cpu_milli_per_gpu;  /* 0: not accounted */
    int64_t mem_mib_per_gpu;    /* 0: not accounted */
    uint64_t seed;
    int64_t now_us;
    int64_t waiting_since_us;   /* when the job last became pending */
    double tensor_skew;         /* of the model: greatest parameter tensor over all parameters; NAN */
    const dls_place_predictor *predictor; /* NULL: none is configured */
    int64_t *retry_us;          /* a refusal may set it: ask again at that time even if no GPU is given
                                   back meanwhile */
} dls_request;

/* Prediction for the request's job, or for another running or waiting one. false: no predictor, or
 * nothing known of the job; *out is then all NAN. O(1). */
DLS_API bool dls_place_predict(const dls_request *r, int32_t job, const dls_shape *shape,
                                dls_prediction *out);
/* The candidate shapes of the request's job, best known first by predicted remaining time; borrowed. */
DLS_API const dls_shape *dls_place_candidates(const dls_request *r, size_t *n);
/* The random stream of (seed, job, attempt): two schedulers that place the same job in the same cluster
 * draw the same. */
DLS_API dls_rng dls_place_random(const dls_request *r);
/* Bandwidth of a node's network link and of its rack's uplink, bytes per second; 0: not limiting. */
DLS_API double dls_place_nic_bps(const dls_place_index *index, int32_t node);
DLS_API double dls_place_uplink_bps(const dls_place_index *index, int32_t rack);
/* Memory of one GPU of a type, bytes; 0: unknown. */
DLS_API double dls_place_gpu_mem_bytes(const dls_place_index *index, int32_t type);

/* Nodes are 0-based; the nodes of a rack, and the racks of a group, are consecutive. Queries cost
 * O(GPUs of a node + log racks), whatever the number of nodes. -1: none. */
DLS_API int32_t dls_place_nodes(const dls_place_index *index);
DLS_API int32_t dls_place_racks(const dls_place_index *index); /* the nodes of a rack are equal */
DLS_API int32_t dls_place_types(const dls_place_index *index); /* GPU types */
DLS_API int32_t dls_place_type(const dls_place_index *index, int32_t node);
DLS_API int32_t dls_place_busy_nodes(const dls_place_index *index); /* of all types, with a GPU in use */
DLS_API int32_t dls_place_capacity(const dls_place_index *index, int32_t node);
DLS_API int32_t dls_place_free(const dls_place_index *index, int32_t node);
DLS_API int32_t dls_place_rack(const dls_place_index *index, int32_t node);
/* First node of the rack, and one past its last. */
DLS_API void dls_place_rack_range(const dls_place_index *index, int32_t rack, int32_t *first,
                                  int32_t *end);
DLS_API int32_t dls_place_max_gpus(const dls_place_index *index, int32_t type); /* of any node */
DLS_API int64_t dls_place_free_gpus(const dls_place_index *index, int32_t type); /* of all nodes */
/* How often GPUs of the type were taken or given back: what was found out from the index about this type
 * holds while it stands still. */
DLS_API uint64_t dls_place_changes(const dls_place_index *index, int32_t type);
/* How many nodes of the type have `gpus` GPUs, free or not. */
DLS_API int32_t dls_place_sizes(const dls_place_index *index, int32_t type, int32_t gpus);
/* How many of the node's free GPUs its free CPU and memory allow the request to use. */
DLS_API int32_t dls_place_cpu_limit(const dls_place_index *index, const dls_request *r,
                                    int32_t node);
/* How many nodes of the type have exactly free_gpus free GPUs. */
DLS_API int32_t dls_place_count(const dls_place_index *index, int32_t type, int32_t free_gpus);
/* Lowest node >= from with min..max free GPUs that also has the CPU and memory for `min` GPUs of r. */
DLS_API int32_t dls_place_first(const dls_place_index *index, const dls_request *r, int32_t min,
                                int32_t max, int32_t from);
/* A node with the fewest free GPUs that are at least min (lowest id): best fit. */
DLS_API int32_t dls_place_best(const dls_place_index *index, const dls_request *r, int32_t min);
/* The lowest rack >= from with at least `nodes` nodes of exactly free_gpus free GPUs. */
DLS_API int32_t dls_place_first_rack(const dls_place_index *index, int32_t type, int32_t free_gpus,
                                     int32_t nodes, int32_t from);
/* The rack with the most nodes of exactly free_gpus free GPUs (lowest id) and how many. */
DLS_API int32_t dls_place_fullest_rack(const dls_place_index *index, int32_t type,
                                       int32_t free_gpus, int32_t *nodes);

/* One node's share of a grant. */
typedef struct dls_place_part {
    int32_t node, gpus;
} dls_place_part;

/* What a placement answers: the engine hands an empty one to `place`; others are for trials. */
typedef struct dls_grant dls_grant;
/* An empty grant of the caller's, for trials; NULL: out of memory. */
DLS_API dls_grant *dls_grant_create(void);
DLS_API void dls_grant_destroy(dls_grant *grant); /* NULL is allowed */
/* Empty it; its memory is kept. */
DLS_API void dls_grant_reset(dls_grant *grant);
/* What was added: [n] nodes, each once, in the order in which they were first named; borrowed until the
 * grant changes. NULL and n = 0 if nothing was, or if memory did not suffice. O(1). */
DLS_API const dls_place_part *dls_grant_parts(const dls_grant *grant, size_t *n);
/* How a gang on these n >= 1 nodes of one type is spread. O(n) where the nodes of a rack stand together,
 * O(n x racks) else. */
DLS_API dls_shape dls_place_shape(const dls_place_index *index, const dls_place_part *part, size_t n);
/* The same for the parts of a grant; false if it has none. */
DLS_API bool dls_grant_shape(const dls_grant *grant, const dls_place_index *index, dls_shape *out);
/* Take `gpus` GPUs of a node; a node may be named more than once. */
DLS_API void dls_grant_add(dls_grant *grant, int32_t node, int32_t gpus);
/* Ask for the job to be held back once, so that its network bursts fall into the pauses of those it
 * shares links with: by this many seconds against the burst of a job that starts at time 0. */
DLS_API void dls_grant_shift(dls_grant *grant, double shift_s);
/* GPUs of the node that this grant has not yet taken. */
DLS_API int32_t dls_grant_left(const dls_grant *grant, const dls_place_index *index, int32_t node);

typedef struct dls_placement_ops {
    uint32_t abi;          /* DLS_POLICY_ABI */
    const char *name;
    const char *summary;
    const dls_option *options; /* NULL: none */
    bool gpus_only;            /* CPU and memory are not accounted under this policy */
    bool needs_prediction;      /* a run without a predictor is refused */
    bool by_job;               /* a refusal is about the job and not about all that ask for the same: the
                                  next of them is asked too, where the scheduler skips what does not fit */
    size_t state_bytes;
    dls_status (*init)(void *state, const dls_place_index *index, const dls_option_value *values,
                       dls_error *err); /* optional */
    void (*fini)(void *state);          /* optional */
    /* Grant exactly r->gpus GPUs and return true, or return false: the job waits. The engine asks
     * only when enough GPUs of the type are free somewhere. */
    bool (*place)(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant);
    /* Optional: what it costs to start the job on r->type now, least first; asked for each type that
     * the job allows and on which its gang fits by number, if need be on GPUs of jobs that then lose them.
     * INFINITY: rather wait; *retry_us may then say until when, as with a refusal. */
    double (*cost)(void *state, const dls_place_index *index, const dls_request *r);
    /* Optional: may the job run beside the running job `host` on the very same GPUs (equal gang, equal
     * type), and how good is that? Asked for waiting jobs that got no GPUs of their own. <= 0: no; of
     * several hosts the greatest value wins. */
    double (*share)(void *state, const dls_place_index *index, const dls_request *r, int32_t host,
                    const dls_shape *host_shape);
    /* Optional: a job got GPUs (its nodes in nodes[n]); a job lost them or finished, and did
     * worked_us of work at the reference since it got them (restoring not counted). */
    void (*started)(void *state, const dls_place_index *index, const dls_request *r,
                    const int32_t *nodes, const int32_t *gpus, size_t n);
    void (*stopped)(void *state, const dls_place_index *index, int32_t job, int64_t now_us,
                    int64_t worked_us);
} dls_placement_ops;

/* ---- registry and plug-ins --------------------------------------------------------------------- */

/* Built-in policies by name, ended by NULL. */
DLS_API const dls_sched_ops *const *dls_scheds(void);
DLS_API const dls_placement_ops *const *dls_placements(void);

/* What a plug-in exports under the name dls_plugin_entry; each list ends with NULL, or is NULL. */
typedef struct dls_plugin {
    uint32_t abi; /* DLS_POLICY_ABI */
    const dls_sched_ops *const *scheds;
    const dls_placement_ops *const *placements;
} dls_plugin;
typedef const dls_plugin *(*dls_plugin_entry_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
