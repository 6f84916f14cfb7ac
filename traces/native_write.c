/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writing the native format: only columns that some job fills, times in seconds with as many
 * decimals as they need, so that reading gives back the same trace.
 */
#include "base/atomicfile.h"
#include "base/csv.h"
#include "base/guard.h"
#include "dlsim/trace.h"
#include "traces/native.h"
#include "traces/outcome.h"
#include "traces/trace_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void put_flags(FILE *f, uint32_t flags)
{
    const char *bar = "";
    for (int bit = 0; bit < DLS_JOB_FLAG_COUNT; bit++) {
        if (flags >> bit & 1) {
            fprintf(f, "%s%s", bar, dls_native_flags[bit]);
            bar = "|";
        }
    }
}

static bool has_value(const dls_field *field, const dls_job_rec *rec)
{
    const void *at = (const char *)rec + field->target;
    switch (field->kind) {
    case DLS_FIELD_TEXT:
        return *(const char *const *)at != NULL;
    case DLS_FIELD_OUTCOME:
        return rec->outcome != DLS_OUTCOME_UNKNOWN;
    case DLS_FIELD_OTHER:
        return rec->flags != 0;
    default:
        return *(const int64_t *)at != DLS_ABSENT;
    }
}

static void put_cell(FILE *f, const dls_field *field, const dls_job_rec *rec)
{
    const void *at = (const char *)rec + field->target;
    switch (field->kind) {
    case DLS_FIELD_TEXT:
        dls_csv_put(f, has_value(field, rec) ? *(const char *const *)at : "");
        break;
    case DLS_FIELD_OUTCOME:
        fputs(dls_outcome_text(rec->outcome), f);
        break;
    case DLS_FIELD_OTHER:
        put_flags(f, rec->flags);
        break;
    default:
        if (has_value(field, rec)) {
            dls_csv_put_scaled(f, *(const int64_t *)at, field->scale);
        }
        break;
    }
}

static void write_table(FILE *f, const dls_trace *trace)
{
    const size_t n = dls_trace_cols(trace)->n;
    const char *epoch = dls_trace_about(trace)->epoch;
    bool written[DLS_NATIVE_FIELDS] = {true, true, true, true};
    dls_job_rec rec;
    for (size_t i = 0; i < n; i++) {
        dls_trace_job(trace, i, &rec);
        for (int k = DLS_NATIVE_ALWAYS; k < DLS_NATIVE_FIELDS; k++) {
            written[k] = written[k] || has_value(&dls_native_fields[k], &rec);
        }
    }
    if (*epoch) {
        fprintf(f, DLS_NATIVE_EPOCH "%s\n", epoch);
    }
    for (int k = 0; k < DLS_NATIVE_FIELDS; k++) {
        const char *names = dls_native_fields[k].names;
        if (written[k]) {
            fprintf(f, "%s%.*s", k ? "," : "", (int)strcspn(names, "|"), names);
        }
    }
    fputc('\n', f);
    for (size_t i = 0; i < n; i++) {
        dls_trace_job(trace, i, &rec);
        for (int k = 0; k < DLS_NATIVE_FIELDS; k++) {
            if (written[k]) {
                if (k > 0) {
                    fputc(',', f);
                }
                put_cell(f, &dls_native_fields[k], &rec);
            }
        }
        fputc('\n', f);
    }
}

static dls_status write_to(const char *open_path, const char *path, const dls_trace *trace,
                           dls_error *err)
{
    FILE *f = fopen(open_path, "we");
    if (!f) {
        return dls_fail(err, DLS_EOUTPUT, path, "cannot be written: %s", strerror(errno));
    }
    write_table(f, trace);
    const bool failed = ferror(f) != 0;
    if (fclose(f) != 0 || failed) {
        return dls_fail(err, DLS_EOUTPUT, path, "writing failed: %s", strerror(errno));
    }
    return DLS_OK;
}

dls_status dls_trace_save_csv(const dls_trace *trace, const char *path, dls_error *err)
{
    DLS_IN_C_LOCALE;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return write_to(path, path, trace, err); /* a pipe or a device is not replaced */
    }
    dls_atomicfile file;
    DLS_TRY(dls_atomicfile_begin(&file, path, err));
    const dls_status status = write_to(file.part, path, trace, err);
    if (status != DLS_OK) {
        dls_atomicfile_abort(&file);
        return status;
    }
    return dls_atomicfile_commit(&file, err);
}
