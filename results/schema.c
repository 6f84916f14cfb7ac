/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tables that describe every column and field of a results file, and the functions that point a
 * table at the data of a run.
 */
#include "results/schema.h"

#include <string.h>

#define FIELD(type_name, kind, member, units_text, text)                                           \
    {                                                                                              \
#member, DLS_FIELD_##kind, offsetof(type_name, member), sizeof(((type_name *)0)->member),  \
            1, units_text, text                                                                    \
    }

#define S(kind, member, units, text) FIELD(dls_summary, kind, member, units, text)
static const dls_field summary_fields[] = {
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
    S(U64, unprofiled_jobs, "jobs", "jobs whose model the table of speeds has not: as their gang"),
    S(U64, other_batch_jobs, "jobs", "jobs with the speeds of the nearest batch that it has"),
    S(U64, policy_fallbacks, "",
      "times the policy had no solution and did what it says it then does"),
    S(BOOL, complete, "", "1: every event was processed"),
};
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
static const dls_field part_fields[] = {
    P(KIND, kind, "", "what the jobs are grouped by"),
    P(TEXT, name, "", "which group"),
    P(U64, jobs, "jobs", "jobs of the whole run"),
    P(U64, completed, "jobs", "ran to their end"),
    P(U64, infeasible, "jobs", "can never run on this cluster"),
    P(U64, declined, "jobs", "turned away by the scheduler"),
    P(U64, deadlines, "jobs", "have a deadline"),
    P(U64, deadlines_met, "jobs", "completed by their deadline"),
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
const dls_rows dls_part_rows = {part_fields, sizeof part_fields / sizeof part_fields[0],
                                sizeof(dls_summary_part), DLS_SUMMARY_PARTS};
#undef STATS
#undef STAT
#undef P

const char *dls_state_name(unsigned state)
{
    static const char *const names[] = {"new",      "pending",    "running",
                                        "finished", "infeasible", "declined"};
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

const char *dls_code_name(const char *column, unsigned code)
{
    return strcmp(column, "state") == 0     ? dls_state_name(code)
           : strcmp(column, "outcome") == 0 ? dls_outcome_name(code)
                                            : NULL;
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

/* ---- long tables ----------------------------------------------------------------------------- */

static size_t n_jobs(const dls_trace *trace)
{
    return dls_trace_cols(trace)->n;
}

static const char *id_of(const dls_trace *trace, int32_t job)
{
    return dls_trace_id(trace, (size_t)job);
}

const dls_names dls_ids = {"id", "name of the job in the trace", n_jobs, id_of};

const dls_names dls_dicts[DLS_DICTS] = {
    {"model", "names for jobs/model", dls_trace_n_models, dls_trace_model},
    {"vc", "names for jobs/vc", dls_trace_n_vcs, dls_trace_vc},
    {"user", "names for jobs/user", dls_trace_n_users, dls_trace_user},
    {"class", "names for jobs/class", dls_trace_n_classes, dls_trace_class},
    {"gpu_types", "sets of types for jobs/gpu_types", dls_trace_n_gpu_types, dls_trace_gpu_types},
};

dls_column dls_schema_names(const dls_names *names, const dls_trace *trace)
{
    const size_t n = names->count(trace);
    size_t longest = 1;
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(names->at(trace, (int32_t)i));
        longest = len > longest ? len : longest;
    }
    return (dls_column){.name = names->name,
                        .type = DLS_FIELD_TEXT,
                        .units = "",
                        .description = names->what,
                        .width = longest,
                        .names = names,
                        .trace = trace};
}

/* clang-format off */
#define AT(member) offsetof(dls_trace_columns, member)
static const dls_record_column trace_columns[] = {
    {"submit_us", DLS_FIELD_I64, AT(submit_us), "us", .what = "submission"},
    {"gpus", DLS_FIELD_I32, AT(gpus), "gpus", .what = "GPUs, all or nothing"},
    {"duration_us", DLS_FIELD_I64, AT(duration_us), "us",
     .what = "run time at the reference rate; -1: not in the trace"},
    {"outcome", DLS_FIELD_OUTCOME, AT(outcome), "",
     .what = "how it ended where the trace was recorded"},
    {"flags", DLS_FIELD_U32, AT(flags), "", .what = "bits: what is odd about the job in the trace"},
    {"row", DLS_FIELD_U32, AT(row), "", .what = "0-based data row in the trace file"},
    {"model", DLS_FIELD_I32, AT(model), "", .what = "index in dicts/model; -1: none"},
    {"vc", DLS_FIELD_I32, AT(vc), "", .what = "virtual cluster, index in dicts/vc; -1: none"},
    {"gpu_types", DLS_FIELD_I32, AT(gpu_types), "",
     .what = "allowed types, index in dicts/gpu_types; -1: any"},
    {"user", DLS_FIELD_I32, AT(user), "", .what = "index in dicts/user; -1: none", .optional = DLS_WANT_TRACE},
    {"class", DLS_FIELD_I32, AT(job_class), "", .what = "index in dicts/class; -1: none", .optional = DLS_WANT_TRACE},
    {"gpus_milli", DLS_FIELD_I64, AT(gpus_milli), "1/1000 gpu",
     .what = "GPUs asked for, before rounding up; -1: none", .optional = DLS_WANT_TRACE},
    {"iterations", DLS_FIELD_I64, AT(iterations), "", .what = "training iterations; -1: none", .optional = DLS_WANT_TRACE},
    {"batch", DLS_FIELD_I64, AT(batch), "samples", .what = "global batch size; -1: none", .optional = DLS_WANT_TRACE},
    {"trace_queue_us", DLS_FIELD_I64, AT(queue_us), "us",
     .what = "wait where the trace was recorded; -1: none", .optional = DLS_WANT_TRACE},
    {"trace_nodes", DLS_FIELD_I64, AT(nodes), "nodes",
     .what = "nodes where the trace was recorded; -1: none", .optional = DLS_WANT_TRACE},
    {"cpu_milli", DLS_FIELD_I64, AT(cpu_milli), "1/1000 core",
     .what = "CPU over the whole job; -1: none", .optional = DLS_WANT_TRACE},
    {"mem_mib", DLS_FIELD_I64, AT(mem_mib), "MiB", .what = "memory over the whole job; -1: none", .optional = DLS_WANT_TRACE},
    {"priority", DLS_FIELD_I64, AT(priority), "", .what = "larger is more important; -1: none", .optional = DLS_WANT_TRACE},
    {"deadline_us", DLS_FIELD_I64, AT(deadline_us), "us", .what = "deadline; -1: none", .optional = DLS_WANT_TRACE},
    {"limit_us", DLS_FIELD_I64, AT(limit_us), "us", .what = "the user's run time limit; -1: none", .optional = DLS_WANT_TRACE},
    {"estimate_us", DLS_FIELD_I64, AT(estimate_us), "us",
     .what = "run time estimate of the trace; -1: none", .optional = DLS_WANT_TRACE},
    {"min_gpus", DLS_FIELD_I64, AT(min_gpus), "gpus",
     .what = "least that an elastic job can use; -1: as many as it asks for", .optional = DLS_WANT_TRACE},
    {"max_gpus", DLS_FIELD_I64, AT(max_gpus), "gpus",
     .what = "most that an elastic job can use; -1: as many as it asks for", .optional = DLS_WANT_TRACE},
    {"trace_attempts", DLS_FIELD_I64, AT(attempts), "",
     .what = "attempts where the trace was recorded; -1: none", .optional = DLS_WANT_TRACE},
};
#undef AT
/* clang-format on */
const dls_record_table dls_trace_table = {
    .columns = trace_columns, .n = sizeof trace_columns / sizeof *trace_columns, .group = "jobs"};

static size_t add_columns(const dls_record_table *table, const void *rows, dls_column *out)
{
    const dls_mapped *files = dls_table_files(table, rows);
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++) {
        const dls_record_column *c = &table->columns[i];
        const void *cells = dls_column_cells(c, rows);
        if (cells) {
            out[n++] = (dls_column){.name = c->name,
                                    .type = c->type,
                                    .units = c->units,
                                    .description = c->what,
                                    .data = cells,
                                    .file = files ? &files[i] : NULL};
        }
    }
    return n;
}

size_t dls_schema_columns(const dls_trace_columns *trace, const dls_record *rec, dls_rows_of table,
                          dls_column out[DLS_COLUMNS_MAX])
{
    const dls_record_table *of = &dls_record_tables[table];
    const void *rows = (const char *)rec + of->at;
    dls_alloc_rows known = rec->allocs;
    if (table == DLS_ROWS_ALLOCS && !known.has_guests) {
        known.guest = NULL;
        rows = &known;
    }
    const size_t n = table == DLS_ROWS_JOBS ? add_columns(&dls_trace_table, trace, out) : 0;
    return n + add_columns(of, rows, out + n);
}

#define W(kind, member, units, text) FIELD(dls_world_summary, kind, member, units, text)
#define F(kind, part, member, units, text)                                                         \
    {                                                                                              \
#member, DLS_FIELD_##kind, offsetof(dls_world_summary, facts.part.member),                 \
            sizeof(((dls_run_facts *)0)->part.member), 1, units, text                              \
    }
static const dls_field world_fields[] = {
    W(F64, best_slowdown_mean, "", "completion time / run time on the best placement, mean"),
    W(F64, placement_slowdown_mean, "", "time running / run time on the best placement, mean"),
    W(F64, nic_mean, "", "part of nodes' network links in use, mean over links and time"),
    W(F64, uplink_mean, "", "part of rack uplinks in use, mean over links and time"),
    W(U64, starts, "", "rows of starts"),
    W(U64, predicted_starts, "", "starts with a prediction that can be judged"),
    W(F64, prediction_error, "", "mean of |predicted / realised - 1| over those starts"),
    W(F64, prediction_bias, "", "mean of log(predicted / realised) over those starts"),
    W(U64, guest_starts, "", "times that a job became the guest of another"),
    W(F64, guest_gpu_s, "gpu s", "GPU time shared as a guest"),
    W(F64, pull_backs, "", "times that jobs drifted out of step and were pulled back, expected"),
    W(F64, pull_back_gpu_s, "gpu s", "GPU time for which pull-backs stopped jobs"),
    W(U64, node_failures, "", "nodes that failed"),
    W(U64, gpu_failures, "", "GPUs that failed"),
    W(F64, lost_gpu_s, "gpu s", "work lost to failures"),
    W(U64, rack_failures, "", "racks that failed"),
    W(U64, job_failures, "", "jobs that failed by themselves"),
    W(U64, node_drains, "", "nodes that began to drain"),
    W(F64, effective_training_ratio, "",
      "GPU time of work that was not lost / from first start to end"),
    F(U64, world, unknown_model_jobs, "jobs", "jobs whose model is unknown and taken for another"),
    F(U64, world, stand_in_jobs, "jobs", "jobs whose model is taken for one of similar size"),
    F(U64, world, unmeasured_shapes, "", "placements asked for that the table has not measured"),
    F(U64, world, extrapolated_shapes, "", "placements taken from another GPU count of the table"),
    F(U64, world, split_batch_shapes, "", "placements that need smaller micro-batches to fit"),
    F(U64, predictions, batches, "", "calls of the predictor"),
    F(U64, predictions, questions, "", "candidates looked up"),
    F(U64, predictions, answers, "", "answers of the predictor"),
    F(U64, predictions, cache_hits, "", "known from an earlier job of the run"),
    F(U64, predictions, disk_hits, "", "known from the cache on disk, or replayed"),
    F(U64, predictions, fallbacks, "", "answers that were no times, replaced by the reference"),
    F(U64, predictions, nearest, "", "answered by a setting that is not quite the placement"),
    F(U64, predictions, kinds, "", "kinds of job that were asked for"),
    F(U64, predictions, unknown_kinds, "", "of them, of an unknown model"),
    F(F64, predictions, predictor_s, "s", "wall time in the predictor"),
};
#undef F
#undef W

#define E(member, units, text) FIELD(dls_energy_summary, F64, member, units, text)
static const dls_field energy_fields[] = {
    E(energy_kwh, "kWh", "of the cluster at the meter"),
    E(jobs_kwh, "kWh", "of GPUs while jobs hold them"),
    E(idle_kwh, "kWh", "of GPUs while none does"),
    E(nodes_kwh, "kWh", "of nodes beside their GPUs"),
    E(cost, "", "of energy_kwh"),
    E(jobs_cost, "", "of jobs_kwh"),
    E(carbon_kg, "kg", "CO2 equivalents of energy_kwh"),
    E(jobs_carbon_kg, "kg", "CO2 equivalents of jobs_kwh"),
    E(power_mean_kw, "kW", "of the cluster at the meter, mean over span_s"),
};
#undef E

#define V(kind, member, units, text) FIELD(dls_service_summary, kind, member, units, text)
static const dls_field service_fields[] = {
    V(U64, services, "", "inference services"),
    V(F64, services_kept, "",
      "part of the time in which they keep their bound, mean over services"),
    V(F64, services_least_kept, "", "the same of the worst"),
    V(F64, services_own_gpu_s, "gpu s", "GPU time of their own"),
    V(F64, services_used_gpu_s, "gpu s", "of it, given to services"),
    V(F64, services_lent_gpu_s, "gpu s", "of it, held by jobs"),
    V(U64, services_preemptions, "", "jobs preempted for services"),
    V(U64, services_shrinks, "", "times that elastic jobs gave GPUs to services and went on"),
};
#undef V

#define GROUP(name, fields)                                                                        \
    {                                                                                              \
#name, fields,                                                                             \
            sizeof fields / sizeof fields[0], offsetof(dls_summary, has_##name),                   \
                                          offsetof(dls_summary, name)                              \
    }
const dls_summary_group dls_summary_groups[DLS_SUMMARY_GROUPS] = {
    {NULL, summary_fields, sizeof summary_fields / sizeof *summary_fields, 0, 0},
    {NULL, part_fields, sizeof part_fields / sizeof *part_fields, 0, offsetof(dls_summary, part)},
    GROUP(world, world_fields),
    GROUP(energy, energy_fields),
    GROUP(services, service_fields),
};
#undef GROUP
