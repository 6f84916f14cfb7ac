/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Assigns models to the jobs of a trace by a table of weights: parses and prints the table, draws
 * with one random stream a job.
 */
#include "traces/assign.h"

#include "base/file.h"
#include "base/guard.h"
#include "base/own.h"
#include "base/rng.h"
#include "base/suggest.h"
#include "base/units.h"
#include "traces/trace_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BATCH_MAX 1000000

void dls_assign_table_fini(dls_assign_table *table)
{
    dls_free(table->entries);
    memset(table, 0, sizeof *table);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Insert before the entries with more GPUs: entries of one count keep their order. */
static dls_status insert(dls_assign_table *table, const dls_assign_entry *entry, dls_error *err)
{
    DLS_TRY(dls_grow(&table->entries, &table->cap, table->n + 1, sizeof *table->entries, err));
    size_t at = table->n++;
    for (; at > 0 && table->entries[at - 1].gpus > entry->gpus; at--) {
        table->entries[at] = table->entries[at - 1];
    }
    table->entries[at] = *entry;
    return DLS_OK;
}

/* One line without its end; blank lines and comments add nothing. */
static dls_status parse_line(const char *line, size_t len, const char *where,
                             dls_assign_table *table, dls_error *err)
{
    char text[256], gpus[24], model[64], batch[24], weight[32], more[2];
    dls_assign_entry entry = {0};
    int64_t count = 0;
    if (len >= sizeof text || memchr(line, '\0', len)) {
        return dls_fail(err, DLS_ECONFIG, where, "line too long for a workload table");
    }
    memcpy(text, line, len);
    text[len] = '\0';
    text[strcspn(text, "#")] = '\0';
    const int words = sscanf(text, "%23s %63s %23s %31s %1s", gpus, model, batch, weight, more);
    if (words <= 0) {
        return DLS_OK;
    }
    if (words != 4) {
        return dls_fail(err, DLS_ECONFIG, where, "expected: GPUs model batch-per-GPU weight");
    }
    if (!dls_units_i64(gpus, &count) || count < 1 || count > DLS_GPUS_MAX) {
        return dls_fail(err, DLS_ECONFIG, where, "GPUs \"%s\": must be 1 to %d", gpus,
                        DLS_GPUS_MAX);
    }
    if (strlen(model) >= sizeof entry.model) {
        return dls_fail(err, DLS_ECONFIG, where, "model name \"%s\" is too long", model);
    }
    if (!dls_units_i64(batch, &entry.batch_per_gpu) || entry.batch_per_gpu < 1 ||
        entry.batch_per_gpu > BATCH_MAX) {
        return dls_fail(err, DLS_ECONFIG, where, "batch per GPU \"%s\": must be 1 to %d", batch,
                        BATCH_MAX);
    }
    if (!dls_units_f64(weight, &entry.weight) || !(entry.weight > 0 && entry.weight < 1e12)) {
        return dls_fail(err, DLS_ECONFIG, where, "weight \"%s\": must be a positive number",
                        weight);
    }
    entry.gpus = (int32_t)count;
    memcpy(entry.model, model, strlen(model) + 1);
    return insert(table, &entry, err);
}

dls_status dls_assign_table_parse(const char *text, const char *where, dls_assign_table *table,
                                  dls_error *err)
{
    memset(table, 0, sizeof *table);
    dls_status status = DLS_OK;
    text = dls_past_mark(text);
    for (int line = 1; *text && status == DLS_OK; line++) {
        char place[256];
        snprintf(place, sizeof place, "%.200s:%d", where, line);
        const size_t len = strcspn(text, "\n");
        status = parse_line(text, len, place, table, err);
        text += len + (text[len] == '\n');
    }
    if (status == DLS_OK && table->n == 0) {
        status = dls_fail(err, DLS_ECONFIG, where, "a workload table without entries");
    }
    if (status != DLS_OK) {
        dls_assign_table_fini(table);
    }
    return status;
}

size_t dls_assign_table_print(const dls_assign_table *table, char *buf, size_t size)
{
    size_t used = 0;
    if (size > 0) {
        buf[0] = '\0';
    }
    for (size_t i = 0; i < table->n; i++) {
        const dls_assign_entry *e = &table->entries[i];
        char weight[40];
        const int n =
            snprintf(used < size ? buf + used : NULL, used < size ? size - used : 0,
                     "%" PRId32 " %s %" PRId64 " %s\n", e->gpus, e->model, e->batch_per_gpu,
                     dls_units_number(e->weight, weight, sizeof weight));
        used += n > 0 ? (size_t)n : 0;
    }
    return used;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* The entry for one job: of the last count that is not above its GPUs, by weight. */
static const dls_assign_entry *draw_entry(const dls_assign_table *table, int32_t gpus, double at)
{
    const dls_assign_entry *e = table->entries;
    size_t low; /* entries before it have at most `gpus` */
    DLS_BISECT(low, table->n, e[low].gpus <= gpus);
    const int32_t count = low > 0 ? e[low - 1].gpus : e[0].gpus;
    size_t first = low > 0 ? low - 1 : 0, end = first;
    while (first > 0 && e[first - 1].gpus == count) {
        first--;
    }
    double total = 0;
    for (end = first; end < table->n && e[end].gpus == count; end++) {
        total += e[end].weight;
    }
    double left = at * total;
    while (first + 1 < end && left >= e[first].weight) {
        left -= e[first++].weight;
    }
    return &e[first];
}

static dls_status assign_all(const dls_trace *in, const dls_assign_table *table, uint64_t seed,
                             dls_trace_builder *b, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(in);
    for (size_t i = 0; i < c->n; i++) {
        dls_job_rec rec;
        dls_trace_job(in, i, &rec);
        if (!rec.model) {
            dls_rng rng = dls_rng_stream(seed, DLS_RNG_ASSIGN, i);
            const dls_assign_entry *e = draw_entry(table, c->gpus[i], dls_rng_unit(&rng));
            rec.model = e->model;
            rec.batch = rec.batch == DLS_ABSENT ? e->batch_per_gpu * c->gpus[i] : rec.batch;
            rec.flags |= DLS_JOB_ASSIGNED_MODEL;
        }
        DLS_TRY(dls_trace_builder_add(b, &rec, "workload assignment", err));
    }
    return DLS_OK;
}

/* What the copy must not change: where the rows came from and what the reader said. */
static void keep_origin(const dls_trace *in, dls_trace *out)
{
    uint64_t counts[DLS_JOB_FLAG_COUNT];
    memcpy(counts, out->info.flag_count, sizeof counts);
    memcpy(out->data[DLS_COL_ROW], in->data[DLS_COL_ROW], in->n * sizeof(uint32_t));
    out->info = in->info;
    memcpy(out->info.flag_count, counts, sizeof counts);
}

dls_status dls_trace_assign(const dls_trace *in, const dls_assign_table *table, uint64_t seed,
                            dls_trace **out, dls_error *err)
{
    if (table->n == 0) {
        return dls_fail(err, DLS_ECONFIG, NULL, "a workload table without entries");
    }
    const dls_trace_options opts = {.keep_zero_duration = true, .allow_duplicate_ids = true};
    dls_trace_builder *b;
    DLS_TRY(dls_trace_builder_create(&opts, &b, err));
    DLS_TRY(dls_trace_builder_end(b, assign_all(in, table, seed, b, err), out, err));
    keep_origin(in, *out);
    const size_t size = dls_assign_table_print(table, NULL, 0) + 1;
    (*out)->assigned = dls_alloc(size);
    if (!(*out)->assigned) {
        dls_trace_destroy(*out);
        *out = NULL;
        return dls_nomem(err, "assignment", size);
    }
    dls_assign_table_print(table, (*out)->assigned, size);
    return DLS_OK;
}

const char *dls_trace_assigned(const dls_trace *trace)
{
    return trace->assigned ? trace->assigned : "";
}

dls_status dls_trace_assign_builtin(const dls_trace *in, const char *name, uint64_t seed,
                                    dls_trace **out, dls_error *err)
{
    DLS_IN_C_LOCALE;
    enum { NAMES_MAX = 15 };
    const char *text = dls_assign_builtin_text(name), *names[NAMES_MAX + 1] = {NULL};
    DLS_OWN(dls_assign_table_fini) dls_assign_table table = {0};
    if (!text) {
        for (int i = 0; i < NAMES_MAX && dls_assign_builtin_name(i); i++) {
            names[i] = dls_assign_builtin_name(i);
        }
        return dls_fail(err, DLS_EUSAGE, NULL, "no workload table \"%s\"%s", name,
                        DLS_DID_YOU_MEAN(dls_suggest(name, names)));
    }
    DLS_TRY(dls_assign_table_parse(text, name, &table, err));
    return dls_trace_assign(in, &table, seed, out, err);
}
