/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scheduling and placement policies: what one must export, and what it may see and do.
 *
 * A policy is one C file with one const table. Built in, the file lies in sim/sched or placement and
 * the build finds it; as a plug-in it is a shared object that exports dls_plugin_entry (below). The
 * code is the same. A policy reads a const view and answers; the engine checks and applies, so a
 * wrong policy gets an error (EPOLICY) and never corrupts a run.
 *
 * Scheduling policies come in three kinds; a table has exactly one of the three functions.
 * - An order: `priority` says where a job stands, smallest (level, key, tie) first, and when that
 *   next changes. The engine keeps the queues and selects; a pass costs only what changed.
 * - A program: `pass` walks the waiting and the running jobs whenever something has happened, and acts
 *   on them one by one. It costs what it walks.
 * - A round: `round` says every so often which allocations there are to be from now on. The engine takes
 *   the difference to what there is: what goes or shrinks frees its GPUs before anything grows or starts,
 *   and what stays the same costs nothing.
 * Orders take gangs as the trace asks for them. Programs and rounds may also choose the GPU type, the nodes
 * and, for elastic jobs, the number of GPUs and the batch, and let jobs join the GPUs of others.
 *
 * Pointers from a view are valid until the callback returns. One run is one thread; a policy keeps
 * its state in the memory that it is given and not in globals, because a process may run many.
 *
 *      #include <dlsim/policy.h>
 *
 *      static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why, dls_priority *out)
 *      {
 *          (void)state;
 *          (void)why;
 *          out->key = view->gpus[job];
 *          out->tie = view->submit_us[job];
 *      }
 *
 *      const dls_sched_ops smallest = {
 *          .abi = DLS_POLICY_ABI, .name = "smallest", .summary = "smallest gang first",
 *          .discipline = DLS_FIT, .priority = priority,
 *      };
 */
#ifndef DLSIM_POLICY_H
#define DLSIM_POLICY_H

#include "dlsim/error.h"
#include "dlsim/random.h"
#include "dlsim/trace.h" /* DLS_ABSENT */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLS_POLICY_ABI 3u
#define DLS_NEVER INT64_MAX /* a time that does not come */

/* ---- options ----------------------------------------------------------------------------------- */

/* What a value is, how it is written in a configuration, and where dls_option_value has it. */
typedef enum dls_option_type {
    DLS_OPT_END = 0,
    DLS_OPT_BOOL, DLS_OPT_I64, DLS_OPT_F64, DLS_OPT_STR,
    DLS_OPT_F64_LIST,  /* numbers within min..max, ascending */
    DLS_OPT_PATH,      /* s: a file, relative to the folder of the configuration that names it */
    DLS_OPT_TIME,      /* f, seconds: "62 s", "1.5h", a bare number; INFINITY is "never", where that is
                          the default */
    DLS_OPT_TIME_LIST, /* times within min..max, ascending; bare numbers are seconds */
    DLS_OPT_BYTES,     /* f: "80 GiB" */
    DLS_OPT_RATE,      /* f, bytes per second: "100 Gb/s" (bits), "12.5 GB/s" (bytes) */
    DLS_OPT_FLOPS,     /* f, operations per second: "15.7 TFLOP/s" */
    DLS_OPT_GROUP,     /* of keys; these two are the configuration's own */
    DLS_OPT_LIST       /* of groups, at most max */
} dls_option_type;

#define DLS_OPT_LIST_MAX 32

/* One option of a policy, or key of a configuration; a policy's table ends with {0}. Shown by `dlsim list`,
 * checked by the loader. */
typedef struct dls_option {
    const char *name;
    dls_option_type type;
    double min, max;     /* inclusive, in the unit of the value; texts: bytes, if max > 0 */
    const char *def;     /* default, written as in a config: "true", "60", "3250,7200", "5 min", "text" */
    const char *unit;    /* of plain numbers, to be shown: "GPU-s"; else "" */
    const char *doc;     /* one line */
    const char *choices; /* STR only: "a|b|c", NULL: any text */
} dls_option;

typedef struct dls_option_value {
    bool b;
    int64_t i;                     /* of choices: which, counted from min */
    double f;                      /* also of an I64 */
    const char *s;                 /* borrowed for the life of the run */
    double list[DLS_OPT_LIST_MAX];
    int32_t n_list;
} dls_option_value;

/* ---- what a scheduling policy sees ------------------------------------------------------------- */

typedef struct dls_engine dls_engine;
typedef struct dls_place_index dls_place_index;
struct dls_shape;
struct dls_prediction;

/* The GPUs that a job has, or is to have, on one node. */
typedef struct dls_place_part {
    int32_t node, gpus;
} dls_place_part;

/* Columns are [n_jobs], indexed by job: 0-based in order of submission. A column of the trace that no
 * job fills is NULL; where a job does not say, there is DLS_ABSENT (-1), also for codes (dls_view_name). */
typedef struct dls_view {
    int64_t now_us;
    int32_t n_jobs;
    const int32_t *gpus;           /* gang size that the trace asks for */
    const int32_t *min_gpus, *max_gpus; /* that an elastic job can use; both are `gpus` if none is elastic */
    const int32_t *held_gpus;      /* GPUs held now, its host's if it has joined one; 0; NULL under orders */
    const int8_t *held_type;       /* type of the GPUs held, -1 */
    const int32_t *user, *vc, *model, *job_class; /* codes; user and job_class may be NULL */
    const int64_t *batch;          /* global batch size of the trace */
    const int64_t *priority;       /* larger is more important */
    const int64_t *deadline_us;    /* absolute */
    const int64_t *limit_us;       /* run time limit of the user */
    const int32_t *starts;         /* times the job got GPUs */
    const int32_t *failures;       /* times its GPUs failed; NULL: nothing fails */
    const int64_t *submit_us;
    const int64_t *duration_us;    /* run time at the reference rate, for policies that know it: true; or
                                      estimate_us if run times are to come from a predictor, but in
                                      `init`, where it is what a history of such jobs would show */
    const int64_t *estimate_us;    /* predicted run time, for those that do not; never absent */
    const int64_t *first_start_us; /* -1: never started */
    const int64_t *since_us;       /* when the job got its present state */
    const int64_t *progress_us;    /* of a running job: from when on it progresses, restored */
    const uint8_t *running;        /* 1: holds GPUs */
    int64_t total_gpus, free_gpus;
    int32_t running_jobs, waiting_jobs;
    int32_t n_types;               /* of GPUs */
    int32_t arrived, ended;        /* jobs that came, and that finished, since the last pass or round */
    uint64_t seed;
    uint64_t pass;                 /* number of the scheduling pass */
    const dls_engine *engine;
    /* Behind here what came later: plug-ins built before it do not look at it. */
    const int64_t *nodes;          /* column: over how many the trace asks for GPUs, or that were used */
    const int64_t *gpus_milli;     /* thousandths of GPUs that the trace asks for; NULL: whole GPUs, 1000 x gpus */
} dls_view;

/* GPU-microseconds of service, at most 2^61, so that what is computed from it fits. */
static inline int64_t dls_service_us(int64_t run_us, int32_t gpus)
{
    int64_t service_us;
    return __builtin_mul_overflow(run_us, gpus, &service_us) || service_us > INT64_MAX / 4 ? INT64_MAX / 4 : service_us;
}
/* Seconds of service are time spent running, without restoring; x GPUs = attained service. */
DLS_API int64_t dls_view_executed_us(const dls_view *view, int32_t job);
/* Run time left, for policies that know it: at the rate at which the job progresses now, or did when it
 * last held GPUs; at the reference rate before its first start. If run times come from a predictor: the
 * predicted one less what has been executed and not lost, at least 1. */
DLS_API int64_t dls_view_remaining_us(const dls_view *view, int32_t job);
/* When the checkpoint that a running job is taking will be written; now if it is taking none. */
DLS_API int64_t dls_view_saved_us(const dls_view *view, int32_t job);
/* What a code of a column means, as in the trace; "" for -1. DLS_NAME_ID: of a job, its id. DLS_NAME_ORIGIN: of a job,
 * the id of the one that it is a copy of (dlsim whatif --load); "": it is none. */
typedef enum dls_name { DLS_NAME_USER, DLS_NAME_VC, DLS_NAME_MODEL, DLS_NAME_CLASS,
                        DLS_NAME_ID, DLS_NAME_ORIGIN } dls_name;
DLS_API const char *dls_view_name(const dls_view *view, dls_name what, int32_t code);
/* GPU types by index; GPUs of a type that are free, and in all. */
DLS_API const char *dls_view_type_name(const dls_view *view, int32_t type);
DLS_API int64_t dls_view_free_gpus(const dls_view *view, int32_t type);
DLS_API int64_t dls_view_total_gpus(const dls_view *view, int32_t type);
/* Of the free ones, those that the quota of the job's virtual cluster leaves it. */
DLS_API int64_t dls_view_quota_gpus(const dls_view *view, int32_t job, int32_t type);
/* The most of these of one type that the job may run on: dls_act_start wants its gang within them. O(types). */
DLS_API int64_t dls_view_room(const dls_view *view, int32_t job);
/* Jobs with the same number share a quota, that of their virtual cluster or what the quotas leave; *gpus:
 * what they may hold of the type together. */
DLS_API int32_t dls_view_pool(const dls_view *view, int32_t job, int32_t type, int64_t *gpus);
/* GPUs of the type that its quota leaves the job when none is down, and the empty cluster gives it; 0: not for it. */
DLS_API int64_t dls_view_most_gpus(const dls_view *view, int32_t job, int32_t type);
/* The types that a job may run on: bit t for type t; 0: it can never run here. */
DLS_API uint32_t dls_view_types(const dls_view *view, int32_t job);
/* CPU (1/1000 core) and memory (MiB) that go with each of its GPUs; 0: not accounted. */
DLS_API int64_t dls_view_cpu_per_gpu(const dls_view *view, int32_t job);
DLS_API int64_t dls_view_mem_per_gpu(const dls_view *view, int32_t job);
/* Where a running job is: at most `most` parts into out[], all of one type. Returns how many there are. */
DLS_API size_t dls_view_nodes(const dls_view *view, int32_t job, dls_place_part *out, size_t most);
DLS_API int32_t dls_view_part(const dls_view *view, int32_t job); /* thousandths of a GPU: below 1000 on a part */
/* The running job whose GPUs a job has joined, -1: it has its own. */
DLS_API int32_t dls_view_host(const dls_view *view, int32_t job);
/* Global batch size that a job trains with now, or would with the next start; DLS_ABSENT. */
DLS_API int64_t dls_view_batch(const dls_view *view, int32_t job);
/* Attained service: GPUs x time spent running without restoring, on one type or on all (type -1), in
 * GPU-microseconds. By type for programs and rounds only. O(1). */
DLS_API int64_t dls_view_service_us(const dls_view *view, int32_t job, int32_t type);
/* The nodes and their free GPUs: what the dls_place_ functions below take. */
DLS_API const dls_place_index *dls_view_index(const dls_view *view);
/* The run ends with an error (EPOLICY) that says this when the callback has returned: for callbacks that
 * return no status. The first call counts; the text is cut at 511 bytes. */
DLS_API void dls_policy_fail(const dls_place_index *index, const char *fmt, ...) DLS_PRINTF(2, 3);
/* The policy did something else than it should have, because that could not be done (an infeasible
 * programme, a solver's limit), as its documentation says: counted in the summary. */
DLS_API void dls_policy_fallback(const dls_view *view);
/* What the configured predictor says of a submitted job on a shape, any number of GPUs within its range (as of
 * dls_view_speed). false: no predictor, or nothing known; *out is then all NAN. */
DLS_API bool dls_view_predict(const dls_view *view, int32_t job, const struct dls_shape *shape,
                              struct dls_prediction *out);
/* How fast a job says it does its work on a shape and with a global batch (DLS_ABSENT: that of the trace),
 * over its gang of the trace on GPUs of that type: what it has been profiled to do (perf.elastic), before
 * what the world takes away. 1 for the gang; NAN beyond min_gpus..max_gpus or the empty cluster. O(log rows). */
DLS_API double dls_view_speed(const dls_view *view, int32_t job, const struct dls_shape *shape, int64_t batch);
/* The policy's own zero-initialised bytes for a job (job_state_bytes of the table). */
DLS_API void *dls_view_job_state(const dls_view *view, int32_t job);
/* Waiting jobs in order of submission, running ones in order of their last start; -1 ends. The job that a
 * walk stands at may be started or preempted. O(1) a step of the waiting, O(log jobs) of the running. Under
 * orders, which do not walk, both in order of submission, and a walk is O(jobs). */
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

/* Why `priority` is asked. Under DLS_EASY never about a running job: such stand where they are expected to end. */
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

/* An allocation. {.type = -1} is the gang as the trace asks for it, wherever the placement likes it. */
typedef struct dls_want {
    int32_t type;   /* -1: any that the job allows, the cheapest first if the placement knows costs */
    int32_t gpus;   /* 0: as the trace asks; else within min_gpus..max_gpus of the view */
    int64_t batch;  /* global; 0: as it is */
    const dls_place_part *nodes; /* [n_nodes] exactly these, of one type unless `mixes`; NULL: the placement's */
    int32_t n_nodes;
} dls_want;

typedef struct dls_actions dls_actions;
/* For `pass`, applied in the order of the calls. Starting a job that does not fit, or one that is not
 * waiting, and preempting one that is not running, are errors of the policy. A start that the
 * placement refuses leaves the job waiting and returns false. */
DLS_API bool dls_act_start(dls_actions *out, int32_t job);
DLS_API void dls_act_preempt(dls_actions *out, int32_t job);
/* Give a waiting job an allocation, or a running one another: that is one restart, none if it is what it
 * has. A refusal (false) leaves the job as it was. GPUs that are not free, beyond the quota or outside
 * what the job can use are errors. */
DLS_API bool dls_act_allocate(dls_actions *out, int32_t job, const dls_want *want);
/* A waiting job runs on the GPUs of a running one beside it, which has its own, all of one type: up to
 * DLS_GROUP_MAX jobs together. It must be able to use as many GPUs of that type. When the host goes first, the
 * eldest of the others has the GPUs; if it is preempted, they wait. False: the GPUs have not the memory, or, with
 * `parts`, not the part, or their node not the CPU or memory. Only for tables with `joins`. */
#define DLS_GROUP_MAX 8
DLS_API bool dls_act_join(dls_actions *out, int32_t job, int32_t host);
/* Turn a waiting job away for good: it ends as declined. */
DLS_API void dls_act_decline(dls_actions *out, int32_t job);
/* Another pass at this time; of several calls before it the earliest counts. */
DLS_API void dls_act_wake(dls_actions *out, int64_t at_us);

/* ---- rounds ------------------------------------------------------------------------------------- */

typedef struct dls_round_timing {
    int64_t interval_us; /* > 0, DLS_NEVER: the first alone; rounds are at the first submission and whole
                            intervals after it, while there are jobs */
    bool on_arrival;     /* one more at once when jobs come, */
    bool on_end;         /* or finish or lose their GPUs to a failure */
} dls_round_timing;

typedef struct dls_plan dls_plan;
/* What there is to be after the round; a job that is not named has no GPUs, one that is named twice is an
 * error. Errors are those of the dls_act_ functions. In the order of the calls, larger allocations first,
 * the placement is asked for those that change; a job that it refuses waits. O(1) each. */
DLS_API void dls_plan_set(dls_plan *plan, int32_t job, const dls_want *want);
DLS_API void dls_plan_keep(dls_plan *plan, int32_t job); /* running: as it is; it waits if its host loses its GPUs */
DLS_API void dls_plan_keep_all(dls_plan *plan); /* running jobs that are not named are as they are */
DLS_API void dls_plan_join(dls_plan *plan, int32_t job, int32_t host); /* as dls_act_join; waits if its host does */
DLS_API void dls_plan_decline(dls_plan *plan, int32_t job); /* a running one, too: it ends there */

/* What a stretch of running has shown: a policy that learns may use this and nothing else. */
typedef struct dls_observation {
    int32_t job, type, gpus, n_nodes, n_racks;
    int64_t batch;        /* DLS_ABSENT */
    int64_t executed_us;  /* time without restoring, > 0 */
    double iteration_s;   /* mean time of a training step in it; NAN without a performance model */
    double rate;          /* work done per time, 1 at the reference with the gang of the trace */
} dls_observation;
/* What a running job has shown so far at the speed that it has had until now: since it started, or that last
 * changed. false, and *out is as it was: it does not run, or has not progressed at that speed. O(its nodes). */
DLS_API bool dls_view_observed(const dls_view *view, int32_t job, dls_observation *out);

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
                       dls_error *err);                                /* ... or a program ... */
    dls_status (*round)(void *state, const dls_view *view, dls_plan *plan,
                        dls_error *err);                               /* ... or a round, ... */
    void (*timing)(const void *state, dls_round_timing *out); /* ... which has this too: asked once, after init */
    bool joins;                                                        /* jobs may share GPUs */
    bool rigid; /* programs, rounds: jobs get their gang and nothing else; what has no room for it is infeasible */
    bool mixes; /* named nodes may be of several GPU types: as fast as on the slowest, held_type is the first's */
    /* Optional, at arrival: false turns the job away. */
    bool (*admit)(void *state, const dls_view *view, int32_t job);
    /* Optional: a stretch of one rate is over. */
    void (*seen)(void *state, const dls_view *view, const dls_observation *what);
    void (*share)(void *state, const dls_view *view, dls_groups *groups); /* optional, orders only */
    /* Needed where there is a `fini`, if simulations are to be cloned: `state` holds a copy of the bytes of
     * `from`, the state of another simulation. Set what points to memory of `from` to NULL and then copy
     * it (dls_duplicate); after a failure `fini` is called. view is the clone's. A job's bytes are copied
     * and must not point to memory. */
    dls_status (*clone)(void *state, const void *from, const dls_view *view, dls_error *err);
} dls_sched_ops;

/* ---- GPU types ---------------------------------------------------------------------------------- */

/* One real GPU; figures of the vendor's data sheets. 0: unknown. */
typedef struct dls_gpu_type {
    char name[48];
    double mem_gib;
    double mem_bps;      /* memory bandwidth, bytes per second */
    double fp32_flops;   /* floating-point operations per second, vector units */
    double tensor_flops; /* dense, lowest of fp16/bf16 matrix units; 0: has none */
    double peer_bps;     /* GPU to GPU inside a node, bytes per second and direction */
    double board_w;      /* the board's limit as it comes */
    double static_w;     /* on, nothing to do; measured */
} dls_gpu_type;
/* All that are known: [*n] */
DLS_API const dls_gpu_type *dls_gpu_table(size_t *n);

/* ---- placement --------------------------------------------------------------------------------- */

#define DLS_TYPES_MAX 16 /* GPU types in one cluster */
#define DLS_GPUS_PER_NODE_MAX 64

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
    const struct dls_pace *pace; /* came later: asked through dls_place_gpu_speed */
    int32_t gpu_milli;          /* thousandths of each GPU: 1000, or a part of one (gpus is 1) */
    uint32_t types;             /* all that the job may run on: bit t for type t */
} dls_request;

/* Prediction for the request's job, or for another running or waiting one. false: no predictor, or
 * nothing known of the job; *out is then all NAN. O(1). */
DLS_API bool dls_place_predict(const dls_request *r, int32_t job, const dls_shape *shape, dls_prediction *out);
/* The candidate shapes of the request's job, best known first by predicted remaining time; borrowed. */
DLS_API const dls_shape *dls_place_candidates(const dls_request *r, size_t *n);
/* For `started`: from now on the bursts of the job that starts, or of a running one, begin at this time and again
 * every iteration, measured as with dls_grant_shift. Free for a running job: it takes less than an iteration. */
DLS_API void dls_place_turn(const dls_request *r, int32_t job, double shift_s);
/* The random stream of (seed, job, attempt): two schedulers that place the same job in the same cluster
 * draw the same. */
DLS_API dls_rng dls_place_random(const dls_request *r);
/* For `started` likewise: which of the equal paths between racks ([0, dls_place_paths)) the job that starts, or
 * a running one, uses from now on, and with which priority it is served on links ([0, DLS_LINK_LEVELS), 0
 * first): links give a level what the levels before it leave. Without it: a path by a hash, level 0. */
#define DLS_LINK_LEVELS 8
DLS_API void dls_place_route(const dls_request *r, int32_t job, int32_t path, int32_t level);
/* How many equal paths there are between two racks. */
DLS_API int32_t dls_place_paths(const dls_place_index *index);
/* Bandwidth of a node's network link and of its rack's uplinks together, bytes per second; 0: not limiting. */
DLS_API double dls_place_nic_bps(const dls_place_index *index, int32_t node);
DLS_API double dls_place_uplink_bps(const dls_place_index *index, int32_t rack);
/* Memory of one GPU of a type, bytes; 0: unknown. */
DLS_API double dls_place_gpu_mem_bytes(const dls_place_index *index, int32_t type);

/* The node's free GPUs: bit g for GPU g. */
DLS_API uint64_t dls_place_free_mask(const dls_place_index *index, int32_t node);
/* Profiled speed of the request's job on a GPU, over that on the fastest for jobs of its class, 0 < speed <= 1
 * (perf.variability); 1: alike, as far as is known. A gang is as fast as its slowest GPU. O(1). */
DLS_API double dls_place_gpu_speed(const dls_place_index *index, const dls_request *r, int32_t node, int32_t gpu);

/* Thousandths that a job could have of a GPU, 0 if it is taken whole or down; of MIG the largest slice. O(1). */
DLS_API int32_t dls_place_gpu_left(const dls_place_index *index, int32_t node, int32_t gpu);
/* What so many jobs of the trace ask for: the i-th kind of request; 0: there are no more. For `init` alone. */
DLS_API int64_t dls_place_demand(const dls_place_index *index, size_t i, dls_request *out);
/* What a node has free of CPU (1/1000 core) and memory (MiB); 0 where it is not accounted. */
DLS_API int64_t dls_place_free_cpu(const dls_place_index *index, int32_t node);
DLS_API int64_t dls_place_free_mem(const dls_place_index *index, int32_t node);
/* Peak of its vector units (fp32), floating-point operations per second; 0: unknown. */
DLS_API double dls_place_gpu_flops(const dls_place_index *index, int32_t type);

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
DLS_API void dls_place_rack_range(const dls_place_index *index, int32_t rack, int32_t *first, int32_t *end);
DLS_API int32_t dls_place_max_gpus(const dls_place_index *index, int32_t type); /* of any node */
/* A gang of GPUs of a type on as few nodes as hold it, in one rack: what there may be at best. */
static inline dls_shape dls_view_packed(const dls_view *view, int32_t type, int64_t gpus)
{
    const int32_t node = dls_place_max_gpus(dls_view_index(view), type);
    dls_shape shape;
    shape.type = type;
    shape.gpus = (int32_t)gpus;
    shape.n_nodes = node > 0 ? (int32_t)((gpus + node - 1) / node) : 1;
    shape.n_racks = 1;
    return shape;
}
DLS_API int64_t dls_place_free_gpus(const dls_place_index *index, int32_t type); /* of all nodes */
/* How often GPUs of the type were taken or given back: what was found out from the index about this type
 * holds while it stands still. */
DLS_API uint64_t dls_place_changes(const dls_place_index *index, int32_t type);
/* How many nodes of the type have `gpus` GPUs, free or not. */
DLS_API int32_t dls_place_sizes(const dls_place_index *index, int32_t type, int32_t gpus);
/* How many of the node's free GPUs its free CPU and memory allow the request to use. */
DLS_API int32_t dls_place_cpu_limit(const dls_place_index *index, const dls_request *r, int32_t node);
/* How many nodes of the type have exactly free_gpus free GPUs. */
DLS_API int32_t dls_place_count(const dls_place_index *index, int32_t type, int32_t free_gpus);
/* Lowest node >= from with min..max free GPUs that also has the CPU and memory for `min` GPUs of r. */
DLS_API int32_t dls_place_first(const dls_place_index *index, const dls_request *r, int32_t min,
                                int32_t max, int32_t from);
/* A node with the fewest free GPUs that are at least min (lowest id): best fit. */
DLS_API int32_t dls_place_best(const dls_place_index *index, const dls_request *r, int32_t min);
/* The lowest rack >= from with at least `nodes` nodes of exactly free_gpus free GPUs. */
DLS_API int32_t dls_place_first_rack(const dls_place_index *index, int32_t type, int32_t free_gpus, int32_t nodes,
                                     int32_t from);
/* The rack with the most nodes of exactly free_gpus free GPUs (lowest id) and how many. */
DLS_API int32_t dls_place_fullest_rack(const dls_place_index *index, int32_t type, int32_t free_gpus, int32_t *nodes);

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
/* The same for exactly these GPUs of it (dls_place_free_mask), and for none by number alone. */
DLS_API void dls_grant_add_gpus(dls_grant *grant, int32_t node, uint64_t gpus);
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
    bool parts;                /* it is asked for parts of GPUs and names whose; without, the engine fills GPUs up */
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
    /* As that of a scheduler; index is the clone's. */
    dls_status (*clone)(void *state, const void *from, const dls_place_index *index, dls_error *err);
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
