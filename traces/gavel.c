/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gavel (Narayanan et al., OSDI 2020) and Shockwave (Zheng et al., NSDI 2023): TAB separated, no
 * header, no quoting; 7, 10 or 12 fields. Work is given in steps; only Shockwave has a run time.
 * The models of the 7-field files, which follow Philly's arrivals, were drawn at random.
 */
#include "base/own.h"
#include "traces/reader.h"
#include "traces/table.h"
#include "traces/trace_impl.h"

#include <stdio.h>
#include <string.h>

/* Where the fields are; -1: not there. */
typedef struct gavel_layout {
    size_t n_fields;
    int data_dir, steps, gpus, mode, weight, slo, duration, arrival;
} gavel_layout;

static const gavel_layout layouts[] = {
    {7, 3, 4, 6, -1, -1, -1, -1, 5},
    {10, 4, 5, 6, -1, 7, 8, -1, 9},
    {12, 4, 5, 6, 7, 8, 9, 10, 11},
};

static const gavel_layout *layout_of(size_t n_fields)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (layouts[i].n_fields == n_fields) {
            return &layouts[i];
        }
    }
    return NULL;
}

/* "ResNet-18 (batch size 64)" to "ResNet-18" and 64; a bare name has no batch size. */
static dls_status split_type(const dls_csv *csv, char *model, size_t size, int64_t *batch,
                             dls_error *err)
{
    static const char mark[] = " (batch size ";
    const dls_csv_cell *cell = &csv->cell[0];
    if (cell->len >= size) {
        return dls_csv_fail(csv, 0, err, "a job type of %u bytes (at most %zu)",
                            (unsigned)cell->len, size - 1);
    }
    memcpy(model, cell->s, cell->len);
    model[cell->len] = '\0';
    char *open = strstr(model, mark);
    if (open) {
        int end = 0;
        long long value = 0;
        if (sscanf(open + sizeof mark - 1, "%9lld)%n", &value, &end) != 1 || end == 0 ||
            value <= 0 || open[sizeof mark - 1 + (size_t)end] != '\0') {
            return dls_csv_fail(csv, 0, err, "expected 'Model (batch size N)'");
        }
        *batch = value;
        *open = '\0';
    }
    return DLS_OK;
}

static dls_status row(dls_csv *csv, const void *user, dls_trace_builder *b, dls_error *err)
{
    const gavel_layout *at = layout_of(csv->n_cells);
    if (!at) {
        return dls_csv_fail(csv, -1, err, "%zu fields, expected 7, 10 or 12 separated by TABs",
                            csv->n_cells);
    }
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    char model[128];
    DLS_TRY(split_type(csv, model, sizeof model, &rec.batch, err));
    rec.model = model;
    rec.flags = at->n_fields == 7 ? DLS_JOB_SYNTHETIC_MODEL : 0u;
    int64_t flag;
    DLS_TRY(dls_csv_i64(csv, at->data_dir, "0 or 1 (needs a data directory)", 0, 0, 1, &flag, err));
    DLS_TRY(
        dls_csv_i64(csv, at->steps, "a number of steps", 0, 0, INT64_MAX, &rec.iterations, err));
    DLS_TRY(dls_csv_gpus(csv, at->gpus, &rec.gpus_milli, err));
    rec.batch = dls_batch_of_all(rec.batch, rec.gpus_milli);
    DLS_TRY(dls_csv_us(csv, at->arrival, DLS_SECONDS, &rec.submit_us, err));
    if (at->weight >= 0) {
        DLS_TRY(dls_csv_i64(csv, at->weight, "a whole priority weight", 0, 0, INT32_MAX,
                            &rec.priority, err));
    }
    if (at->slo >= 0) {
        int64_t slo;
        DLS_TRY(dls_csv_i64(csv, at->slo, "a service level (-1: none)", 6, INT64_MIN, INT64_MAX,
                            &slo, err));
        if (slo > 0) {
            dls_trace_builder_noted(b, "service level not used");
        }
    }
    if (at->duration >= 0) {
        DLS_TRY(dls_csv_duration(csv, at->duration, 6, &rec.duration_us, err));
        rec.job_class = dls_csv_str(csv, at->mode);
    }
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_gavel(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    dls_csv_init(&csv, src->path, src->text, src->len, '\t');
    return dls_trace_rows_read(&csv, row, NULL, b, err);
}

static int sniff(const dls_trace_source *src)
{
    const size_t len = strcspn(src->text, "\n");
    size_t n_tabs = 0;
    for (size_t i = 0; i < len; i++) {
        n_tabs += src->text[i] == '\t';
    }
    return layout_of(n_tabs + 1) ? 70 : 0;
}

const dls_trace_format dls_trace_format_gavel = {
    .name = "gavel",
    .summary = "Gavel (7 or 10 fields, no durations) and Shockwave (12) .trace files",
    .sniff = sniff,
    .read = read_gavel,
};
