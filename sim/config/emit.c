/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A configuration as libconfig text.
 */
#include "base/alloc.h"
#include "base/units.h"
#include "config/load.h"
#include "engine/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void put_quantity(FILE *out, double value, dls_quantity kind)
{
    char text[64];
    fprintf(out, "\"%s\"", dls_units_format(value, kind, text, sizeof text));
}

void dls_config_put_value(FILE *out, int key, const dls_setting *value)
{
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
    case DLS_KEY_TIME:
        put_quantity(out, value->f, DLS_QUANTITY_TIME);
        break;
    case DLS_KEY_BYTES:
        put_quantity(out, value->f, DLS_QUANTITY_BYTES);
        break;
    case DLS_KEY_RATE:
        put_quantity(out, value->f, DLS_QUANTITY_RATE);
        break;
    case DLS_KEY_FLOPS:
        put_quantity(out, value->f, DLS_QUANTITY_FLOPS);
        break;
    case DLS_KEY_GROUP:
    case DLS_KEY_LIST:
        break;
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

static void put_options(FILE *out, const dls_option *options, const dls_option_value *values)
{
    for (size_t i = 0; i < dls_options_count(options); i++) {
        fprintf(out, "    %s = ", options[i].name);
        dls_config_put_option(out, &options[i], &values[i]);
        fputs(";\n", out);
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

/* A path as it was resolved; NULL: the key is none, or is empty. */
static const char *resolved(const dls_config *config, int key)
{
    switch (key) {
    case DLS_CFG_TRACE_PATH:
        return config->trace_path;
    case DLS_CFG_TRACE_ASSIGN:
        return config->trace_assign;
    case DLS_CFG_PERF_TABLE:
        return config->world.table_path;
    case DLS_CFG_PERF_HARDWARE:
        return config->world.hardware_dir;
    case DLS_CFG_PRED_WEIGHTS:
        return config->predictions.weights;
    case DLS_CFG_PRED_CACHE:
        return config->predictions.cache_path;
    case DLS_CFG_FAIL_TRACE:
        return config->failure_trace;
    case DLS_CFG_SAMPLES:
        return config->compat ? config->compat_params.samples_path : NULL;
    default:
        return NULL;
    }
}

static void put_scalar(FILE *out, const dls_config *config, const dls_settings *s, int key)
{
    const char *indent = strchr(dls_schema[key].path, '.') ? "    " : "";
    fprintf(out, "%s%s = ", indent, dls_schema_leaf(key));
    const char *path = resolved(config, key);
    if (path) {
        dls_config_put_string(out, path);
    } else if (key == DLS_CFG_RESTORE && config->compat) {
        fputs("\"0 s\"", out);
    } else {
        dls_config_put_value(out, key, &s->value[key]);
    }
    fputs(";\n", out);
}

static void close_group(FILE *out, const dls_config *config, int group)
{
    if (group == DLS_CFG_SCHEDULER && config->sched) {
        put_options(out, config->sched->options, config->sched_values);
    } else if (group == DLS_CFG_PLACEMENT && config->place) {
        put_options(out, config->place->options, config->placement_values);
    }
    if (group >= 0) {
        fputs("};\n", out);
    }
}

static void put_config(FILE *out, const dls_config *config, const dls_settings *s)
{
    int group = -1;
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        if (dls_schema_list_of(key) >= 0) {
            continue;
        }
        switch (dls_schema[key].type) {
        case DLS_KEY_GROUP:
            close_group(out, config, group);
            group = key;
            fprintf(out, "%s:\n{\n", dls_schema[key].path);
            break;
        case DLS_KEY_LIST:
            put_list(out, s, key);
            break;
        default:
            put_scalar(out, config, s, key);
        }
    }
    close_group(out, config, group);
}

dls_status dls_config_emit(const dls_config *config, const dls_settings *settings, char **text,
                           dls_error *err)
{
    char *buf = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&buf, &len);
    if (!out) {
        return dls_nomem(err, "resolved configuration", 0);
    }
    put_config(out, config, settings);
    const bool good = !ferror(out);
    if (fclose(out) != 0 || !good) {
        free(buf);
        return dls_nomem(err, "resolved configuration", len);
    }
    *text = dls_strdup(buf);
    free(buf); /* the stream's own, not ours */
    return *text ? DLS_OK : dls_nomem(err, "resolved configuration", len);
}
