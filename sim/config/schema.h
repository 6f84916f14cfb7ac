/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The keys of a configuration: one table for checking, defaults, documentation, the resolved text and
 * the members of dls_config that they fill.
 *
 * A path is "key", "group.key", or "group.list[].key" for a key of a list's elements; the keys of a
 * list stand behind it. Beside these, the groups "scheduler" and "placement" take the options of
 * the chosen policy, which bring their own tables.
 */
#ifndef DLS_CONFIG_SCHEMA_H
#define DLS_CONFIG_SCHEMA_H

#include "base/options.h"

typedef enum dls_key_as {
    DLS_AS_NOTHING, /* dls_config_build has a use for it, or none */
    DLS_AS_BOOL,
    DLS_AS_I32,
    DLS_AS_I64, /* of a time: microseconds */
    DLS_AS_F64, /* of a quantity: base unit */
    DLS_AS_TEXT,
    DLS_AS_SOME_TEXT /* NULL for an empty one */
} dls_key_as;

typedef struct dls_key {
    dls_option o;  /* name: the path */
    bool required; /* o.def is then an example */
    dls_key_as as; /* type of the member */
    size_t at;     /* its offset in dls_config, or in what a list's element describes */
} dls_key;

/* XX(id, path, type, default, min, max, choices, doc, member): the members are spelt out by schema.c. */
#define DLS_KEY_MAP(XX)                                                                           \
    XX(SCHEMA_VERSION, "schema_version", I64, "1", 1, 1, NULL,                                    \
       "Version of this table. A file must say which one it is written for.", REQUIRED)           \
    XX(NAME, "name", STR, "", 0, 200, NULL, "What the run is called in the results.", TO(name))   \
    XX(CLUSTER, "cluster", GROUP, "", 0, 0, NULL, "What the cluster is made of.", NONE)           \
    XX(RACK_UPLINK, "cluster.rack_uplink", RATE, "0", 0, 1e15, NULL,                              \
       "Link from a rack's switch to the core, per direction; 0: not limiting.",                  \
       TO(cluster.rack_uplink_bps))                                                               \
    XX(UPLINKS, "cluster.uplinks", I64, "1", 1, 64, NULL,                                         \
       "Equal paths between racks (the spines of a leaf-spine network): every rack has so many "  \
       "uplinks, each of rack_uplink, and a job uses one of them.", TO(cluster.uplinks))          \
    XX(GPU_PARTS, "cluster.gpu_parts", STR, "whole", 0, 0, "whole|any|mig",                    \
       "What jobs get that ask for less than a GPU: a whole one; that part of one, in "           \
       "thousandths; a slice of MIG, 1, 2, 3, 4 or 7 sevenths at the places that it has.",         \
       TO(cluster.gpu_parts))                                                                     \
    XX(RACK_NVLINK, "cluster.rack_nvlink", RATE, "0", 0, 1e18, NULL,                              \
       "The nodes of a rack are one NVLink domain with so much per node and direction, which no " \
       "other job takes away; 0: they are not.", TO(cluster.rack_nvlink_bps))                     \
    XX(CORE, "cluster.core", RATE, "0", 0, 1e15, NULL,                                            \
       "What the core carries between all racks, per direction; 0: not limiting.",                \
       TO(cluster.core_bps))                                                                      \
    XX(NODES, "cluster.nodes", LIST, "", 0, 4096, NULL, "Groups of equal nodes.", NONE)           \
    XX(NODE_NAME, "cluster.nodes[].name", STR, "", 0, 47, NULL,                                   \
       "Name of the group; empty: group0, group1, ...", NONE)                                     \
    XX(NODE_COUNT, "cluster.nodes[].count", I64, "32", 0, 4194304, NULL,                          \
       "How many nodes; 0: the group is left out.", REQUIRED, NODE(nodes))                                                  \
    XX(NODE_GPUS, "cluster.nodes[].gpus", I64, "8", 1, 64, NULL,                                  \
       "GPUs of a node.", REQUIRED, NODE(gpus_per_node))                                          \
    XX(NODE_GPU_TYPE, "cluster.nodes[].gpu_type", STR, "V100", 1, 47, NULL,                       \
       "One of 'dlsim list gpus' or of cluster.gpu_types.", REQUIRED)                             \
    XX(NODE_RACK_SIZE, "cluster.nodes[].rack_size", I64, "0", 0, 4194304, NULL,                   \
       "Nodes behind one switch; 0: the whole group in one rack.", NODE(nodes_per_rack))          \
    XX(NODE_CPUS, "cluster.nodes[].cpus", F64, "0", 0, 1e6, NULL,                                 \
       "CPU cores of a node; 0 in any group: accounted nowhere.", NODE(cpus_per_node))                             \
    XX(NODE_MEMORY, "cluster.nodes[].memory", BYTES, "0", 0, 1e15, NULL,                          \
       "Main memory of a node; 0 in any group: accounted nowhere.", NONE)                                          \
    XX(NODE_NIC, "cluster.nodes[].nic", RATE, "0", 0, 1e15, NULL,                                 \
       "Network link of a node, per direction; 0: unknown.", NODE(nic_bps))                       \
    XX(NODE_DOMAIN, "cluster.nodes[].nvlink_gpus", I64, "0", 0, 64, NULL,                         \
       "GPUs of a node that are one NVLink domain, as peers of their type are: the first so many, " \
       "the next, ...; 0: all of the node.", NODE(domain_gpus))                                   \
    XX(NODE_DOMAIN_LINK, "cluster.nodes[].nvlink_between", RATE, "0", 0, 1e18, NULL,              \
       "Between the NVLink domains of a node (PCIe), per direction, which no other job takes "    \
       "away; 0: the node is one domain.", NODE(domain_bps))                                      \
    XX(NODE_RAILS, "cluster.nodes[].rails", BOOL, "false", 0, 0, NULL,                            \
       "The link is one per GPU, an equal part each: jobs of a node do not meet on it.",          \
       NODE(rails))                                                                               \
    XX(TYPES, "cluster.gpu_types", LIST, "", 0, 16, NULL,                                         \
       "GPU types of your own, or with figures other than those of 'dlsim list gpus'.", NONE)     \
    XX(TYPE_NAME, "cluster.gpu_types[].name", STR, "MYGPU", 1, 47, NULL,                          \
       "Name of the type.", REQUIRED)                                                             \
    XX(TYPE_MEMORY, "cluster.gpu_types[].memory", BYTES, "0", 0, 1e15, NULL,                      \
       "Memory of a GPU; 0: unknown.", NONE)                                                      \
    XX(TYPE_MEMORY_RATE, "cluster.gpu_types[].memory_rate", RATE, "0", 0, 1e18, NULL,             \
       "Memory bandwidth; 0: unknown.", TYPE(mem_bps))                                            \
    XX(TYPE_FP32, "cluster.gpu_types[].fp32", FLOPS, "0", 0, 1e21, NULL,                          \
       "Peak of the fp32 vector units; 0: unknown.", TYPE(fp32_flops))                            \
    XX(TYPE_TENSOR, "cluster.gpu_types[].tensor", FLOPS, "0", 0, 1e21, NULL,                      \
       "Dense peak of the 16-bit matrix units; 0: has none.", TYPE(tensor_flops))                 \
    XX(TYPE_PEER, "cluster.gpu_types[].peer", RATE, "0", 0, 1e18, NULL,                           \
       "GPU to GPU inside a node, per direction; 0: unknown.", TYPE(peer_bps))                    \
    XX(VCS, "cluster.virtual_clusters", LIST, "", 0, 4096, NULL,                                  \
       "Virtual clusters with a quota; jobs of others share what the quotas leave. A name may be "\
       "repeated, once per GPU type.", NONE)                                                      \
    XX(VC_NAME, "cluster.virtual_clusters[].name", STR, "vc0", 1, 47, NULL,                       \
       "Name as in the trace.", REQUIRED)                                                         \
    XX(VC_GPUS, "cluster.virtual_clusters[].gpus", I64, "64", 0, 2147483647, NULL,                \
       "Quota.", REQUIRED)                                                                        \
    XX(VC_GPU_TYPE, "cluster.virtual_clusters[].gpu_type", STR, "", 0, 47, NULL,                  \
       "GPU type of the quota; may be left out when the cluster has one type.", NONE)             \
    XX(TRACE, "trace", GROUP, "", 0, 0, NULL, "The jobs.", NONE)                                  \
    XX(TRACE_PATH, "trace.path", PATH, "", 0, 4095, NULL,                                         \
       "File, plain or gzip, relative to the configuration's folder; --trace sets it; {seed} in " \
       "its name: run.seed.", TO(trace_path))                                                     \
    XX(TRACE_FORMAT, "trace.format", STR, "auto", 1, 63, NULL,                                    \
       "One of 'dlsim list formats', or auto: recognised from the first bytes.", TO(trace_format))\
    XX(TRACE_ZERO, "trace.zero_duration", STR, "raise", 0, 0, "raise|keep|drop",                  \
       "Jobs of zero or negative duration: raise to 1 s, keep at 0, or leave out.", NONE)         \
    XX(TRACE_DUPLICATES, "trace.allow_duplicate_ids", BOOL, "false", 0, 0, NULL,                  \
       "Accept ids that repeat.", TO(trace_options.allow_duplicate_ids))                          \
    XX(TRACE_MAX_JOBS, "trace.max_jobs", I64, "0", 0, 1e9, NULL,                                  \
       "Read at most so many jobs; 0: all.", TO(trace_options.max_jobs))                          \
    XX(TRACE_STAND_INS, "trace.stand_ins", STR, "", 0, 4095, NULL,                                \
       "Models that stand in for unknown ones, or files of their graphs (ONNX, GraphDef, dlsim's "  \
       "own): \"CycleGAN=inception4; Mine=nets/mine.onnx\"; empty: none does.", SOME(world.stand_ins))                                                            \
    XX(TRACE_SPAN, "trace.philly_span", BOOL, "false", 0, 0, NULL,                                \
       "Philly's own log: duration from the first start to the last end, gaps inside.",           \
       TO(trace_options.philly_span))                                                             \
    XX(TRACE_SWF, "trace.swf_processor_is_gpu", BOOL, "false", 0, 0, NULL,                        \
       "SWF logs: take a processor for a GPU.", TO(trace_options.swf_processor_is_gpu))           \
    XX(TRACE_ASSIGN, "trace.assign", PATH, "", 0, 4095, NULL,                                     \
       "Table that gives jobs without a model one: a built-in table's name ('dlsim list "         \
       "assignments'), or a file, relative to the configuration's folder; empty: none.",          \
       TO(trace_assign))                                                                          \
    XX(SCHEDULER, "scheduler", GROUP, "", 0, 0, NULL,                                             \
       "Who runs next. Also takes the options of the chosen scheduler.", NONE)                    \
    XX(SCHED_NAME, "scheduler.name", STR, "fifo", 1, 47, NULL,                                    \
       "One of 'dlsim list schedulers'; --scheduler sets it.", TO(scheduler))                     \
    XX(DISCIPLINE, "scheduler.discipline", STR, "default", -1, 0, "default|strict|fit|easy|preempt",\
       "How jobs are taken in the scheduler's order: strict stops at the first that does not "    \
       "fit, fit skips it, easy skips without delaying it, preempt also takes GPUs away; "        \
       "default: the scheduler's own.", TO(sim.discipline))                                       \
    XX(RESERVE, "scheduler.reserve", STR, "gpus", 0, 0, "gpus|nodes",                             \
       "What easy keeps for the first job that waits: a number of GPUs, or the nodes on which "   \
       "the placement would start it once enough of the running jobs have ended.", NONE)          \
    XX(RESTORE, "scheduler.restore_cost", TIME, "62 s", 0, 31557600, NULL,                        \
       "Time to restore a job at every start but the first, GPUs held.", TO(sim.restore_us))      \
    XX(ESTIMATES, "scheduler.estimates", STR, "exact", 0, 0,                                      \
       "exact|limit|predictor|history|history-trees",                                             \
       "Run time that a scheduler believes of a job without an estimate in the trace: exact, its "\
       "true duration; limit, its time limit, else the mean duration; predictor: what the "       \
       "predictor says, of every job; history: how long the jobs like it ran that have ended; "   \
       "history-trees: that, moved by boosted trees.", NONE)                                      \
    XX(HISTORY, "scheduler.history", PATH, "", 0, 4095, NULL,                                     \
       "A trace, relative to the configuration's folder, whose jobs have all ended before this "   \
       "one begins, for scheduler.estimates = \"history\" or \"history-trees\"; empty: nothing is "\
       "known at first.",                                                                         \
       SOME(history_path))                                                                        \
    XX(PLACEMENT, "placement", GROUP, "", 0, 0, NULL,                                             \
       "On which GPUs. Also takes the options of the chosen placement.", NONE)                    \
    XX(PLACEMENT_NAME, "placement.name", STR, "consolidated", 1, 47, NULL,                        \
       "One of 'dlsim list placements'; --placement sets it.", TO(placement))                     \
    XX(RUN, "run", GROUP, "", 0, 0, NULL, "How the simulation is run.", NONE)                     \
    XX(SEED, "run.seed", I64, "1", 0, 9223372036854775807.0, NULL,                                \
       "Seed of all random numbers; --seed sets it.", TO(sim.seed))                               \
    XX(UNTIL, "run.until", TIME, "never", 0, 31557600000.0, NULL,                                 \
       "Stop before the first event after this simulated time; --until sets it.",                 \
       TO(sim.until_us))                                                                          \
    XX(AUDIT, "run.audit", BOOL, "false", 0, 0, NULL,                                             \
       "Check every invariant after every event (slow).", TO(sim.audit))                          \
    XX(PATIENCE, "run.patience", I64, "1000000", 0, 9223372036854775807.0, NULL,                  \
       "Instants without progress after which the scheduler is said to get nowhere and the run "  \
       "fails; also starts in a row that keep less than a second of work, and actions in one "    \
       "pass beyond four a job; 0: never.", TO(sim.patience))                                     \
    XX(PERF, "perf", GROUP, "", 0, 0, NULL,                                                       \
       "How fast a job runs where it is placed: the truth.", NONE)                                \
    XX(PERF_MODEL, "perf.model", STR, "trace", 0, 0, "trace|speeds|table|operator",               \
       "trace: as long as the trace says, wherever it is placed; speeds: that, divided by "       \
       "perf.speeds of the GPU type; table: measured throughputs; "                               \
       "operator: the operator-level model with a residual that no predictor sees "               \
       "(docs/world.md).", TO(world.model))                                                       \
    XX(PERF_SPEEDS, "perf.speeds", STR, "", 0, 1000, NULL,                                        \
       "Speeds of GPU types for perf.model = \"speeds\", as in \"H100=2.3; A100=1.4\"; types that "  \
       "are not named have 1.", SOME(world.speeds))                                               \
    XX(PERF_TABLE, "perf.table", PATH, "", 0, 4095, NULL,                                         \
       "Measured throughputs for perf.model = \"table\", relative to the configuration's folder.",\
       SOME(world.table_path))                                                                    \
    XX(PERF_ELASTIC, "perf.elastic", PATH, "", 0, 4095, NULL,                                     \
       "Speeds of elastic jobs on other numbers of GPUs than they ask for, relative to the "      \
       "configuration's folder (docs/policies.md).", SOME(elastic_table))                          \
    XX(PERF_HARDWARE, "perf.hardware", PATH, "", 0, 4095, NULL,                                   \
       "Folder with gpus.cfg, links.cfg and operator.cfg, relative to the configuration's; "      \
       "empty: the usual places.", SOME(world.hardware_dir))                                      \
    XX(PERF_HOST, "perf.host", STR, "", 0, 63, NULL,                                              \
       "Host constants of the operator model, a name in operator.cfg; empty: none.",              \
       SOME(world.host))                                                                          \
    XX(PERF_FABRIC, "perf.fabric", STR, "", 0, 63, NULL,                                          \
       "Fabric constants of the operator model, a name in operator.cfg; empty: from the "         \
       "cluster's links.", SOME(world.fabric))                                                    \
    XX(PERF_EXCHANGE, "perf.exchange", STR, "allreduce", 0, 0, "allreduce|ps-sync|ps-async",      \
       "How the workers of a job exchange gradients.", TO(world.exchange))                        \
    XX(PERF_ALLREDUCE, "perf.allreduce", STR, "hierarchical", 0, 0, "ring|tree|hierarchical",     \
       "Of the operator truth: over all GPUs at the slowest link's pace, as inspectors' labels "  \
       "(ring), or in the nodes and then between them.", TO(world.allreduce))                     \
    XX(PERF_NUMERIC, "perf.numeric", STR, "fp32", 0, 0, "fp32|tf32|fp16",                         \
       "Numbers that jobs compute with.", TO(world.numeric))                                      \
    XX(PERF_REFERENCE, "perf.reference_gpu", STR, "", 0, 47, NULL,                                \
       "GPU type on which the trace's durations are taken as measured; empty: the cluster's "     \
       "first.", SOME(world.reference_gpu))                                                       \
    XX(PERF_RESIDUAL, "perf.residual_sigma", F64, "0.1", 0, 2, NULL,                              \
       "Standard deviation of the logarithm of the residual per model and GPU type that the "     \
       "operator truth carries for jobs in one node.", TO(world.residual_sigma))                  \
    XX(PERF_NET_RESIDUAL, "perf.network_residual_sigma", F64, "0.16", 0, 2, NULL,                 \
       "The same for jobs in several nodes, per model, GPU type and link speed.",                 \
       TO(world.network_residual_sigma))                                                          \
    XX(PERF_RESIDUAL_SHARED, "perf.residual_shared", F64, "0", 0, 1, NULL,                        \
       "Part of the residual's variance that like jobs have in common: models of one family on "  \
       "a GPU type, all models on it, the framework (perf.host) on it.",                          \
       TO(world.residual_shared))                                                                 \
    XX(PERF_CONTENTION, "perf.contention", BOOL, "true", 0, 0, NULL,                              \
       "Jobs share links; false: each has every link to itself.", TO(world.contention))           \
    XX(PERF_KNEE, "perf.interference_knee", F64, "0.8", 0, 2, NULL,                               \
       "Summed utilisation of the jobs on a shared GPU from which on they slow each other down.", \
       TO(world.interference_knee))                                                               \
    XX(PERF_SLOPE, "perf.interference_slope", F64, "0.31", 0, 2, NULL,                            \
       "Speed lost for each unit of utilisation beyond the knee.", TO(world.interference_slope))  \
    XX(PERF_MEMORY_BANDWIDTH, "perf.memory_bandwidth", BOOL, "false", 0, 0, NULL,                 \
       "Jobs on a GPU share the bandwidth of its memory, too: none is faster than one over the "  \
       "sum of their use of it alone.", TO(world.memory_bandwidth))                               \
    XX(PERF_JITTER, "perf.jitter", F64, "0", 0, 1, NULL,                                          \
       "How much iterations of a job differ in length, standard deviation over mean: it takes "   \
       "jobs out of step whose bursts were shifted against each other (docs/world.md); 0: they "  \
       "keep step by themselves.", TO(world.jitter))                                              \
    XX(PERF_PULL_BACK, "perf.pull_back", F64, "0.05", 0, 1, NULL,                                 \
       "So far off, in iterations, a job that drifts is pulled back into step, at the cost of a " \
       "pause; above 0.5, as far as it can be: nobody is.", TO(world.pull_back))                  \
    XX(PERF_YIELD, "perf.guests_yield", BOOL, "false", 0, 0, NULL,                                \
       "Of jobs that share a GPU the eldest is not slowed down and the others have what the "     \
       "elder ones leave; else all are slowed down alike.", TO(world.guests_yield))               \
    XX(PERF_INTERFERENCE, "perf.interference_sigma", F64, "0", 0, 1, NULL,                        \
       "What that law does not know: standard deviation of the speed of one model beside another " \
       "(drawn for each pair of models and GPU type, no predictor sees it); measured: 0.07.",     \
       TO(world.interference_sigma))                                                              \
    XX(PERF_STAGES, "perf.stages", PATH, "", 0, 4095, NULL,                                       \
       "Stage times of models, with which jobs that share GPUs run in step, relative to the "     \
       "configuration's folder (docs/world.md); empty: the law of the two keys above.",           \
       SOME(world.stages_path))                                                                   \
    XX(PERF_VARIABILITY, "perf.variability", PATH, "", 0, 4095, NULL,                             \
       "How fast single GPUs of one type are, by class of model, relative to the configuration's "  \
       "folder (docs/world.md); empty: they are alike.", SOME(world.variability_path))             \
    XX(PERF_CLASSES, "perf.variability_classes", STR, "", 0, 1000, NULL,                          \
       "Classes of models in that file, as in \"resnet50=A; bert=B; *=C\"; models that are not "     \
       "named, without *, do not feel it.", SOME(world.variability_classes))                      \
    XX(PERF_OVERLAP, "perf.stages_overlap", F64, "0.83", 0, 1, NULL,                              \
       "How much of what could overlap does, with perf.stages: 0 nothing, 1 all.",                \
       TO(world.stages_overlap))                                                                  \
    XX(PREDICTOR, "predictor", GROUP, "", 0, 0, NULL, "What policies may know in advance.", NONE) \
    XX(PRED_SOURCE, "predictor.source", STR, "none", 1, 47, NULL,                                 \
       "none, or one of 'dlsim list predictors'; --predictor sets it.", TO(predictions.source))   \
    XX(PRED_SIGMA, "predictor.sigma", F64, "0.2", 0, 5, NULL,                                     \
       "Source noisy: standard deviation of the logarithm of the error.", TO(predictions.sigma))  \
    XX(PRED_TABLE, "predictor.table", PATH, "", 0, 4095, NULL,                                    \
       "Source table: measured throughputs as in perf.table, relative to the configuration's "    \
       "folder; source profiles: measured profiles (docs/predictors.md); a model that is not in "  \
       "them runs as at the reference.", SOME(predictions.table))                                 \
    XX(PRED_CALIBRATE, "predictor.calibrate", BOOL, "false", 0, 0, NULL,                          \
       "Scale answers by what jobs of the same model, GPU type and spread have shown so far.",    \
       TO(predictions.calibrate))                                                                 \
    XX(PRED_WEIGHTS, "predictor.weights", PATH, "", 0, 4095, NULL,                                \
       "Source driple: weights file, relative to the configuration's folder; empty: the shipped " \
       "one. Sources justus and habitat: file of dlsim train --baseline; empty, habitat: its "    \
       "rule alone.", SOME(predictions.weights))                                                  \
    XX(PRED_SIZED, "predictor.sized", BOOL, "true", 0, 0, NULL,                                   \
       "Sources operator and habitat: products and convolutions by their sizes, as measured; "    \
       "false: one efficiency for a family, as in the labels and the modelled truth.",            \
       TO(predictions.sized))                                                                     \
    XX(PRED_BACKEND, "predictor.backend", STR, "auto", 0, 0, "auto|cpu|cuda",                     \
       "Source driple: what evaluates the inspector.", TO(predictions.backend))                   \
    XX(PRED_THREADS, "predictor.threads", I64, "0", 0, 1024, NULL,                                \
       "Source driple: threads of the CPU backend; 0: all cores.", TO(predictions.threads))       \
    XX(PRED_CANDIDATES, "predictor.max_candidates", I64, "16", 1, 1024, NULL,                     \
       "Most placements that are considered for a job: GPU types x spreads.",                     \
       TO(predictions.max_candidates))                                                            \
    XX(PRED_CACHE, "predictor.cache", PATH, "", 0, 4095, NULL,                                    \
       "File in which answers are kept from run to run, relative to the configuration's folder; " \
       "empty: none.", SOME(predictions.cache_path))                                              \
    XX(PRED_REPLAY, "predictor.predictions", PATH, "", 0, 4095, NULL,                             \
       "record:FILE writes every answer down, replay:FILE takes them from there (relative to the "\
       "configuration's folder); empty: neither. --predictions sets it.", NONE)                   \
    XX(PRED_MAP, "predictor.settings_map", STR, "", 0, 65535, NULL,                               \
       "Table of placements and the settings that answer for them (docs/predictors.md); empty: "  \
       "the nearest.", SOME(predictions.settings_map))                                            \
    XX(PRED_SOFTWARE, "predictor.software", STR, "", 0, 65535, NULL,                              \
       "Sources operator and driple: what is known of the programs that train models, as in "     \
       "\"bert: pytorch sequence=384 fp16; ...\" (docs/predictors.md); empty: nothing.",          \
       SOME(predictions.software))                                                                \
    XX(CHECKPOINT, "checkpoint", GROUP, "", 0, 0, NULL, "How jobs save their state.", NONE)       \
    XX(CKPT_PERIOD, "checkpoint.period", TIME, "0 s", 0, 31557600, NULL,                          \
       "Run time between checkpoints; 0: state is saved only when a job is preempted.",           \
       TO(sim.checkpoint_period_us))                                                              \
    XX(CKPT_LOST, "checkpoint.lost_on_preemption", BOOL, "false", 0, 0, NULL,                      \
       "A job that is preempted, moved or resized loses its work since the last periodic "         \
       "checkpoint, as one that Slurm requeues does: its state is not saved for that.",            \
       TO(sim.preempt_loses))                                                                     \
    XX(CKPT_COST, "checkpoint.cost", TIME, "0 s", 0, 31557600, NULL,                              \
       "Time to save a periodic checkpoint, GPUs held, beside writing it to the storage.",        \
       TO(sim.checkpoint_us))                                                                     \
    XX(CKPT_STORAGE, "checkpoint.storage", RATE, "0", 0, 1e15, NULL,                              \
       "Rate at which a job's weights and optimiser state are written and read back, added to "   \
       "checkpoint.cost and scheduler.restore_cost; 0: not counted.", TO(sim.storage_bps))        \
    XX(FAILURES, "failures", GROUP, "", 0, 0, NULL,                                               \
       "Nodes and GPUs that fail and are repaired.", NONE)                                        \
    XX(FAIL_PRESET, "failures.preset", STR, "none", 0, 0, "none|rsc-1|rsc-2|llama-3",             \
       "Published rates for node_mtbf, gpu_mtbf, job_mtbf and job_nodes (docs/failures.md), where these are not "\
       "given.", NONE)                                                                            \
    XX(FAIL_NODE, "failures.node_mtbf", TIME, "never", 1, 31557600000.0, NULL,                    \
       "Mean time between failures of a node.", TO(failures.node_mtbf_s))                         \
    XX(FAIL_GPU, "failures.gpu_mtbf", TIME, "never", 1, 31557600000.0, NULL,                      \
       "Mean time between failures of a GPU.", TO(failures.gpu_mtbf_s))                           \
    XX(FAIL_RACK, "failures.rack_mtbf", TIME, "never", 1, 31557600000.0, NULL,                    \
       "Mean time between failures of a rack, with all its nodes.", TO(failures.rack_mtbf_s))     \
    XX(FAIL_JOB, "failures.job_mtbf", TIME, "never", 1, 31557600000.0, NULL,                      \
       "Mean time between failures of a running job for which no node is to blame, exponential; " \
       "its GPUs stay sound.", TO(failures.job_mtbf_s))                                           \
    XX(FAIL_JOB_NODES, "failures.job_nodes", I64, "1", 1, 4194304, NULL,                          \
       "Jobs on fewer nodes than that fail so in proportion less often.", TO(failures.job_nodes)) \
    XX(FAIL_LEMONS, "failures.lemons", F64, "0", 0, 1, NULL,                                      \
       "Part of the nodes that are lemons.", TO(failures.lemons))                                 \
    XX(FAIL_LEMON_FACTOR, "failures.lemon_factor", F64, "10", 1, 10000, NULL,                     \
       "How many times as often as others a lemon fails.", TO(failures.lemon_factor))             \
    XX(FAIL_REPLACE, "failures.replace_after", I64, "0", 0, 1000000, NULL,                        \
       "Failures after which a lemon is replaced by a sound node; 0: never.",                     \
       TO(failures.replace_after))                                                                \
    XX(FAIL_DRAINS, "failures.drains", F64, "0", 0, 1, NULL,                                      \
       "Part of the failures of nodes that are seen before: the node gets no new jobs and is "    \
       "repaired when those that it has are gone.", TO(failures.drains))                          \
    XX(FAIL_SPARES, "failures.spares", I64, "0", 0, 4194303, NULL,                                \
       "So many nodes, the last of the cluster, stand by and take the place of nodes of their "   \
       "type that fail.", TO(failures.spares))                                                    \
    XX(FAIL_SHAPE, "failures.shape", F64, "1", 0.1, 10, NULL,                                     \
       "Shape of the Weibull distribution of the time to a failure; 1: exponential, below 1: "    \
       "early failures.", TO(failures.shape))                                                     \
    XX(FAIL_REPAIR, "failures.repair", TIME, "1 h", 0, 31557600, NULL,                            \
       "Mean time to repair, exponential.", TO(failures.repair_s))                                \
    XX(FAIL_TRACE, "failures.trace", PATH, "", 0, 4095, NULL,                                     \
       "File of failures, repairs and degraded links (docs/failures.md), relative to the "        \
       "configuration's folder; empty: none.", SOME(failure_trace))                               \
    XX(SERVICES, "services", GROUP, "", 0, 0, NULL,                                               \
       "Inference services beside training (docs/services.md).", NONE)                            \
    XX(SERVICES_LEND, "services.lend", BOOL, "true", 0, 0, NULL,                                  \
       "Jobs get the GPUs that services do not need now; else services keep all of theirs.",      \
       TO(services.lend))                                                                         \
    XX(SERVICES_AHEAD, "services.ahead", TIME, "0 s", 0, 86400, NULL,                             \
       "Services take GPUs back so long before they need them.", TO(services.ahead_us))           \
    XX(SERVICES_LIST, "services.list", LIST, "", 0, 64, NULL, "The services.", NONE)              \
    XX(SERVICE_NAME, "services.list[].name", STR, "chat", 1, 47, NULL, "Name.", REQUIRED)         \
    XX(SERVICE_GPU_TYPE, "services.list[].gpu_type", STR, "", 0, 47, NULL,                        \
       "Type of its GPUs; may be left out when the cluster has one type.", NONE)                  \
    XX(SERVICE_LOAD, "services.list[].load", STR, "0=20; 8=100; 22=40", 1, 8000, NULL,            \
       "Requests per second from an hour of each day on, the last until the first of the next "   \
       "day; time 0 of the trace is midnight.", REQUIRED)                                         \
    XX(SERVICE_REQUEST, "services.list[].request", TIME, "50 ms", 0.000001, 86400, NULL,          \
       "What a request takes a replica.", REQUIRED, SERVICE(request_s))                           \
    XX(SERVICE_BOUND, "services.list[].bound", TIME, "200 ms", 0.000001, 86400, NULL,             \
       "Bound on a request's latency, waiting included.", REQUIRED, SERVICE(bound_s))             \
    XX(SERVICE_SHARE, "services.list[].share", F64, "0.99", 0.001, 0.999999, NULL,                \
       "Part of the requests that are to keep the bound.", SERVICE(share))                        \
    XX(SERVICE_PER_GPU, "services.list[].per_gpu", I64, "1", 1, 64, NULL,                         \
       "Replicas on a GPU, or on a part of one.", SERVICE(per_gpu))                               \
    XX(SERVICE_PART, "services.list[].part", F64, "1", 0.001, 1, NULL,                            \
       "Part of a GPU that it takes at a time: where cluster.gpu_parts divides GPUs, rounded up "  \
       "to a slice with mig; else, and at 1, it takes whole ones.",                                \
       SERVICE(part))                                                                             \
    XX(SERVICE_GPUS, "services.list[].gpus", I64, "0", 0, 2147483647, NULL,                       \
       "GPUs of its own; 0: as many as its highest load needs.", SERVICE(gpus))                   \
    XX(SERVICE_START, "services.list[].start", TIME, "0 s", 0, 86400, NULL,                       \
       "From getting a GPU to serving on it.", SERVICE(start_us))                                 \
    XX(ENERGY, "energy", GROUP, "", 0, 0, NULL, "What it takes and costs (docs/energy.md).", NONE) \
    XX(ENERGY_ACCOUNT, "energy.account", BOOL, "false", 0, 0, NULL,                               \
       "Account for energy, cost and carbon.", TO(energy.on))                                     \
    XX(ENERGY_GPUS, "energy.gpus", STR, "", 0, 1000, NULL,                                        \
       "Power of GPU types in watts, at rest and at most, as in \"V100=40:250; MYGPU=50:300\"; "    \
       "types that are not named have that of their data sheet.", SOME(energy.gpus))              \
    XX(ENERGY_UTILISATION, "energy.utilisation", F64, "0.5", 0, 1, NULL,                          \
       "How much of the power between rest and most GPUs draw on which jobs progress.",           \
       TO(energy.utilisation))                                                                    \
    XX(ENERGY_PROFILES, "energy.profiles", PATH, "", 0, 4095, NULL,                               \
       "Table of jobs, columns job_id, utilisation (0 to 1), power_w (mean of a GPU at work, from "  \
       "which that part follows) and gpu_type (on which it was measured), in place of "            \
       "energy.utilisation; relative to the configuration's folder.", SOME(energy.profiles))       \
    XX(ENERGY_LIMIT, "energy.limit", F64, "0", 0, 100000, NULL,                                   \
       "Power limit of every GPU in watts, which makes jobs slower and so needs perf.model = "    \
       "\"speeds\"; 0: none.", TO(energy.limit_w))                                                \
    XX(ENERGY_NODE, "energy.node", F64, "0", 0, 100000, NULL,                                     \
       "Power of a node beside its GPUs in watts.", TO(energy.node_w))                            \
    XX(ENERGY_PUE, "energy.pue", F64, "1", 1, 5, NULL,                                            \
       "Energy at the meter over that of the nodes.", TO(energy.pue))                             \
    XX(ENERGY_PRICE, "energy.price", F64, "0", 0, 1000, NULL,                                     \
       "Price of a kWh, in any currency.", TO(energy.price))                                      \
    XX(ENERGY_CARBON, "energy.carbon", F64, "0", 0, 10000, NULL,                                  \
       "Grams of CO2 equivalents of a kWh.", TO(energy.carbon_g))                                 \
    XX(ENERGY_PRICES, "energy.prices", PATH, "", 0, 4095, NULL,                                   \
       "Table of prices, columns time_s (of the trace) and value, each from its time on, in "     \
       "place of energy.price; relative to the configuration's folder.", SOME(energy.price_path)) \
    XX(ENERGY_CARBONS, "energy.carbons", PATH, "", 0, 4095, NULL,                                 \
       "The same in place of energy.carbon.", SOME(energy.carbon_path))                           \
    XX(RESULTS, "results", GROUP, "", 0, 0, NULL, "What is written.", NONE)                       \
    XX(RESULTS_PATH, "results.path", STR, "", 0, 4095, NULL,                                      \
       "HDF5 file, relative to the current folder; empty: none. -o sets it.", TO(results_path))   \
    XX(ALLOCATIONS, "results.allocations", BOOL, "true", 0, 0, NULL,                              \
       "Write where every job ran, and when.", TO(sim.want_allocs))                               \
    XX(SERIES, "results.series", BOOL, "true", 0, 0, NULL,                                        \
       "Write the cluster's state over time.", TO(sim.want_series))                               \
    XX(WARMUP, "results.warmup", TIME, "0 s", 0, 31557600000.0, NULL,                             \
       "Leave jobs submitted in this first part of the trace out of the statistics.",             \
       TO(warmup_us))                                                                             \
    XX(COOLDOWN, "results.cooldown", TIME, "0 s", 0, 31557600000.0, NULL,                         \
       "Leave jobs submitted in this last part of the trace out of the statistics.",              \
       TO(cooldown_us))

typedef enum dls_key_id {
#define XX(id, ...) DLS_CFG_##id,
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
/* Neither a group nor a list. */
bool dls_schema_is_value(int key);
/* Whether the key is the group's: "scheduler.name" of "scheduler". */
bool dls_schema_in_group(int key, int group);
/* The nearest path, or last part of one, to a mistyped path; NULL if none is near. Elements of a
 * list are written "list[].key". */
const char *dls_schema_suggest(const char *path);
/* Fill the key's member, if it has one; base: the dls_config, or what a list's element describes. */
void dls_schema_store(int key, const dls_option_value *value, void *base);

#endif
