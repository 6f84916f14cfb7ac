/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The keys of a configuration: one table for checking, defaults, documentation and the resolved
 * text.
 *
 * A path is "key", "group.key", or "group.list[].key" for a key of a list's elements; the keys of a
 * list stand behind it. Beside these, the groups "scheduler" and "placement" take the options of
 * the chosen policy, which bring their own tables (dls_option).
 */
#ifndef DLS_CONFIG_SCHEMA_H
#define DLS_CONFIG_SCHEMA_H

#include "base/units.h"
#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum dls_key_type {
    DLS_KEY_GROUP,
    DLS_KEY_LIST, /* of groups; max: most elements */
    DLS_KEY_BOOL,
    DLS_KEY_INT,
    DLS_KEY_FLOAT,
    DLS_KEY_STRING, /* max: most bytes */
    DLS_KEY_CHOICE,
    DLS_KEY_TIME, /* the rest: a quantity with a unit (base/units.h); min and max in its base unit
                   */
    DLS_KEY_BYTES,
    DLS_KEY_RATE,
    DLS_KEY_FLOPS
} dls_key_type;

typedef struct dls_key {
    const char *path;
    dls_key_type type;
    const char *def;     /* NULL: must be given; lists: "" */
    double min, max;     /* inclusive */
    const char *choices; /* "a|b|c" */
    const char *example; /* for a key that must be given */
    const char *doc;
} dls_key;

/* XX(id, path, type, default, min, max, choices, example, doc) */
#define DLS_KEY_MAP(XX)                                                                            \
    XX(SCHEMA_VERSION, "schema_version", INT, NULL, 1, 1, NULL, "1",                               \
       "Version of this table. A file must say which one it is written for.")                      \
    XX(NAME, "name", STRING, "", 0, 200, NULL, NULL, "What the run is called in the results.")     \
    XX(CLUSTER, "cluster", GROUP, "", 0, 0, NULL, NULL, "What the cluster is made of.")            \
    XX(RACK_UPLINK, "cluster.rack_uplink", RATE, "0", 0, 1e15, NULL, NULL,                         \
       "Link from a rack's switch to the core, per direction; 0: not limiting.")                   \
    XX(CORE, "cluster.core", RATE, "0", 0, 1e15, NULL, NULL,                                       \
       "What the core carries between all racks, per direction; 0: not limiting.")                 \
    XX(NODES, "cluster.nodes", LIST, "", 0, 4096, NULL, NULL, "Groups of equal nodes.")            \
    XX(NODE_NAME, "cluster.nodes[].name", STRING, "", 0, 47, NULL, NULL,                           \
       "Name of the group; empty: group0, group1, ...")                                            \
    XX(NODE_COUNT, "cluster.nodes[].count", INT, NULL, 1, 4194304, NULL, "32", "How many nodes.")  \
    XX(NODE_GPUS, "cluster.nodes[].gpus", INT, NULL, 1, 64, NULL, "8", "GPUs of a node.")          \
    XX(NODE_GPU_TYPE, "cluster.nodes[].gpu_type", STRING, NULL, 1, 47, NULL, "V100",               \
       "One of 'dlsim list gpus' or of cluster.gpu_types.")                                        \
    XX(NODE_RACK_SIZE, "cluster.nodes[].rack_size", INT, "0", 0, 4194304, NULL, NULL,              \
       "Nodes behind one switch; 0: the whole group in one rack.")                                 \
    XX(NODE_CPUS, "cluster.nodes[].cpus", FLOAT, "0", 0, 1e6, NULL, NULL,                          \
       "CPU cores of a node; 0: not accounted.")                                                   \
    XX(NODE_MEMORY, "cluster.nodes[].memory", BYTES, "0", 0, 1e15, NULL, NULL,                     \
       "Main memory of a node; 0: not accounted.")                                                 \
    XX(NODE_NIC, "cluster.nodes[].nic", RATE, "0", 0, 1e15, NULL, NULL,                            \
       "Network link of a node, per direction; 0: unknown.")                                       \
    XX(TYPES, "cluster.gpu_types", LIST, "", 0, 16, NULL, NULL,                                    \
       "GPU types of your own, or with figures other than those of 'dlsim list gpus'.")            \
    XX(TYPE_NAME, "cluster.gpu_types[].name", STRING, NULL, 1, 47, NULL, "MYGPU",                  \
       "Name of the type.")                                                                        \
    XX(TYPE_MEMORY, "cluster.gpu_types[].memory", BYTES, "0", 0, 1e15, NULL, NULL,                 \
       "Memory of a GPU; 0: unknown.")                                                             \
    XX(TYPE_MEMORY_RATE, "cluster.gpu_types[].memory_rate", RATE, "0", 0, 1e18, NULL, NULL,        \
       "Memory bandwidth; 0: unknown.")                                                            \
    XX(TYPE_FP32, "cluster.gpu_types[].fp32", FLOPS, "0", 0, 1e21, NULL, NULL,                     \
       "Peak of the fp32 vector units; 0: unknown.")                                               \
    XX(TYPE_TENSOR, "cluster.gpu_types[].tensor", FLOPS, "0", 0, 1e21, NULL, NULL,                 \
       "Dense peak of the 16-bit matrix units; 0: has none.")                                      \
    XX(TYPE_PEER, "cluster.gpu_types[].peer", RATE, "0", 0, 1e18, NULL, NULL,                      \
       "GPU to GPU inside a node, per direction; 0: unknown.")                                     \
    XX(VCS, "cluster.virtual_clusters", LIST, "", 0, 4096, NULL, NULL,                             \
       "Virtual clusters with a quota; jobs of others share what the quotas leave. A name may be " \
       "repeated, once per GPU type.")                                                             \
    XX(VC_NAME, "cluster.virtual_clusters[].name", STRING, NULL, 1, 47, NULL, "vc0",               \
       "Name as in the trace.")                                                                    \
    XX(VC_GPUS, "cluster.virtual_clusters[].gpus", INT, NULL, 0, 2147483647, NULL, "64", "Quota.") \
    XX(VC_GPU_TYPE, "cluster.virtual_clusters[].gpu_type", STRING, "", 0, 47, NULL, NULL,          \
       "GPU type of the quota; may be left out when the cluster has one type.")                    \
    XX(TRACE, "trace", GROUP, "", 0, 0, NULL, NULL, "The jobs.")                                   \
    XX(TRACE_PATH, "trace.path", STRING, "", 0, 4095, NULL, NULL,                                  \
       "File, plain or gzip, relative to the configuration's folder; --trace sets it.")            \
    XX(TRACE_FORMAT, "trace.format", STRING, "auto", 1, 63, NULL, NULL,                            \
       "One of 'dlsim list formats', or auto: recognised from the first bytes.")                   \
    XX(TRACE_ZERO, "trace.zero_duration", CHOICE, "raise", 0, 0, "raise|keep|drop", NULL,          \
       "Jobs of zero or negative duration: raise to 1 s, keep at 0, or leave out.")                \
    XX(TRACE_DUPLICATES, "trace.allow_duplicate_ids", BOOL, "false", 0, 0, NULL, NULL,             \
       "Accept ids that repeat.")                                                                  \
    XX(TRACE_MAX_JOBS, "trace.max_jobs", INT, "0", 0, 1e9, NULL, NULL,                             \
       "Read at most so many rows; 0: all.")                                                       \
    XX(TRACE_SPAN, "trace.philly_span", BOOL, "false", 0, 0, NULL, NULL,                           \
       "Philly's own log: duration from the first start to the last end, gaps inside.")            \
    XX(TRACE_SWF, "trace.swf_processor_is_gpu", BOOL, "false", 0, 0, NULL, NULL,                   \
       "SWF logs: take a processor for a GPU.")                                                    \
    XX(TRACE_ASSIGN, "trace.assign", STRING, "", 0, 4095, NULL, NULL,                              \
       "Table that gives jobs without a model one: a built-in table's name ('dlsim list "          \
       "assignments'), or a file, relative to the configuration's folder; empty: none.")           \
    XX(SCHEDULER, "scheduler", GROUP, "", 0, 0, NULL, NULL,                                        \
       "Who runs next. Also takes the options of the chosen scheduler.")                           \
    XX(SCHED_NAME, "scheduler.name", STRING, "fifo", 1, 47, NULL, NULL,                            \
       "One of 'dlsim list schedulers'; --scheduler sets it.")                                     \
    XX(DISCIPLINE, "scheduler.discipline", CHOICE, "default", 0, 0,                                \
       "default|strict|fit|easy|preempt", NULL,                                                    \
       "How jobs are taken in the scheduler's order: strict stops at the first that does not "     \
       "fit, "                                                                                     \
       "fit skips it, easy skips without delaying it, preempt also takes GPUs away; default: the " \
       "scheduler's own.")                                                                         \
    XX(RESTORE, "scheduler.restore_cost", TIME, "62 s", 0, 31557600, NULL, NULL,                   \
       "Time to restore a job at every start but the first, GPUs held.")                           \
    XX(ESTIMATES, "scheduler.estimates", CHOICE, "exact", 0, 0, "exact|limit|predictor", NULL,     \
       "Run time that a scheduler believes of a job without an estimate in the trace: exact, its " \
       "true duration; limit, its time limit, else the mean duration; predictor: what the "        \
       "predictor says, of every job.")                                                            \
    XX(PLACEMENT, "placement", GROUP, "", 0, 0, NULL, NULL,                                        \
       "On which GPUs. Also takes the options of the chosen placement.")                           \
    XX(PLACEMENT_NAME, "placement.name", STRING, "consolidated", 1, 47, NULL, NULL,                \
       "One of 'dlsim list placements'; --placement sets it.")                                     \
    XX(RUN, "run", GROUP, "", 0, 0, NULL, NULL, "How the simulation is run.")                      \
    XX(SEED, "run.seed", INT, "1", 0, 9223372036854775807.0, NULL, NULL,                           \
       "Seed of all random numbers; --seed sets it.")                                              \
    XX(UNTIL, "run.until", TIME, "never", 0, 31557600000.0, NULL, NULL,                            \
       "Stop before the first event after this simulated time; --until sets it.")                  \
    XX(AUDIT, "run.audit", BOOL, "false", 0, 0, NULL, NULL,                                        \
       "Check every invariant after every event (slow).")                                          \
    XX(PERF, "perf", GROUP, "", 0, 0, NULL, NULL,                                                  \
       "How fast a job runs where it is placed: the truth.")                                       \
    XX(PERF_MODEL, "perf.model", CHOICE, "trace", 0, 0, "trace|table|operator", NULL,              \
       "trace: as long as the trace says, wherever it is placed; table: measured "                 \
       "throughputs; operator: the operator-level model with a residual that no predictor "        \
       "sees (docs/world.md).")                                                                    \
    XX(PERF_TABLE, "perf.table", STRING, "", 0, 4095, NULL, NULL,                                  \
       "Measured throughputs for perf.model = \"table\", relative to the configuration's "         \
       "folder.")                                                                                  \
    XX(PERF_ELASTIC, "perf.elastic", STRING, "", 0, 4095, NULL, NULL,                              \
       "Speeds of elastic jobs on other numbers of GPUs than they ask for, relative to the "       \
       "configuration's folder (docs/policies.md).")                                               \
    XX(PERF_HARDWARE, "perf.hardware", STRING, "", 0, 4095, NULL, NULL,                            \
       "Folder with gpus.cfg, links.cfg and operator.cfg, relative to the configuration's; "       \
       "empty: the usual places.")                                                                 \
    XX(PERF_HOST, "perf.host", STRING, "", 0, 63, NULL, NULL,                                      \
       "Host constants of the operator model, a name in operator.cfg; empty: none.")               \
    XX(PERF_FABRIC, "perf.fabric", STRING, "", 0, 63, NULL, NULL,                                  \
       "Fabric constants of the operator model, a name in operator.cfg; empty: from the "          \
       "cluster's links.")                                                                         \
    XX(PERF_EXCHANGE, "perf.exchange", CHOICE, "allreduce", 0, 0, "allreduce|ps-sync|ps-async",    \
       NULL, "How the workers of a job exchange gradients.")                                       \
    XX(PERF_NUMERIC, "perf.numeric", CHOICE, "fp32", 0, 0, "fp32|tf32|fp16", NULL,                 \
       "Numbers that jobs compute with.")                                                          \
    XX(PERF_REFERENCE, "perf.reference_gpu", STRING, "", 0, 47, NULL, NULL,                        \
       "GPU type on which the trace's durations are taken as measured; empty: the cluster's "      \
       "first.")                                                                                   \
    XX(PERF_RESIDUAL, "perf.residual_sigma", FLOAT, "0.1", 0, 2, NULL, NULL,                       \
       "Standard deviation of the logarithm of the residual per model and GPU type that the "      \
       "operator truth carries for jobs in one node.")                                             \
    XX(PERF_NET_RESIDUAL, "perf.network_residual_sigma", FLOAT, "0.16", 0, 2, NULL, NULL,          \
       "The same for jobs in several nodes, per model, GPU type and link speed.")                  \
    XX(PERF_CONTENTION, "perf.contention", BOOL, "true", 0, 0, NULL, NULL,                         \
       "Jobs share links; false: each has every link to itself.")                                  \
    XX(PERF_KNEE, "perf.interference_knee", FLOAT, "0.8", 0, 2, NULL, NULL,                        \
       "Summed utilisation of the jobs on a shared GPU from which on they slow each other "        \
       "down.")                                                                                    \
    XX(PERF_SLOPE, "perf.interference_slope", FLOAT, "0.31", 0, 2, NULL, NULL,                     \
       "Speed lost for each unit of utilisation beyond the knee.")                                 \
    XX(PREDICTOR, "predictor", GROUP, "", 0, 0, NULL, NULL, "What policies may know in advance.")  \
    XX(PRED_SOURCE, "predictor.source", STRING, "none", 1, 47, NULL, NULL,                         \
       "none, or one of 'dlsim list predictors'; --predictor sets it.")                            \
    XX(PRED_SIGMA, "predictor.sigma", FLOAT, "0.2", 0, 5, NULL, NULL,                              \
       "Source noisy: standard deviation of the logarithm of the error.")                          \
    XX(PRED_WEIGHTS, "predictor.weights", STRING, "", 0, 4095, NULL, NULL,                         \
       "Source driple: weights file, relative to the configuration's folder; empty: the "          \
       "shipped one. Sources justus and habitat: file of dlsim train --baseline; empty, "          \
       "habitat: its rule alone.")                                                                 \
    XX(PRED_BACKEND, "predictor.backend", CHOICE, "auto", 0, 0, "auto|cpu|cuda", NULL,             \
       "Source driple: what evaluates the inspector.")                                             \
    XX(PRED_THREADS, "predictor.threads", INT, "0", 0, 1024, NULL, NULL,                           \
       "Source driple: threads of the CPU backend; 0: all cores.")                                 \
    XX(PRED_CANDIDATES, "predictor.max_candidates", INT, "16", 1, 1024, NULL, NULL,                \
       "Most placements that are considered for a job: GPU types x spreads.")                      \
    XX(PRED_CACHE, "predictor.cache", STRING, "", 0, 4095, NULL, NULL,                             \
       "File in which answers are kept from run to run, relative to the configuration's "          \
       "folder; empty: none.")                                                                     \
    XX(PRED_REPLAY, "predictor.predictions", STRING, "", 0, 4095, NULL, NULL,                      \
       "record:FILE writes every answer down, replay:FILE takes them from there (relative to the " \
       "configuration's folder); empty: neither. --predictions sets it.")                          \
    XX(PRED_MAP, "predictor.settings_map", STRING, "", 0, 65535, NULL, NULL,                       \
       "Table of placements and the settings that answer for them (docs/predictors.md); "          \
       "empty: the nearest.")                                                                      \
    XX(CHECKPOINT, "checkpoint", GROUP, "", 0, 0, NULL, NULL, "How jobs save their state.")        \
    XX(CKPT_PERIOD, "checkpoint.period", TIME, "0 s", 0, 31557600, NULL, NULL,                     \
       "Run time between checkpoints; 0: state is saved only when a job is preempted.")            \
    XX(CKPT_COST, "checkpoint.cost", TIME, "0 s", 0, 31557600, NULL, NULL,                         \
       "Time to save a periodic checkpoint, GPUs held, beside writing it to the storage.")         \
    XX(CKPT_STORAGE, "checkpoint.storage", RATE, "0", 0, 1e15, NULL, NULL,                         \
       "Rate at which a job's weights and optimiser state are written and read back, added "       \
       "to checkpoint.cost and scheduler.restore_cost; 0: not counted.")                           \
    XX(FAILURES, "failures", GROUP, "", 0, 0, NULL, NULL,                                          \
       "Nodes and GPUs that fail and are repaired.")                                               \
    XX(FAIL_NODE, "failures.node_mtbf", TIME, "never", 1, 31557600000.0, NULL, NULL,               \
       "Mean time between failures of a node.")                                                    \
    XX(FAIL_GPU, "failures.gpu_mtbf", TIME, "never", 1, 31557600000.0, NULL, NULL,                 \
       "Mean time between failures of a GPU.")                                                     \
    XX(FAIL_SHAPE, "failures.shape", FLOAT, "1", 0.1, 10, NULL, NULL,                              \
       "Shape of the Weibull distribution of the time to a failure; 1: exponential, below 1: "     \
       "early failures.")                                                                          \
    XX(FAIL_REPAIR, "failures.repair", TIME, "1 h", 0, 31557600, NULL, NULL,                       \
       "Mean time to repair, exponential.")                                                        \
    XX(FAIL_TRACE, "failures.trace", STRING, "", 0, 4095, NULL, NULL,                              \
       "File of failures, repairs and degraded links (docs/failures.md), relative to the "         \
       "configuration's folder; empty: none.")                                                     \
    XX(RESULTS, "results", GROUP, "", 0, 0, NULL, NULL, "What is written.")                        \
    XX(RESULTS_PATH, "results.path", STRING, "", 0, 4095, NULL, NULL,                              \
       "HDF5 file, relative to the current folder; empty: none. -o sets it.")                      \
    XX(ALLOCATIONS, "results.allocations", BOOL, "true", 0, 0, NULL, NULL,                         \
       "Write where every job ran, and when.")                                                     \
    XX(SERIES, "results.series", BOOL, "true", 0, 0, NULL, NULL,                                   \
       "Write the cluster's state over time.")                                                     \
    XX(WARMUP, "results.warmup", TIME, "0 s", 0, 31557600000.0, NULL, NULL,                        \
       "Leave jobs submitted in this first part of the trace out of the statistics.")              \
    XX(COOLDOWN, "results.cooldown", TIME, "0 s", 0, 31557600000.0, NULL, NULL,                    \
       "Leave jobs submitted in this last part of the trace out of the statistics.")

typedef enum dls_key_id {
#define XX(id, path, type, def, min, max, choices, example, doc) DLS_CFG_##id,
    DLS_KEY_MAP(XX) DLS_CFG_COUNT
#undef XX
} dls_key_id;

/* [DLS_CFG_COUNT] */
extern const dls_key dls_schema[];

/* By path ("cluster.nodes[].count" for a list's keys); -1 if there is none. O(keys). */
int dls_schema_find(const char *path);
/* The list that a key belongs to, or -1. */
int dls_schema_list_of(int key);
/* Keys of a list's elements: the next n rows. */
int dls_schema_n_fields(int list);
/* Last part of the path. */
const char *dls_schema_leaf(int key);
/* Whether values of the type carry a unit, and of what. */
bool dls_key_quantity(dls_key_type type, dls_quantity *out);
/* The nearest path, or last part of one, to a mistyped path; NULL if none is near. Elements of a
 * list are written "list[].key". */
const char *dls_schema_suggest(const char *path);
/* "integer 1..64", "time, e.g. \"62 s\"", "one of a|b": what the key takes. Returns buf. */
const char *dls_schema_domain(int key, char *buf, size_t n);

#endif
