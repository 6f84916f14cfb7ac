/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The columns of a run's record. The job digest is over those that every run has, in this order.
 */
#include "record/columns.h"

#include "base/alloc.h"
#include "record/record.h"

#include <string.h>

/* clang-format off */
#define AT(member) offsetof(dls_record, member)
static const dls_record_column jobs[] = {
    {"state", DLS_FIELD_STATE, AT(state), "", .what = "when the run stopped"},
    {"start_us", DLS_FIELD_I64, AT(start_us), "us", "first start; -1: never", .unset = true},
    {"end_us", DLS_FIELD_I64, AT(end_us), "us", "end; -1: did not end", .unset = true},
    {"pending_us", DLS_FIELD_I64, AT(pending_us), "us",
     .what = "total time waiting, while suspended included"},
    {"executed_us", DLS_FIELD_I64, AT(executed_us), "us",
     .what = "time spent running, restoring excluded"},
    {"overhead_us", DLS_FIELD_I64, AT(overhead_us), "us",
     .what = "time spent restoring, GPUs held"},
    {"preempts", DLS_FIELD_I32, AT(preempts), "", .what = "times it lost its GPUs"},
    {"resumes", DLS_FIELD_I32, AT(resumes), "",
     .what = "times it got GPUs, the first start included"},
    {"promotes", DLS_FIELD_I32, AT(promotes), "",
     .what = "times it was promoted for having starved"},
    {"gpu_us", DLS_FIELD_I64, AT(gpu_us), "gpu us",
     "GPUs x time held, restoring included; those of another job not counted", .optional = DLS_WANT_ELASTIC},
    {"gpu_restore_us", DLS_FIELD_I64, AT(gpu_restore_us), "gpu us", "of gpu_us, restoring",
     .optional = DLS_WANT_ELASTIC},
    {"part_milli", DLS_FIELD_I32, AT(part_milli), "1/1000 gpu", "part of each of its GPUs that it gets",
     .optional = DLS_WANT_PARTS},
    {"guest_us", DLS_FIELD_I64, AT(guest_us), "us",
     "time on the GPUs of another job, part of executed and overhead", .optional = DLS_WANT_GUESTS},
    {"failures", DLS_FIELD_I32, AT(failures), "", "times its GPUs failed, part of preempts",
     .optional = DLS_WANT_FAILURES},
    {"lost_us", DLS_FIELD_I64, AT(lost_us), "us",
     "work lost to failures, run time at the reference rate", .optional = DLS_WANT_FAILURES},
    {"fastest_us", DLS_FIELD_I64, AT(fastest_us), "us",
     "run time alone on the placement that suits it best; -1: never submitted", .unset = true,
     .optional = DLS_WANT_FASTEST},
    {"energy_j", DLS_FIELD_F64, AT(energy_j), "J", "of its GPUs, at the meter", .optional = DLS_WANT_ENERGY},
    {"cost", DLS_FIELD_F64, AT(cost), "", "of that energy", .optional = DLS_WANT_ENERGY},
    {"carbon_g", DLS_FIELD_F64, AT(carbon_g), "g", "CO2 equivalents of that energy",
     .optional = DLS_WANT_ENERGY},
};
#undef AT

#define AT(member) offsetof(dls_alloc_rows, member)
static const dls_record_column allocs[] = {
    {"job", DLS_FIELD_I32, AT(job), "", .what = "row in jobs"},
    {"node", DLS_FIELD_I32, AT(node), "",
     .what = "0-based node of the cluster; -1: GPUs are only counted"},
    {"start_us", DLS_FIELD_I64, AT(start_us), "us", .what = "the job holds the GPUs from here"},
    {"end_us", DLS_FIELD_I64, AT(end_us), "us",
     .what = "to here; the end of the run if it holds them then"},
    {"gpu_mask", DLS_FIELD_U64, AT(gpu_mask), "",
     .what = "bit i: GPU i of the node; 0 with node -1"},
    {"gpus", DLS_FIELD_I32, AT(gpus), "gpus",
     .what = "GPUs held on the node, or in all with node -1"},
    {"rate", DLS_FIELD_F32, AT(rate), "", .what = "seconds of work per second; 0 while restoring"},
    {"guest", DLS_FIELD_BOOL, AT(guest), "",
     "1: the GPUs are another job's, which has rows of its own", .optional = DLS_WANT_GUESTS},
};
#undef AT

#define AT(member) offsetof(dls_series_rows, member)
static const dls_record_column series[] = {
    {"t_us", DLS_FIELD_I64, AT(t_us), "us", .what = "the row holds from here to the next"},
    {"busy_gpus", DLS_FIELD_I32, AT(busy_gpus), "gpus", .what = "GPUs held by jobs"},
    {"running_jobs", DLS_FIELD_I32, AT(running_jobs), "jobs", .what = "jobs that hold GPUs"},
    {"pending_jobs", DLS_FIELD_I32, AT(pending_jobs), "jobs", .what = "jobs that wait"},
    {"finished_jobs", DLS_FIELD_I32, AT(finished_jobs), "jobs", .what = "jobs that have ended"},
    {"busy_nodes", DLS_FIELD_I32, AT(busy_nodes), "nodes",
     .what = "nodes of which jobs hold GPUs; 0 if GPUs are only counted"},
    {"full_nodes", DLS_FIELD_I32, AT(full_nodes), "nodes",
     .what = "of them, those of which no GPU that works is free"},
    {"power_w", DLS_FIELD_F32, AT(power_w), "W", "of the cluster at the meter, mean over the row",
     .optional = DLS_WANT_ENERGY, .late = true},
};
#undef AT

#define AT(member) offsetof(dls_start_rows, member)
static const dls_record_column starts[] = {
    {"job", DLS_FIELD_I32, AT(job), "", .what = "row in jobs"},
    {"start_us", DLS_FIELD_I64, AT(start_us), "us", .what = "the job got its GPUs"},
    {"end_us", DLS_FIELD_I64, AT(end_us), "us",
     .what = "it lost them or finished; the end of the run if it holds them then"},
    {"host", DLS_FIELD_I32, AT(host), "", .what = "job whose GPUs it shares, -1: its own"},
    {"type", DLS_FIELD_I32, AT(type), "", .what = "GPU type, row in cluster/types"},
    {"n_nodes", DLS_FIELD_I32, AT(n_nodes), "nodes", .what = "over which it is spread"},
    {"n_racks", DLS_FIELD_I32, AT(n_racks), "racks", .what = "over which it is spread"},
    {"left_us", DLS_FIELD_I64, AT(left_us), "us",
     .what = "work left at the start, run time at the reference rate"},
    {"work_us", DLS_FIELD_I64, AT(work_us), "us", .what = "of it, done until end_us"},
    {"executed_us", DLS_FIELD_I64, AT(executed_us), "us",
     .what = "time in which it was done; work / executed: mean rate"},
    {"predicted_iteration_s", DLS_FIELD_F32, AT(iteration_s), "s",
     .what = "predicted iteration time; NaN: nothing was predicted"},
    {"predicted_remaining_s", DLS_FIELD_F32, AT(remaining_s), "s",
     .what = "predicted time for left_us, without restoring"},
};
#undef AT

#define AT(member) offsetof(dls_world_rows, member)
static const dls_record_column world[] = {
    {"t_us", DLS_FIELD_I64, AT(t_us), "us", .what = "the row holds from here to the next"},
    {"failed_gpus", DLS_FIELD_I32, AT(failed_gpus), "gpus",
     .what = "GPUs that have failed, or whose node has"},
    {"guests", DLS_FIELD_I32, AT(guests), "jobs", .what = "jobs that share the GPUs of another"},
    {"nic_mean", DLS_FIELD_F32, AT(nic_mean), "",
     .what = "part of nodes' network links in use, mean over those that a job crosses"},
    {"nic_max", DLS_FIELD_F32, AT(nic_max), "", .what = "the same of the fullest"},
    {"uplink_mean", DLS_FIELD_F32, AT(uplink_mean), "",
     .what = "part of rack uplinks in use, mean over those that a job crosses"},
    {"uplink_max", DLS_FIELD_F32, AT(uplink_max), "", .what = "the same of the fullest"},
};
#undef AT
/* clang-format on */

#define TABLE(list, group, at, grows)                                                              \
    {                                                                                              \
        list, sizeof list / sizeof *list, group, at, grows                                         \
    }
#define ROWS(list, group) TABLE(list, group, offsetof(dls_record, list), true)
const dls_record_table dls_record_tables[DLS_ROWS_TABLES] = {
    [DLS_ROWS_JOBS] = TABLE(jobs, "jobs", 0, false),
    [DLS_ROWS_ALLOCS] = ROWS(allocs, "allocations"),
    [DLS_ROWS_SERIES] = ROWS(series, "series/cluster"),
    [DLS_ROWS_STARTS] = ROWS(starts, "starts"),
    [DLS_ROWS_WORLD] = ROWS(world, "world/series"),
};

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
                                    [DLS_FIELD_KIND] = sizeof(dls_job_state),
                                    [DLS_FIELD_TEXT] = 0};
    return widths[type];
}

const void *dls_column_cells(const dls_record_column *column, const void *rows)
{
    const void *cells;
    memcpy(&cells, (const char *)rows + column->offset, sizeof cells);
    return cells;
}

void dls_column_set(const dls_record_column *column, void *rows, void *cells)
{
    memcpy((char *)rows + column->offset, &cells, sizeof cells);
}

dls_mapped *dls_table_files(const dls_record_table *table, const void *rows)
{
    dls_mapped *files = NULL;
    if (table->grows) {
        memcpy(&files, (const char *)rows + offsetof(dls_alloc_rows, file), sizeof files);
    }
    return files;
}

void dls_table_free(const dls_record_table *table, void *rows)
{
    dls_mapped *files = dls_table_files(table, rows);
    for (size_t i = 0; i < table->n; i++) {
        void *cells;
        memcpy(&cells, (char *)rows + table->columns[i].offset, sizeof cells);
        if (files && files[i].fd >= 0) {
            dls_mapped_close(&files[i]);
        } else {
            dls_free(cells);
        }
        dls_column_set(&table->columns[i], rows, NULL);
    }
    dls_free(files);
}
