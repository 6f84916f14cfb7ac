/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Alibaba's openb pods (Weng et al., ATC 2023): Kubernetes pods with whole GPUs or a share of one.
 * With 11 columns a pod runs from scheduled to deleted; the 5-column variants are packing sequences
 * without times. Pods without GPUs and pods that were never scheduled are left out.
 */
#include "traces/outcome.h"
#include "traces/trace_impl.h"

#include <string.h>

typedef struct openb_cols {
    int name, cpu, mem, gpus, gpu_milli, spec, qos, phase, created, deleted, scheduled;
} openb_cols;

/* Is the alternative p[0..len) among those of text that end before p? */
static bool seen_before(const char *text, const char *p, size_t len)
{
    for (const char *q = text; q < p;) {
        const size_t n = strcspn(q, "|");
        if (n == len && memcmp(q, p, len) == 0) {
            return true;
        }
        q += n + 1;
    }
    return false;
}

/* "V100M16|V100M32|V100M32" to "V100M16|V100M32"; out has room for all of text. */
static void drop_repeats(const char *text, char *out)
{
    const char *const start = out;
    for (const char *p = text; *p;) {
        const size_t len = strcspn(p, "|");
        if (len && !seen_before(text, p, len)) {
            if (out > start) {
                *out++ = '|';
            }
            memcpy(out, p, len);
            out += len;
        }
        p += len + (p[len] == '|');
    }
    *out = '\0';
}

static dls_status read_times(const dls_csv *csv, const openb_cols *c, dls_trace_builder *b,
                             dls_job_rec *rec, bool *skip, dls_error *err)
{
    *skip = dls_csv_missing(csv, c->scheduled);
    if (*skip) {
        dls_trace_builder_skipped(b, "never scheduled");
        return DLS_OK;
    }
    int64_t scheduled_us, deleted_us;
    DLS_TRY(dls_csv_us(csv, c->created, "a time in seconds", 6, &rec->submit_us, err));
    DLS_TRY(dls_csv_us(csv, c->scheduled, "a time in seconds", 6, &scheduled_us, err));
    DLS_TRY(dls_csv_us(csv, c->deleted, "a time in seconds", 6, &deleted_us, err));
    rec->duration_us = deleted_us > scheduled_us ? deleted_us - scheduled_us : 0;
    rec->queue_us = scheduled_us > rec->submit_us ? scheduled_us - rec->submit_us : 0;
    rec->outcome = dls_outcome_cell(csv, c->phase, b);
    rec->flags |= rec->outcome == DLS_OUTCOME_RUNNING ? DLS_JOB_CENSORED : 0u;
    return DLS_OK;
}

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const openb_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    int64_t gpus, milli;
    DLS_TRY(dls_csv_i64(csv, c->gpus, "a whole number of GPUs", 0, 0, DLS_GPUS_MAX, &gpus, err));
    DLS_TRY(
        dls_csv_i64(csv, c->gpu_milli, "0 to 1000 thousandths of a GPU", 0, 0, 1000, &milli, err));
    if (gpus == 0) {
        dls_trace_builder_skipped(b, "no GPU");
        return DLS_OK;
    }
    rec.gpus_milli = gpus * milli;
    if (c->created >= 0) {
        bool skip;
        DLS_TRY(read_times(csv, c, b, &rec, &skip, err));
        if (skip) {
            return DLS_OK;
        }
    }
    rec.id = dls_csv_str(csv, c->name);
    rec.job_class = dls_csv_str(csv, c->qos);
    DLS_TRY(dls_csv_opt_i64(csv, c->cpu, "thousandths of a core", 0, &rec.cpu_milli, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->mem, "MiB", 0, &rec.mem_mib, err));
    if (!dls_csv_missing(csv, c->spec)) {
        char spec[256];
        const char *text = dls_csv_str(csv, c->spec);
        if (strlen(text) >= sizeof spec) {
            return dls_csv_fail(csv, c->spec, err, "more than %zu bytes", sizeof spec - 1);
        }
        drop_repeats(text, spec);
        rec.gpu_types = spec;
        return dls_csv_add(csv, b, &rec, err);
    }
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_openb(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    openb_cols c;
    const bool with_times = dls_csv_sniff(src, ',', "creation_time");
    const dls_csv_bind binds[] = {
        {"name", &c.name, true},
        {"cpu_milli", &c.cpu, false},
        {"memory_mib", &c.mem, false},
        {"num_gpu", &c.gpus, true},
        {"gpu_milli", &c.gpu_milli, true},
        {"gpu_spec", &c.spec, false},
        {"qos", &c.qos, false},
        {"pod_phase", &c.phase, false},
        {"creation_time", &c.created, with_times},
        {"deletion_time", &c.deleted, with_times},
        {"scheduled_time", &c.scheduled, with_times},
    };
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "name,cpu_milli,memory_mib,num_gpu,gpu_milli") ? 90 : 0;
}

const dls_trace_format dls_trace_format_openb = {
    .name = "openb",
    .summary = "Alibaba openb (2023) pod lists, with or without times",
    .sniff = sniff,
    .read = read_openb,
};
