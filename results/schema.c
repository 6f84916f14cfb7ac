/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/schema.h"

#include <string.h>

#define FIELD(type_name, kind, member, units_text, text)                                           \
    {                                                                                              \
#member, DLS_FIELD_##kind, offsetof(type_name, member), sizeof(((type_name *)0)->member),  \
            1, units_text, text                                                                    \
    }

#define S(kind, member, units, text) FIELD(dls_summary, kind, member, units, text)
const dls_field dls_summary_fields[] = {
    S(F64, warmup_s, "s", "left out of the job statistics at the start"),
    S(F64, cooldown_s, "s", "left out of the job statistics at the end"),
    S(F64, first_submit_s, "s", "first submission"),
    S(F64, makespan_s, "s", "last end - first submission"),
    S(F64, span_s, "s", "first submission to last end, or to the end of the run if jobs remain"),
    S(I64, total_gpus, "gpus", "GPUs of the cluster"),
    S(F64, utilisation, "", "held GPU time / (total_gpus x span_s)"),
    S(F64, useful_utilisation, "", "the same without time spent restoring"),
    S(F64, waiting_mean, "jobs", "waiting jobs, mean over the span"),
    S(F64, tenth_waiting_frac, "", "part of the span in which a tenth of all jobs or more wait"),
    S(I64, waiting_peak, "jobs", "waiting jobs, most"),
    S(U64, events, "", "arrivals, finishes, ticks"),
    S(U64, passes, "", "scheduling passes"),
    S(U64, positions, "", "positions in the order that passes looked at"),
    S(U64, flips, "", "starts and preemptions decided by passes"),
    S(U64, refusals, "", "selected jobs that the placement refused"),
    S(U64, peak_queue, "", "most entries in the event queue"),
    S(F64, positions_per_event, "", "positions / events"),
    S(F64, wall_s, "s", "wall time of the simulation"),
    S(F64, events_per_s, "1/s", "events / wall_s"),
    S(BOOL, complete, "", "1: every event was processed"),
};
const size_t dls_summary_n_fields = sizeof dls_summary_fields / sizeof dls_summary_fields[0];
#undef S

#define P(kind, member, units, text) FIELD(dls_summary_part, kind, member, units, text)
#define STAT(stat, member, what)                                                                   \
    {                                                                                              \
#stat "_" #member, DLS_FIELD_F64,                                                          \
            offsetof(dls_summary_part, stat) + offsetof(dls_stats, member), sizeof(double), 1,     \
            "s", what                                                                              \
    }
#define STATS(stat, what)                                                                          \
    {#stat "_n",                                                                                   \
     DLS_FIELD_U64,                                                                                \
     offsetof(dls_summary_part, stat) + offsetof(dls_stats, n),                                    \
     sizeof(uint64_t),                                                                             \
     1,                                                                                            \
     "jobs",                                                                                       \
     what ": jobs counted"},                                                                       \
        STAT(stat, mean_s, what ": mean"), STAT(stat, median_s, what ": median"),                  \
        STAT(stat, p95_s, what ": 95th percentile"), STAT(stat, p99_s, what ": 99th percentile"),  \
        STAT(stat, max_s, what ": largest")
const dls_field dls_part_fields[] = {
    P(KIND, kind, "", "what the jobs are grouped by"),
    P(TEXT, name, "", "which group"),
    P(U64, jobs, "jobs", "jobs of the whole run"),
    P(U64, completed, "jobs", "ran to their end"),
    P(U64, infeasible, "jobs", "can never run on this cluster"),
    P(U64, unfinished, "jobs", "waiting, running or not submitted when the run stopped"),
    P(U64, preemptions, "", "times that jobs lost their GPUs"),
    P(U64, resumes, "", "times that jobs got GPUs, first starts included"),
    P(U64, promotions, "", "times that jobs were promoted for having starved"),
    P(F64, held_gpu_s, "gpu s", "GPU time held"),
    P(F64, useful_gpu_s, "gpu s", "GPU time held, without restoring"),
    STATS(jct, "job completion time"),
    STATS(queue, "total time waiting"),
    STATS(first_start, "submission to first start"),
    P(F64, slowdown_mean, "", "completion time / duration, mean"),
};
const size_t dls_part_n_fields = sizeof dls_part_fields / sizeof dls_part_fields[0];
#undef STATS
#undef STAT
#undef P

size_t dls_field_width(dls_field_type type)
{
    static const size_t widths[] = {[DLS_FIELD_I64] = 8,
                                    [DLS_FIELD_U64] = 8,
                                    [DLS_FIELD_I32] = 4,
                                    [DLS_FIELD_U32] = 4,
                                    [DLS_FIELD_F32] = 4,
                                    [DLS_FIELD_F64] = 8,
                                    [DLS_FIELD_BOOL] = sizeof(bool),
                                    [DLS_FIELD_STATE] = 1,
                                    [DLS_FIELD_OUTCOME] = 1,
                                    [DLS_FIELD_KIND] = sizeof(dls_part_kind),
                                    [DLS_FIELD_TEXT] = 0};
    return widths[type];
}

const char *dls_state_name(unsigned state)
{
    static const char *const names[] = {"new", "pending", "running", "finished", "infeasible",
                                        "declined"};
    return state < sizeof names / sizeof names[0] ? names[state] : NULL;
}

const char *dls_outcome_name(unsigned outcome)
{
    static const char *const names[] = {
#define XX(name, text) text,
        DLS_OUTCOME_MAP(XX)
#undef XX
    };
    return outcome < DLS_OUTCOME_COUNT ? names[outcome] : NULL;
}

const char *dls_enum_name(dls_field_type type, unsigned value)
{
    switch (type) {
    case DLS_FIELD_STATE:
        return dls_state_name(value);
    case DLS_FIELD_OUTCOME:
        return dls_outcome_name(value);
    case DLS_FIELD_KIND:
        return value <= DLS_PART_OUTCOME ? dls_part_kind_name((dls_part_kind)value) : NULL;
    default:
        return NULL;
    }
}

/* ---- long tables -------------------------------------------------------------------------------
 */

static void fill_ids(const void *ctx, size_t first, size_t n, size_t width, char *dst)
{
    const dls_trace *trace = ctx;
    for (size_t i = 0; i < n; i++) {
        const char *id = dls_trace_id(trace, first + i);
        const size_t len = strlen(id);
        memset(dst + i * width, 0, width);
        memcpy(dst + i * width, id, len < width ? len : width);
    }
}

static size_t longest_id(const dls_trace *trace, size_t n)
{
    size_t longest = 1;
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(dls_trace_id(trace, i));
        longest = len > longest ? len : longest;
    }
    return longest;
}

/* Keep the columns that have data (or text), in order. */
static size_t present(const dls_column *all, size_t n, dls_column out[DLS_COLUMNS_MAX])
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (all[i].data || all[i].fill) {
            out[kept++] = all[i];
        }
    }
    return kept;
}

#define COL(name, type, units, text, data)                                                         \
    {                                                                                              \
        name, DLS_FIELD_##type, units, text, data, 0, NULL, NULL                                   \
    }

size_t dls_schema_jobs(const dls_trace *trace, const dls_record *rec,
                       dls_column out[DLS_COLUMNS_MAX])
{
    const dls_trace_columns *t = dls_trace_cols(trace);
    const dls_column all[] = {
        {"id", DLS_FIELD_TEXT, "", "name of the job in the trace", NULL, longest_id(trace, t->n),
         fill_ids, trace},
        COL("submit_us", I64, "us", "submission", t->submit_us),
        COL("gpus", I32, "gpus", "GPUs, all or nothing", t->gpus),
        COL("duration_us", I64, "us", "run time at the reference rate; -1: not in the trace",
            t->duration_us),
        COL("state", STATE, "", "when the run stopped", rec->state),
        COL("start_us", I64, "us", "first start; -1: never", rec->start_us),
        COL("end_us", I64, "us", "end; -1: did not end", rec->end_us),
        COL("pending_us", I64, "us", "total time waiting, while suspended included",
            rec->pending_us),
        COL("executed_us", I64, "us", "time spent running, restoring excluded", rec->executed_us),
        COL("overhead_us", I64, "us", "time spent restoring, GPUs held", rec->overhead_us),
        COL("preempts", I32, "", "times it lost its GPUs", rec->preempts),
        COL("resumes", I32, "", "times it got GPUs, the first start included", rec->resumes),
        COL("promotes", I32, "", "times it was promoted for having starved", rec->promotes),
        COL("gpu_us", I64, "gpu us", "GPUs x time held, restoring included; those of another job not counted",
            rec->gpu_us),
        COL("gpu_restore_us", I64, "gpu us", "of gpu_us, restoring", rec->gpu_restore_us),
        COL("guest_us", I64, "us", "time on the GPUs of another job, part of executed and overhead",
            rec->guest_us),
        COL("failures", I32, "", "times its GPUs failed, part of preempts", rec->failures),
        COL("lost_us", I64, "us", "work lost to failures, run time at the reference rate",
            rec->lost_us),
        COL("fastest_us", I64, "us",
            "run time alone on the placement that suits it best; -1: never submitted",
            rec->fastest_us),
        COL("outcome", OUTCOME, "", "how it ended where the trace was recorded", t->outcome),
        COL("flags", U32, "", "bits: what is odd about the job in the trace", t->flags),
        COL("row", U32, "", "0-based data row in the trace file", t->row),
        COL("model", I32, "", "index in dicts/model; -1: none", t->model),
        COL("vc", I32, "", "virtual cluster, index in dicts/vc; -1: none", t->vc),
        COL("gpu_types", I32, "", "allowed types, index in dicts/gpu_types; -1: any", t->gpu_types),
        COL("user", I32, "", "index in dicts/user; -1: none", t->user),
        COL("class", I32, "", "index in dicts/class; -1: none", t->job_class),
        COL("gpus_milli", I64, "1/1000 gpu", "GPUs asked for, before rounding up; -1: none",
            t->gpus_milli),
        COL("iterations", I64, "", "training iterations; -1: none", t->iterations),
        COL("batch", I64, "samples", "global batch size; -1: none", t->batch),
        COL("trace_queue_us", I64, "us", "wait where the trace was recorded; -1: none",
            t->queue_us),
        COL("trace_nodes", I64, "nodes", "nodes where the trace was recorded; -1: none", t->nodes),
        COL("cpu_milli", I64, "1/1000 core", "CPU over the whole job; -1: none", t->cpu_milli),
        COL("mem_mib", I64, "MiB", "memory over the whole job; -1: none", t->mem_mib),
        COL("priority", I64, "", "larger is more important; -1: none", t->priority),
        COL("deadline_us", I64, "us", "deadline; -1: none", t->deadline_us),
        COL("limit_us", I64, "us", "the user's run time limit; -1: none", t->limit_us),
        COL("estimate_us", I64, "us", "run time estimate of the trace; -1: none", t->estimate_us),
        COL("min_gpus", I64, "gpus", "least that an elastic job can use; -1: as many as it asks for",
            t->min_gpus),
        COL("max_gpus", I64, "gpus", "most that an elastic job can use; -1: as many as it asks for",
            t->max_gpus),
        COL("trace_attempts", I64, "", "attempts where the trace was recorded; -1: none",
            t->attempts),
    };
    _Static_assert(sizeof all / sizeof all[0] <= DLS_COLUMNS_MAX, "too many columns");
    return present(all, sizeof all / sizeof all[0], out);
}

size_t dls_schema_allocs(const dls_alloc_rows *rows, dls_column out[DLS_COLUMNS_MAX])
{
    const dls_column all[] = {
        COL("job", I32, "", "row in jobs", rows->job),
        COL("node", I32, "", "0-based node of the cluster; -1: GPUs are only counted", rows->node),
        COL("start_us", I64, "us", "the job holds the GPUs from here", rows->start_us),
        COL("end_us", I64, "us", "to here; the end of the run if it holds them then", rows->end_us),
        COL("gpu_mask", U64, "", "bit i: GPU i of the node; 0 with node -1", rows->gpu_mask),
        COL("gpus", I32, "gpus", "GPUs held on the node, or in all with node -1", rows->gpus),
        COL("rate", F32, "", "seconds of work per second; 0 while restoring", rows->rate),
        COL("guest", BOOL, "", "1: the GPUs are another job's, which has rows of its own",
            rows->has_guests ? rows->guest : NULL),
    };
    return present(all, sizeof all / sizeof all[0], out);
}

size_t dls_schema_series(const dls_series_rows *rows, dls_column out[DLS_COLUMNS_MAX])
{
    const dls_column all[] = {
        COL("t_us", I64, "us", "the row holds from here to the next", rows->t_us),
        COL("busy_gpus", I32, "gpus", "GPUs held by jobs", rows->busy_gpus),
        COL("running_jobs", I32, "jobs", "jobs that hold GPUs", rows->running_jobs),
        COL("pending_jobs", I32, "jobs", "jobs that wait", rows->pending_jobs),
        COL("finished_jobs", I32, "jobs", "jobs that have ended", rows->finished_jobs),
        COL("busy_nodes", I32, "nodes", "nodes with a GPU taken; 0 if GPUs are only counted",
            rows->busy_nodes),
        COL("full_nodes", I32, "nodes", "nodes with every GPU taken", rows->full_nodes),
    };
    return present(all, sizeof all / sizeof all[0], out);
}

size_t dls_schema_starts(const dls_start_rows *rows, dls_column out[DLS_COLUMNS_MAX])
{
    const dls_column all[] = {
        COL("job", I32, "", "row in jobs", rows->job),
        COL("start_us", I64, "us", "the job got its GPUs", rows->start_us),
        COL("end_us", I64, "us", "it lost them or finished; the end of the run if it holds them then",
            rows->end_us),
        COL("host", I32, "", "job whose GPUs it shares, -1: its own", rows->host),
        COL("type", I32, "", "GPU type, row in cluster/types", rows->type),
        COL("n_nodes", I32, "nodes", "over which it is spread", rows->n_nodes),
        COL("n_racks", I32, "racks", "over which it is spread", rows->n_racks),
        COL("left_us", I64, "us", "work left at the start, run time at the reference rate",
            rows->left_us),
        COL("work_us", I64, "us", "of it, done until end_us", rows->work_us),
        COL("executed_us", I64, "us", "time in which it was done; work / executed: mean rate",
            rows->executed_us),
        COL("predicted_iteration_s", F32, "s", "predicted iteration time; NaN: nothing was predicted",
            rows->iteration_s),
        COL("predicted_remaining_s", F32, "s", "predicted time for left_us, without restoring",
            rows->remaining_s),
    };
    return present(all, sizeof all / sizeof all[0], out);
}

size_t dls_schema_world(const dls_world_rows *rows, dls_column out[DLS_COLUMNS_MAX])
{
    const dls_column all[] = {
        COL("t_us", I64, "us", "the row holds from here to the next", rows->t_us),
        COL("failed_gpus", I32, "gpus", "GPUs that have failed, or whose node has", rows->failed_gpus),
        COL("guests", I32, "jobs", "jobs that share the GPUs of another", rows->guests),
        COL("nic_mean", F32, "", "part of nodes' network links in use, mean over those that a job crosses",
            rows->nic_mean),
        COL("nic_max", F32, "", "the same of the fullest", rows->nic_max),
        COL("uplink_mean", F32, "", "part of rack uplinks in use, mean over those that a job crosses",
            rows->uplink_mean),
        COL("uplink_max", F32, "", "the same of the fullest", rows->uplink_max),
    };
    return present(all, sizeof all / sizeof all[0], out);
}

#define W(kind, member, units, text) FIELD(dls_world_summary, kind, member, units, text)
const dls_field dls_world_fields[] = {
    W(F64, best_slowdown_mean, "", "completion time / run time on the best placement, mean"),
    W(F64, placement_slowdown_mean, "", "time running / run time on the best placement, mean"),
    W(F64, nic_mean, "", "part of nodes' network links in use, mean over links and time"),
    W(F64, uplink_mean, "", "part of rack uplinks in use, mean over links and time"),
    W(U64, starts, "", "rows of starts"),
    W(U64, predicted_starts, "", "starts with a prediction that can be judged"),
    W(F64, prediction_error, "", "mean of |predicted / realised - 1| over those starts"),
    W(F64, prediction_bias, "", "mean of log(predicted / realised) over those starts"),
    W(U64, guest_starts, "", "jobs that became the guest of another"),
    W(F64, guest_gpu_s, "gpu s", "GPU time shared as a guest"),
    W(U64, node_failures, "", "nodes that failed"),
    W(U64, gpu_failures, "", "GPUs that failed"),
    W(F64, lost_gpu_s, "gpu s", "work lost to failures"),
    W(U64, unknown_model_jobs, "jobs", "jobs whose model is unknown and taken for another"),
    W(U64, stand_in_jobs, "jobs", "jobs whose model is taken for one of similar size"),
    W(U64, unmeasured_shapes, "", "placements asked for that the table has not measured"),
    W(U64, extrapolated_shapes, "", "placements taken from another GPU count of the table"),
    W(U64, split_batch_shapes, "", "placements that need smaller micro-batches to fit"),
    W(U64, batches, "", "calls of the predictor"),
    W(U64, questions, "", "candidates looked up"),
    W(U64, answers, "", "answers of the predictor"),
    W(U64, cache_hits, "", "known from an earlier job of the run"),
    W(U64, disk_hits, "", "known from the cache on disk, or replayed"),
    W(U64, fallbacks, "", "answers that were no times, replaced by the reference"),
    W(U64, nearest, "", "answered by a setting that is not quite the placement"),
    W(U64, kinds, "", "kinds of job that were asked for"),
    W(U64, unknown_kinds, "", "of them, of an unknown model"),
    W(F64, predictor_s, "s", "wall time in the predictor"),
};
const size_t dls_world_n_fields = sizeof dls_world_fields / sizeof dls_world_fields[0];
#undef W
