/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A configuration as libconfig text.
 */
#include "base/alloc.h"
#include "base/units.h"
#include "config/load.h"
#include "engine/options.h"
#include "predictor/sources/inspector.h"
#include "traces/assign.h"
#include "workload/operator/hardware.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void dls_config_put_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c == '\n') {
            fputs("\\n", out);
        } else if (c < 0x20 || c == 0x7f) {
            fprintf(out, "\\x%02x", c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

/* Whole numbers beyond 32 bits carry an L. */
static void put_i64(FILE *out, int64_t value)
{
    fprintf(out, "%lld%s", (long long)value, value > INT32_MAX || value < -INT32_MAX ? "L" : "");
}

/* libconfig tells a float from an integer by its point or exponent. */
static void put_f64(FILE *out, double value)
{
    char text[40];
    dls_units_number(value, text, sizeof text);
    fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void dls_config_put_value(FILE *out, int key, const dls_setting *value)
{
    char text[64];
    dls_quantity kind;
    switch (dls_schema[key].type) {
    case DLS_KEY_BOOL:
        fputs(value->b ? "true" : "false", out);
        break;
    case DLS_KEY_INT:
        put_i64(out, value->i);
        break;
    case DLS_KEY_FLOAT:
        put_f64(out, value->f);
        break;
    case DLS_KEY_STRING:
    case DLS_KEY_CHOICE:
        dls_config_put_string(out, value->s ? value->s : "");
        break;
    case DLS_KEY_GROUP:
    case DLS_KEY_LIST:
        break;
    default:
        if (dls_key_quantity(dls_schema[key].type, &kind)) {
            fprintf(out, "\"%s\"", dls_units_format(value->f, kind, text, sizeof text));
        }
    }
}

void dls_config_put_option(FILE *out, const dls_option *option, const dls_option_value *value)
{
    switch (option->type) {
    case DLS_OPT_BOOL:
        fputs(value->b ? "true" : "false", out);
        break;
    case DLS_OPT_I64:
        put_i64(out, value->i);
        break;
    case DLS_OPT_F64:
        put_f64(out, value->f);
        break;
    case DLS_OPT_STR:
    case DLS_OPT_PATH:
        dls_config_put_string(out, value->s ? value->s : "");
        break;
    default:
        fputs("[", out);
        for (int32_t i = 0; i < value->n_list; i++) {
            fputs(i > 0 ? ", " : "", out);
            put_f64(out, value->list[i]);
        }
        fputs("]", out);
    }
}

/* What is written, and the files that are named on the way. */
typedef struct emitter {
    FILE *out;
    dls_config *config;
    const dls_settings *s;
    dls_status status;
    dls_error *err;
} emitter;

/* A value that stands for the file `path`; NULL: for none. */
static void put_path(emitter *e, const char *value, const char *path, bool input)
{
    dls_config *c = e->config;
    const long at = ftell(e->out);
    dls_config_put_string(e->out, value);
    if (!path || e->status != DLS_OK) {
        return;
    }
    e->status = dls_grow(&c->file, &c->files_cap, c->n_files + 1, sizeof *c->file, e->err);
    char *copy = e->status == DLS_OK ? dls_strdup(path) : NULL;
    if (copy) {
        c->file[c->n_files++] =
            (dls_config_file){copy, (size_t)at, (size_t)(ftell(e->out) - at), input};
    } else {
        e->status = dls_nomem(e->err, "resolved configuration", strlen(path));
    }
}

static void put_options(emitter *e, const dls_option *options, const dls_option_value *values)
{
    for (size_t i = 0; i < dls_options_count(options); i++) {
        fprintf(e->out, "    %s = ", options[i].name);
        if (options[i].type == DLS_OPT_PATH && values[i].s && *values[i].s) {
            put_path(e, values[i].s, values[i].s, true);
        } else {
            dls_config_put_option(e->out, &options[i], &values[i]);
        }
        fputs(";\n", e->out);
    }
}

static void put_list(FILE *out, const dls_settings *s, int key)
{
    fprintf(out, "    %s = (", dls_schema_leaf(key));
    for (size_t i = 0; i < s->list[key].n; i++) {
        fprintf(out, "%s\n        {", i > 0 ? "," : "");
        for (int field = key + 1; field <= key + dls_schema_n_fields(key); field++) {
            fprintf(out, " %s = ", dls_schema_leaf(field));
            dls_config_put_value(out, field, dls_settings_get(s, field, i));
            fputs(";", out);
        }
        fputs(" }", out);
    }
    fputs(s->list[key].n > 0 ? "\n    );\n" : ");\n", out);
}

/* A path as it was resolved; NULL: the key is none, or is empty. That of predictions has a prefix.
 */
static const char *resolved(const dls_config *config, int key)
{
    switch (key) {
    case DLS_CFG_TRACE_PATH:
        return config->trace_path;
    case DLS_CFG_TRACE_ASSIGN:
        return config->trace_assign;
    case DLS_CFG_PERF_TABLE:
        return config->world.table_path;
    case DLS_CFG_PERF_ELASTIC:
        return config->elastic_table;
    case DLS_CFG_PERF_HARDWARE:
        return config->world.hardware_dir;
    case DLS_CFG_PRED_WEIGHTS:
        return config->predictions.weights;
    case DLS_CFG_PRED_CACHE:
        return config->predictions.cache_path;
    case DLS_CFG_PRED_REPLAY:
        return config->predictions_text;
    case DLS_CFG_FAIL_TRACE:
        return config->failure_trace;
    default:
        return NULL;
    }
}

/* The file that an empty value of the key stands for; NULL: none is used, or there is none. */
static const char *usual(const dls_config *config, int key, char *buf, size_t n)
{
    const char *source = config->predictions.source, *path = NULL;
    if (key == DLS_CFG_PERF_HARDWARE && (source || strcmp(config->world.model, "operator") == 0)) {
        path = dls_hardware_folder(NULL, buf, n);
    } else if (key == DLS_CFG_PRED_WEIGHTS && source && strcmp(source, "driple") == 0) {
        path = dls_inspector_weights(NULL, buf, n);
    }
    return path && access(path, R_OK) == 0 ? path : NULL;
}

/* The file that a value stands for: itself, behind a prefix, or another. */
static const char *file_of(const dls_config *config, int key, const char *value, char *buf,
                           size_t n)
{
    if (key == DLS_CFG_PRED_REPLAY) {
        return config->predictions.replay_path;
    }
    if (key == DLS_CFG_TRACE_ASSIGN && dls_assign_builtin_text(value)) {
        return NULL;
    }
    return *value || key == DLS_CFG_PRED_CACHE ? value : usual(config, key, buf, n);
}

static void put_scalar(emitter *e, int key)
{
    char buf[4096];
    const char *indent = strchr(dls_schema[key].path, '.') ? "    " : "";
    fprintf(e->out, "%s%s = ", indent, dls_schema_leaf(key));
    const char *path = resolved(e->config, key);
    if (path || key == DLS_CFG_PERF_HARDWARE || key == DLS_CFG_PRED_WEIGHTS ||
        key == DLS_CFG_PRED_CACHE) {
        path = path ? path : "";
        put_path(e, path, file_of(e->config, key, path, buf, sizeof buf),
                 key != DLS_CFG_PRED_CACHE);
    } else {
        dls_config_put_value(e->out, key, &e->s->value[key]);
    }
    fputs(";\n", e->out);
}

static void close_group(emitter *e, int group)
{
    const dls_config *config = e->config;
    if (group == DLS_CFG_SCHEDULER) {
        put_options(e, config->sched->options, config->sched_values);
    } else if (group == DLS_CFG_PLACEMENT) {
        put_options(e, config->place->options, config->placement_values);
    }
    if (group >= 0) {
        fputs("};\n", e->out);
    }
}

static void put_config(emitter *e)
{
    int group = -1;
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        if (dls_schema_list_of(key) >= 0) {
            continue;
        }
        switch (dls_schema[key].type) {
        case DLS_KEY_GROUP:
            close_group(e, group);
            group = key;
            fprintf(e->out, "%s:\n{\n", dls_schema[key].path);
            break;
        case DLS_KEY_LIST:
            put_list(e->out, e->s, key);
            break;
        default:
            put_scalar(e, key);
        }
    }
    close_group(e, group);
}

dls_status dls_config_emit(dls_config *config, const dls_settings *settings, dls_error *err)
{
    char *buf = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&buf, &len);
    if (!out) {
        return dls_nomem(err, "resolved configuration", 0);
    }
    emitter e = {.out = out, .config = config, .s = settings, .status = DLS_OK, .err = err};
    put_config(&e);
    const bool good = !ferror(out);
    if (fclose(out) != 0 || !good) {
        free(buf);
        return dls_nomem(err, "resolved configuration", len);
    }
    config->text = dls_strdup(buf);
    free(buf); /* the stream's own, not ours */
    return config->text ? e.status : dls_nomem(err, "resolved configuration", len);
}
