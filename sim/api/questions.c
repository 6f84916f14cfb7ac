/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What can be asked of a set-up: values of keys, texts about them, what they can name.
 */
#include "api/answer.h"
#include "api/setup.h"

#include "base/assert.h"
#include "base/guard.h"
#include "base/json.h"
#include "base/suggest.h"
#include "config/tree.h"

#include <string.h>

/* ---- one value ------------------------------------------------------------------------------- */

/* The setting of a key as people write it: libconfig wants a point before brackets. */
static const config_setting_t *find(const config_t *tree, const char *key)
{
    char path[300];
    size_t n = 0;
    for (; *key && n < sizeof path - 2; key++) {
        if (*key == '[') {
            path[n++] = '.';
        }
        path[n++] = *key;
    }
    path[n] = '\0';
    return *key || n == 0 ? NULL : config_lookup(tree, path);
}

/* The resolved text is read again: it has every key and every option at its value. */
static dls_status put_value(dls_setup *setup, const char *key, FILE *to, dls_error *err)
{
    static const dls_config_source from = {"configuration", "."};
    const char *text = setup->loaded->config->text;
    char list[DLS_OPT_LIST_MAX * 40];
    config_t tree;
    dls_problems none = {0};
    config_init(&tree);
    const char *value = NULL;
    if (dls_config_tree_read(&tree, text, strlen(text), &from, &none)) {
        const config_setting_t *setting = find(&tree, key);
        value = setting ? dls_config_scalar(setting, list, sizeof list) : NULL;
        value = setting && !value ? dls_config_scalars(setting, list, sizeof list) : value;
    }
    if (value) {
        fputs(value, to);
    }
    config_destroy(&tree);
    dls_problems_fini(&none);
    const char *other = dls_schema_suggest(key);
    return value ? DLS_OK
                 : dls_fail(err, DLS_EUSAGE, NULL, "'%s' is no key with a value%s", key,
                            DLS_DID_YOU_MEAN(other && strcmp(other, key) != 0 ? other : NULL));
}

dls_status dls_setup_get(dls_setup *setup, const char *key, const char **value, dls_error *err)
{
    dls_answer answer;
    DLS_TRY(dls_setup_check(setup, err));
    DLS_TRY(dls_answer_begin(&answer, &setup->answer, err));
    return dls_answer_end(&answer, put_value(setup, key, answer.to, err), value, err);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static dls_status put_json(FILE *to, const dls_registry *registry, dls_error *err)
{
    json_object *all = json_object_new_array();
    if (!all) {
        return dls_nomem(err, "JSON", 0);
    }
    dls_config_json(all, registry);
    return dls_json_print(to, all, err);
}

static dls_status put_text(const dls_setup *setup, dls_text what, const char *key, FILE *to,
                           dls_error *err)
{
    switch (what) {
    case DLS_TEXT_RESOLVED:
        fputs(setup->loaded->config->text, to);
        return DLS_OK;
    case DLS_TEXT_DEFAULTS:
        return dls_config_print_defaults(to, setup->registry, err);
    case DLS_TEXT_MARKDOWN:
        dls_config_print_markdown(to, setup->registry);
        return DLS_OK;
    case DLS_TEXT_JSON:
        return put_json(to, setup->registry, err);
    case DLS_TEXT_KEY:
        return dls_config_explain(to, setup->registry, key, err);
    }
    return dls_fail(err, DLS_EUSAGE, NULL, "there is no text %d", (int)what);
}

dls_status dls_setup_text_of(dls_setup *setup, dls_text what, const char *key, const char **text,
                             dls_error *err)
{
    DLS_ASSERT(setup && text && (key || what != DLS_TEXT_KEY));
    DLS_IN_C_LOCALE;
    dls_answer answer;
    if (what == DLS_TEXT_RESOLVED) {
        DLS_TRY(dls_setup_check(setup, err));
    }
    DLS_TRY(dls_answer_begin(&answer, &setup->answer, err));
    return dls_answer_end(&answer, put_text(setup, what, key, answer.to, err), text, err);
}

/* ---- names ----------------------------------------------------------------------------------- */

const dls_sched_ops *const *dls_setup_scheds(const dls_setup *setup)
{
    return dls_registry_scheds(setup->registry);
}

const dls_placement_ops *const *dls_setup_placements(const dls_setup *setup)
{
    return dls_registry_placements(setup->registry);
}

const char *dls_setup_origin(const dls_setup *setup, const void *policy)
{
    return dls_registry_origin(setup->registry, policy);
}

static const char *key_name(size_t i, const char **summary)
{
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        if (dls_schema_list_of(key) < 0 && dls_schema_is_value(key) && i-- == 0) {
            *summary = dls_schema[key].o.doc;
            return dls_schema[key].o.name;
        }
    }
    return NULL;
}

const char *dls_known_name(dls_known_list of, size_t i, const char **summary)
{
    const char *unused;
    summary = summary ? summary : &unused;
    if (of == DLS_KNOWN_KEYS) {
        return key_name(i, summary);
    }
    if (of == DLS_KNOWN_FORMATS) {
        const dls_trace_format *const *format = dls_trace_formats();
        for (; *format && i > 0; i--) {
            format++;
        }
        *summary = *format ? (*format)->summary : "";
        return *format ? (*format)->name : NULL;
    }
    const dls_prediction_source *const *source = dls_prediction_sources();
    for (; *source && i > 0; i--) {
        source++;
    }
    *summary = *source ? (*source)->summary : "";
    return *source ? (*source)->name : NULL;
}
