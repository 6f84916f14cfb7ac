/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writing the native format: only columns that some job fills, times in seconds with as many
 * decimals as they need, so that reading gives back the same trace.
 */
#include "base/atomicfile.h"
#include "base/guard.h"
#include "dlsim/trace.h"
#include "traces/native.h"
#include "traces/outcome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* value / 10^scale as a decimal without trailing zeros; nothing if absent. */
static void put_scaled(FILE *f, int64_t value, int scale)
{
    if (value == DLS_ABSENT) {
        return;
    }
    char text[32];
    int len = snprintf(text, sizeof text, "%0*" PRId64, scale + 1, value);
    int decimals = scale;
    while (decimals > 0 && text[len - 1] == '0') {
        len--;
        decimals--;
    }
    fwrite(text, 1, (size_t)(len - decimals), f);
    if (decimals) {
        fputc('.', f);
        fwrite(text + len - decimals, 1, (size_t)decimals, f);
    }
}

/* Quoted when it has to be: separators, quotes, outer blanks, a leading '#'. */
static void put_text(FILE *f, const char *s)
{
    const size_t len = strlen(s);
    const bool bare = len == 0 || (!strpbrk(s, ",\"\r\n") && s[0] != '#' && !strchr(" \t", s[0]) &&
                                   !strchr(" \t", s[len - 1]));
    if (bare) {
        fwrite(s, 1, len, f);
        return;
    }
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"') {
            fputc('"', f);
        }
        fputc(*s, f);
    }
    fputc('"', f);
}

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

/* A numeric column of the file: the one of the trace, its name and its decimal scale. */
typedef struct number_column {
    const char *name;
    const int64_t *value; /* NULL: not written */
    int scale;
} number_column;

/* A column of codes. */
typedef struct text_column {
    const char *name;
    const int32_t *code;
    size_t n_codes; /* 0: not written */
    const char *(*text)(const dls_trace *trace, int32_t code);
} text_column;

static void write_table(FILE *f, const dls_trace *trace)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    const number_column numbers[] = {
        {"iterations", c->iterations, 0}, {"batch_size", c->batch, 0},
        {"num_cpu", c->cpu_milli, 3},     {"mem_mib", c->mem_mib, 0},
        {"priority", c->priority, 0},     {"deadline", c->deadline_us, 6},
        {"limit", c->limit_us, 6},        {"estimate", c->estimate_us, 6},
        {"queue", c->queue_us, 6},        {"nodes", c->nodes, 0},
        {"min_gpus", c->min_gpus, 0},     {"max_gpus", c->max_gpus, 0},
        {"attempts", c->attempts, 0},
    };
    const text_column texts[] = {
        {"model_name", c->model, dls_trace_n_models(trace), dls_trace_model},
        {"user", c->user, dls_trace_n_users(trace), dls_trace_user},
        {"vc", c->vc, dls_trace_n_vcs(trace), dls_trace_vc},
        {"gpu_type", c->gpu_types, dls_trace_n_gpu_types(trace), dls_trace_gpu_types},
        {"class", c->job_class, dls_trace_n_classes(trace), dls_trace_class},
    };
    const size_t n_numbers = sizeof numbers / sizeof numbers[0];
    const size_t n_texts = sizeof texts / sizeof texts[0];
    bool outcomes = false;
    uint32_t flags = 0;
    for (size_t i = 0; i < c->n; i++) {
        outcomes = outcomes || c->outcome[i] != DLS_OUTCOME_UNKNOWN;
        flags |= c->flags[i];
    }

    const char *epoch = dls_trace_about(trace)->epoch;
    if (*epoch) {
        fprintf(f, DLS_NATIVE_EPOCH "%s\n", epoch);
    }
    fputs("job_id,num_gpu,submit_time,duration", f);
    for (size_t k = 0; k < n_texts; k++) {
        if (texts[k].n_codes) {
            fprintf(f, ",%s", texts[k].name);
        }
    }
    for (size_t k = 0; k < n_numbers; k++) {
        if (numbers[k].value) {
            fprintf(f, ",%s", numbers[k].name);
        }
    }
    fputs(outcomes ? ",status" : "", f);
    fputs(flags ? ",flags\n" : "\n", f);

    for (size_t i = 0; i < c->n; i++) {
        put_text(f, dls_trace_id(trace, i));
        fputc(',', f);
        put_scaled(f, c->gpus_milli ? c->gpus_milli[i] : (int64_t)c->gpus[i] * 1000, 3);
        fputc(',', f);
        put_scaled(f, c->submit_us[i], 6);
        fputc(',', f);
        put_scaled(f, c->duration_us[i], 6);
        for (size_t k = 0; k < n_texts; k++) {
            if (texts[k].n_codes) {
                fputc(',', f);
                put_text(f, texts[k].text(trace, texts[k].code[i]));
            }
        }
        for (size_t k = 0; k < n_numbers; k++) {
            if (numbers[k].value) {
                fputc(',', f);
                put_scaled(f, numbers[k].value[i], numbers[k].scale);
            }
        }
        if (outcomes) {
            fprintf(f, ",%s", dls_outcome_text((dls_outcome)c->outcome[i]));
        }
        if (flags) {
            fputc(',', f);
            put_flags(f, c->flags[i]);
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
