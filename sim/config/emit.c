/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A configuration as libconfig text, with the files that it names.
 */
#include "base/alloc.h"
#include "base/own.h"
#include "config/load.h"
#include "predictor/sources/inspector.h"
#include "workload/operator/hardware.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct emitter {
    FILE *out;
    dls_config *config;
    bool explain; /* every key with what it means, for people; else the files are noted */
    dls_status status;
    dls_error *err;
} emitter;

/* A comment, wrapped at 96 columns. */
static void put_comment(FILE *out, const char *indent, const char *text)
{
    const size_t width = 96 - strlen(indent);
    while (*text) {
        size_t len = strlen(text);
        if (len > width) {
            for (len = width; len > 0 && text[len] != ' '; len--) {
            }
            len = len > 0 ? len : width;
        }
        fprintf(out, "%s# %.*s\n", indent, (int)len, text);
        text += len + (text[len] == ' ');
    }
}

static void explain(FILE *out, const char *indent, const dls_option *o, int key)
{
    char domain[300], line[900];
    snprintf(line, sizeof line, "%s%s%s Takes %s.",
             key >= 0 && dls_schema[key].required ? "Required. " : "", o->doc, key < 0 ? "." : "",
             dls_option_domain(o, domain, sizeof domain));
    put_comment(out, indent, line);
}

/* The file that an empty value of the key stands for; NULL: none is used, or there is none. */
static const char *usual(const dls_config *config, int key, char *buf, size_t n)
{
    const char *source = config->predictions.source, *path = NULL;
    if (key == DLS_CFG_PERF_HARDWARE && (source || strcmp(config->world.model, "operator") == 0)) {
        path = dls_hardware_folder(NULL, buf, n);
    } else if (key == DLS_CFG_PRED_WEIGHTS && source && strcmp(source, "driple") == 0) {
        path = dls_inspector_weights(NULL, buf, n);
    } else if (key == DLS_CFG_PRED_CACHE) {
        return "";
    }
    return path && access(path, R_OK) == 0 ? path : NULL;
}

static void note_file(emitter *e, const char *path, size_t at, bool input)
{
    dls_config *c = e->config;
    if (e->status != DLS_OK) {
        return;
    }
    e->status = dls_grow(&c->file, &c->files_cap, c->n_files + 1, sizeof *c->file, e->err);
    path = e->status == DLS_OK ? dls_settings_keep(&c->settings, path, strlen(path), e->err) : NULL;
    if (!path) {
        e->status = DLS_ENOMEM;
        return;
    }
    c->file[c->n_files++] = (dls_config_file){path, at, (size_t)ftell(e->out) - at, input};
}

/* key: of the schema, -1 for an option of a policy. */
static void put(emitter *e, const char *indent, const char *name, const dls_option *o, int key,
                const dls_option_value *value)
{
    char buf[4096];
    if (e->explain) {
        explain(e->out, indent, o, key);
    }
    fprintf(e->out, "%s%s = ", indent, name);
    const size_t at = e->explain ? 0 : (size_t)ftell(e->out);
    dls_option_put(e->out, o, value);
    if (o->type == DLS_OPT_PATH && !e->explain) {
        const char *file =
            *value->s ? dls_settings_file(key, value->s) : usual(e->config, key, buf, sizeof buf);
        if (file) {
            note_file(e, file, at, key != DLS_CFG_PRED_CACHE);
        }
    }
    if (key == DLS_CFG_TRACE_STAND_INS && !e->explain) {
        const char *left = value->s;
        while ((left = dls_model_next_file(left, buf))) { /* beside the text, which stays */
            note_file(e, buf, (size_t)ftell(e->out), true);
        }
    }
    fputs(";\n", e->out);
}

static void put_list(emitter *e, int list)
{
    const dls_settings *s = &e->config->settings;
    fprintf(e->out, "    %s = (", dls_schema_leaf(list));
    for (size_t i = 0; i < s->list[list].n; i++) {
        fprintf(e->out, "%s\n        {", i > 0 ? "," : "");
        for (int key = list + 1; key <= list + dls_schema_n_fields(list); key++) {
            fprintf(e->out, " %s = ", dls_schema_leaf(key));
            dls_option_put(e->out, &dls_schema[key].o, &dls_settings_get(s, key, i)->v);
            fputs(";", e->out);
        }
        fputs(" }", e->out);
    }
    fputs(s->list[list].n > 0 ? "\n    );\n" : ");\n", e->out);
}

/* One element, a key a line; that of an empty list is a comment. */
static void explain_list(emitter *e, int list)
{
    const bool empty = e->config->settings.list[list].n == 0;
    const char *mark = empty ? "# " : "";
    put_comment(e->out, "    ", dls_schema[list].o.doc);
    fprintf(e->out, "    %s%s = (\n    %s  {\n", mark, dls_schema_leaf(list), mark);
    for (int key = list + 1; key <= list + dls_schema_n_fields(list); key++) {
        const dls_option *o = &dls_schema[key].o;
        dls_option_value value = {.s = ""};
        if (dls_option_parse(o, o->def, &value, NULL) == DLS_OK) {
            put(e, empty ? "    #     " : "        ", dls_schema_leaf(key), o, key, &value);
        }
    }
    fprintf(e->out, "    %s  }\n    %s);\n", mark, mark);
}

static void close_group(emitter *e, int group)
{
    const dls_sim_params *p = &e->config->sim;
    const bool sched = group == DLS_CFG_SCHEDULER, place = group == DLS_CFG_PLACEMENT;
    const dls_option *options = sched ? p->sched->options : place ? p->placement->options : NULL;
    if (e->explain && dls_options_count(options) > 0) {
        fprintf(e->out, "    # Options of %s:\n", sched ? p->sched->name : p->placement->name);
    }
    for (size_t i = 0; i < dls_options_count(options); i++) {
        put(e, "    ", options[i].name, &options[i], -1,
            sched ? &p->sched_values[i] : &p->placement_values[i]);
    }
    fputs(group >= 0 ? "};\n" : "", e->out);
}

static void put_config(emitter *e)
{
    int group = -1;
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        const dls_option *o = &dls_schema[key].o;
        if (o->type == DLS_OPT_GROUP) {
            close_group(e, group);
            group = key;
            if (e->explain) {
                fputs("\n", e->out);
                put_comment(e->out, "", o->doc);
            }
            fprintf(e->out, "%s:\n{\n", o->name);
        } else if (o->type == DLS_OPT_LIST) {
            (e->explain ? explain_list : put_list)(e, key);
        } else if (dls_schema_list_of(key) < 0) {
            put(e, group >= 0 ? "    " : "", dls_schema_leaf(key), o, key,
                &e->config->settings.value[key].v);
        }
    }
    close_group(e, group);
}

dls_status dls_config_emit(dls_config *config, dls_error *err)
{
    char *buf = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&buf, &len);
    if (!out) {
        return dls_nomem(err, "resolved configuration", 0);
    }
    emitter e = {.out = out, .config = config, .status = DLS_OK, .err = err};
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

dls_status dls_config_print_defaults(FILE *out, const dls_registry *registry, dls_error *err)
{
    const dls_config_request request = {.content =
                                            "schema_version = 1; cluster: { nodes = ("
                                            "{ count = 32; gpus = 8; gpu_type = \"V100\"; }); };",
                                        .registry = registry};
    dls_problems none = {0};
    DLS_HOLD(dls_config_destroy) dls_config *config = NULL;
    DLS_TRY(dls_config_load(&request, &none, &config, err));
    fputs("# Every key of a dlsim configuration, at its default. Quantities carry units.\n", out);
    emitter e = {.out = out, .config = config, .explain = true, .err = err};
    put_config(&e);
    return DLS_OK;
}
