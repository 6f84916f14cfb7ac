/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes a run to HDF5 by the tables of schema.c, with the cluster, the dictionaries of names and
 * where the run comes from.
 */
#include "results/write.h"

#include "base/sha256.h"
#include "results/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- small tables ---------------------------------------------------------------------------- */

#define FIELD(type, kind, member, n, units, text)                                                  \
    {                                                                                              \
#member, DLS_FIELD_##kind, offsetof(type, member), sizeof(((type *)0)->member), n, units,  \
            text                                                                                   \
    }

static const dls_field group_fields[] = {
#define G(kind, member, units, text) FIELD(dls_node_group, kind, member, 1, units, text)
    G(TEXT, name, "", "name of the group of equal nodes"),
    G(I32, nodes, "nodes", "nodes in the group"),
    G(I32, gpus_per_node, "gpus", "GPUs of a node"),
    G(I32, nodes_per_rack, "nodes", "nodes behind one switch; 0: all"),
    G(I32, type, "", "GPU type, row in cluster/types"),
    G(F64, cpus_per_node, "cores", "CPU cores of a node; 0: not accounted"),
    G(F64, mem_gib_per_node, "GiB", "memory of a node; 0: not accounted"),
    G(F64, nic_bps, "B/s", "network link of a node, per direction"),
#undef G
};

static const dls_field type_fields[] = {
#define T(kind, member, units, text) FIELD(dls_gpu_type, kind, member, 1, units, text)
    T(TEXT, name, "", "GPU type"),
    T(F64, mem_gib, "GiB", "memory"),
    T(F64, mem_bps, "B/s", "memory bandwidth"),
    T(F64, fp32_flops, "1/s", "single precision operations"),
    T(F64, tensor_flops, "1/s", "half precision operations of the matrix units; 0: has none"),
    T(F64, peer_bps, "B/s", "GPU to GPU inside a node, per direction"),
#undef T
};

static const dls_field vc_fields[] = {
    FIELD(dls_vc_spec, TEXT, name, 1, "", "virtual cluster"),
    FIELD(dls_vc_spec, I32, quota_gpus, DLS_TYPES_MAX, "gpus", "quota by GPU type"),
};

static const dls_field link_fields[] = {
    FIELD(dls_cluster_spec, F64, rack_uplink_bps, 1, "B/s", "link of a rack; 0: not limiting"),
    FIELD(dls_cluster_spec, F64, core_bps, 1, "B/s", "between racks, in all; 0: not limiting"),
};

typedef struct flag_row {
    char text[64];
    uint32_t bit;
    uint64_t jobs;
} flag_row;

static const dls_field flag_fields[] = {
    FIELD(flag_row, TEXT, text, 1, "", "what is odd about the jobs"),
    FIELD(flag_row, U32, bit, 1, "", "number of the bit in jobs/flags"),
    FIELD(flag_row, U64, jobs, 1, "jobs", "jobs that it is true of"),
};
#undef FIELD

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A table of a struct's array. */
#define ROWS(field_list, array, count)                                                             \
    (&(dls_rows){.fields = (field_list),                                                           \
                 .n_fields = COUNT(field_list),                                                    \
                 .row_bytes = sizeof *(array),                                                     \
                 .n = (size_t)(count)}),                                                           \
        (array)

static dls_status write_cluster(hid_t run, const dls_cluster_spec *cluster, dls_error *err)
{
    DLS_H5_OWNED hid_t at = H5I_INVALID_HID;
    DLS_TRY(dls_h5_put_group(run, "cluster", &at, err));
    DLS_TRY(dls_put_rows(at, "groups", "nodes of the cluster, numbered group by group",
                         ROWS(group_fields, cluster->groups, cluster->n_groups), err));
    DLS_TRY(dls_put_rows(at, "types", "GPU types of the cluster; 0: unknown",
                         ROWS(type_fields, cluster->types, cluster->n_types), err));
    DLS_TRY(dls_put_rows(at, "vcs", "quotas of virtual clusters",
                         ROWS(vc_fields, cluster->vcs, cluster->n_vcs), err));
    DLS_TRY(dls_put_fields(at, link_fields, COUNT(link_fields), cluster, err));
    return DLS_OK;
}

static dls_status write_flags(hid_t run, const dls_trace_info *info, dls_error *err)
{
    flag_row rows[DLS_JOB_FLAG_COUNT];
    memset(rows, 0, sizeof rows);
    static const char *const texts[] = {
#define XX(name, bit, text) [bit] = text,
        DLS_JOB_FLAG_MAP(XX)
#undef XX
    };
    for (size_t i = 0; i < DLS_JOB_FLAG_COUNT; i++) {
        snprintf(rows[i].text, sizeof rows[i].text, "%s", texts[i]);
        rows[i].bit = (uint32_t)i;
        rows[i].jobs = info->flag_count[i];
    }
    return dls_put_rows(run, "trace_flags", "how many jobs of the trace break an assumption",
                        ROWS(flag_fields, rows, COUNT(rows)), err);
}

static dls_status write_group(hid_t at, int group, const dls_summary *summary, dls_error *err)
{
    const dls_summary_group *g = &dls_summary_groups[group];
    return dls_put_fields(at, g->fields, g->n_fields, (const char *)summary + g->at, err);
}

static dls_status write_summary(hid_t run, const dls_summary *summary, dls_error *err)
{
    DLS_H5_OWNED hid_t at = H5I_INVALID_HID;
    DLS_TRY(dls_h5_put_group(run, "summary", &at, err));
    DLS_TRY(write_group(at, DLS_GROUP_RUN, summary, err));
    DLS_TRY(dls_put_rows(at, "parts", "jobs in all, and by gang size, class and outcome",
                         &dls_part_rows, summary->part, err));
    return DLS_OK;
}

static dls_status write_dicts(hid_t run, const dls_trace *trace, dls_error *err)
{
    DLS_H5_OWNED hid_t at = H5I_INVALID_HID;
    DLS_TRY(dls_h5_put_group(run, "dicts", &at, err));
    for (size_t d = 0; d < DLS_DICTS; d++) {
        const dls_column column = dls_schema_names(&dls_dicts[d], trace);
        DLS_TRY(dls_put_columns(at, &column, 1, dls_dicts[d].count(trace), err));
    }
    return DLS_OK;
}

/* ---- attributes of a run --------------------------------------------------------------------- */

/* The time that reproducible builds set for all time stamps; false if it is not set. */
static bool source_date(char text[32])
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    if (!epoch || !*epoch) {
        return false;
    }
    const time_t t = (time_t)strtoll(epoch, NULL, 10);
    struct tm tm;
    if (!gmtime_r(&t, &tm) || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0) {
        text[0] = '\0';
    }
    return true;
}

static dls_status write_attributes(hid_t run, const dls_results_meta *meta,
                                   const dls_trace_info *info, const dls_summary *summary,
                                   dls_error *err)
{
    char digest[17], history[17], config_sha[DLS_SHA256_HEX], date[32];
    const bool fixed = source_date(date);
    snprintf(digest, sizeof digest, "%016" PRIx64, summary->digest);
    snprintf(history, sizeof history, "%016" PRIx64, summary->history_digest);
    const char *config = meta->config_text ? meta->config_text : "";
    dls_sha256_hex(config, strlen(config), config_sha);
    const struct {
        const char *name, *text;
    } texts[] = {
        {"scheduler", meta->scheduler},
        {"placement", meta->placement},
        {"predictor", meta->predictor},
        {"backend", meta->backend},
        {"perf", meta->perf},
        {"digest", digest},
        {"history_digest", history},
        {"dlsim_version", DLS_VERSION},
        {"git_sha", meta->git_sha},
        {"build", meta->build},
        {"cmdline", meta->cmdline},
        {"config_text", config},
        {"config_sha256", config_sha},
        {"workload_assign", meta->workload_assign},
        {"trace_path", info->path},
        {"trace_format", info->format},
        {"trace_sha256", info->sha256},
        {"trace_epoch", info->epoch},
        {"trace_notes", info->notes},
        {"hostname", fixed ? "" : meta->hostname},
        {"started_utc", fixed ? date : meta->started_utc},
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        DLS_TRY(dls_h5_put_text(run, texts[i].name, texts[i].text ? texts[i].text : "", err));
    }
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        {"seed", meta->seed},
        {"complete", summary->complete},
        {"total_gpus", (uint64_t)summary->total_gpus},
        {"events", summary->events},
        {"passes", summary->passes},
        {"positions", summary->positions},
        {"trace_rows_read", info->rows_read},
        {"trace_rows_skipped", info->rows_skipped},
        {"trace_rows_changed", info->rows_changed},
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        DLS_TRY(dls_h5_put_u64(run, numbers[i].name, numbers[i].value, err));
    }
    static const dls_field wall = {"wall_s", DLS_FIELD_F64, offsetof(dls_summary, wall_s), 8, 1, "",
                                   ""};
    return dls_put_fields(run, &wall, 1, summary, err);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* A table in a group of its own; nothing for one without rows. */
static dls_status write_table(hid_t at, const char *name, dls_rows_of which, const dls_record *rec,
                              dls_error *err)
{
    dls_column columns[DLS_COLUMNS_MAX];
    DLS_H5_OWNED hid_t group = H5I_INVALID_HID;
    const size_t n = dls_record_n(rec, which);
    if (n == 0) {
        return DLS_OK;
    }
    DLS_TRY(dls_h5_put_group(at, name, &group, err));
    return dls_put_columns(group, columns, dls_schema_columns(NULL, rec, which, columns), n, err);
}

static dls_status write_long_tables(hid_t run, const dls_trace *trace, const dls_record *rec,
                                    dls_error *err)
{
    dls_column columns[1 + DLS_COLUMNS_MAX] = {dls_schema_names(&dls_ids, trace)};
    DLS_H5_OWNED hid_t jobs = H5I_INVALID_HID, series = H5I_INVALID_HID;
    DLS_TRY(dls_h5_put_group(run, "jobs", &jobs, err));
    const size_t n = dls_schema_columns(dls_trace_cols(trace), rec, DLS_ROWS_JOBS, columns + 1);
    DLS_TRY(dls_put_columns(jobs, columns, 1 + n, rec->n_jobs, err));
    DLS_TRY(write_table(run, "allocations", DLS_ROWS_ALLOCS, rec, err));
    if (rec->series.n > 0) {
        DLS_TRY(dls_h5_put_group(run, "series", &series, err));
    }
    return write_table(series, "cluster", DLS_ROWS_SERIES, rec, err);
}

/* What only runs in which placement matters have; at: the group of their figures. */
static dls_status write_world(hid_t run, hid_t at, const dls_record *rec, dls_error *err)
{
    DLS_TRY(dls_h5_put_text(at, "predictor_notes", rec->facts.predictions.notes, err));
    DLS_TRY(write_table(at, "series", DLS_ROWS_WORLD, rec, err));
    return write_table(run, "starts", DLS_ROWS_STARTS, rec, err);
}

typedef struct whole_run {
    const dls_results_meta *meta;
    const dls_trace *trace;
    const dls_record *rec;
    const dls_summary *summary;
} whole_run;

static dls_status write_run(hid_t file, const void *what, dls_error *err)
{
    const whole_run *w = what;
    const dls_results_meta *meta = w->meta;
    dls_summary summary = *w->summary;
    char date[32];
    if (source_date(date)) {
        summary.wall_s = summary.events_per_s = summary.world.facts.predictions.predictor_s = 0;
    }
    DLS_H5_OWNED hid_t runs = H5I_INVALID_HID, run = H5I_INVALID_HID;
    DLS_TRY(dls_h5_put_text(file, "format", DLS_RESULTS_FORMAT, err));
    DLS_TRY(dls_h5_put_u64(file, "format_version", DLS_RESULTS_VERSION, err));
    DLS_TRY(dls_h5_put_group(file, "runs", &runs, err));
    DLS_TRY(dls_h5_put_group(runs, meta->run_id ? meta->run_id : "0", &run, err));
    const dls_trace_info *info = dls_trace_about(w->trace);
    DLS_TRY(write_attributes(run, meta, info, &summary, err));
    DLS_TRY(write_summary(run, &summary, err));
    DLS_TRY(write_flags(run, info, err));
    if (meta->cluster) {
        DLS_TRY(write_cluster(run, meta->cluster, err));
    }
    DLS_TRY(write_long_tables(run, w->trace, w->rec, err));
    for (int k = DLS_GROUP_WORLD; k < DLS_SUMMARY_GROUPS; k++) {
        if (dls_summary_group_of(&summary, k)) {
            DLS_H5_OWNED hid_t at = H5I_INVALID_HID;
            DLS_TRY(dls_h5_put_group(run, dls_summary_groups[k].name, &at, err));
            DLS_TRY(write_group(at, k, &summary, err));
            DLS_TRY(k == DLS_GROUP_WORLD ? write_world(run, at, w->rec, err) : DLS_OK);
        }
    }
    return write_dicts(run, w->trace, err);
}

dls_status dls_results_write(const char *path, const dls_results_meta *meta, const dls_trace *trace,
                             const dls_record *rec, const dls_summary *summary, dls_error *err)
{
    if (rec->n_jobs != dls_trace_cols(trace)->n || summary->part[0].jobs != rec->n_jobs) {
        return dls_fail(err, DLS_EINPUT, path, "trace, record and summary are not of one run");
    }
    if (meta->run_id && (!*meta->run_id || strchr(meta->run_id, '/') || *meta->run_id == '.')) {
        return dls_fail(err, DLS_EINPUT, path, "'%s' is not a name for a run", meta->run_id);
    }
    return dls_h5_save(path, write_run, &(whole_run){meta, trace, rec, summary}, err);
}
