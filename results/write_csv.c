/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes the jobs of a run as CSV: exact decimal seconds, texts quoted by RFC 4180.
 */
#include "results/write.h"

#include "base/atomicfile.h"
#include "base/csv.h"
#include "results/schema.h"

#include <inttypes.h>
#include <string.h>

static void put_seconds(FILE *out, int64_t us)
{
    fputc(',', out);
    dls_csv_put_scaled(out, us, 6);
}

static void put_job(FILE *out, const dls_trace *trace, const dls_record *rec, size_t j)
{
    const dls_trace_columns *t = dls_trace_cols(trace);
    const int64_t turnaround_us = rec->end_us[j] - t->submit_us[j];
    dls_csv_put(out, dls_trace_id(trace, j));
    put_seconds(out, t->submit_us[j]);
    fprintf(out, ",%" PRId32, t->gpus[j]);
    put_seconds(out, rec->start_us[j]);
    put_seconds(out, rec->end_us[j] - rec->start_us[j]);
    put_seconds(out, rec->end_us[j]);
    put_seconds(out, rec->start_us[j] - t->submit_us[j]);
    put_seconds(out, turnaround_us);
    const int64_t run_us = rec->end_us[j] - rec->start_us[j];
    if (run_us > 0) {
        fprintf(out, ",%.9g", (double)turnaround_us / (double)run_us);
    } else {
        fputc(',', out);
    }
    put_seconds(out, rec->pending_us[j]);
    put_seconds(out, rec->executed_us[j]);
    put_seconds(out, rec->overhead_us[j]);
    fprintf(out, ",%" PRId32 ",%" PRId32 ",%" PRId32 ",%s\n", rec->preempts[j], rec->resumes[j],
            rec->promotes[j], dls_outcome_name(t->outcome[j]));
}

typedef struct job_table {
    const dls_trace *trace;
    const dls_record *rec;
} job_table;

static dls_status put_jobs(FILE *out, void *what, dls_error *err)
{
    (void)err;
    const job_table *t = what;
    fputs("job_id,submission_time,requested_number_of_resources,starting_time,execution_time,"
          "finish_time,waiting_time,turnaround_time,stretch,pending_time,executed_time,"
          "overhead_time,preempts,resumes,promotes,outcome\n",
          out);
    for (size_t j = 0; j < t->rec->n_jobs && !ferror(out); j++) {
        if (t->rec->state[j] == DLS_JOB_FINISHED) {
            put_job(out, t->trace, t->rec, j);
        }
    }
    return DLS_OK;
}

dls_status dls_results_write_csv(const char *path, const dls_trace *trace, const dls_record *rec,
                                 dls_error *err)
{
    if (rec->n_jobs != dls_trace_cols(trace)->n) {
        return dls_fail(err, DLS_EINPUT, path, "trace and record are not of one run");
    }
    return dls_atomicfile_write(path, put_jobs, &(job_table){trace, rec}, err);
}
