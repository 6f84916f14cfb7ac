/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The group "sweep" of a file, as axes. What is wrong is listed with its line; whether keys and
 * values suit the configuration is found out when the points are resolved.
 */
#include "sweep/read.h"

#include "base/own.h"
#include "base/suggest.h"
#include "config/load.h"
#include "config/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 4096 /* of all baselines */

void dls_sweep_problem(const dls_sweep_reader *r, const config_setting_t *at, const char *fmt, ...)
{
    char where[DLS_PLACE_BYTES], text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    dls_problems_add(r->problems, dls_config_place(at, &r->from, where, sizeof where), "%s", text);
}

static bool unknown(const dls_sweep_reader *r, const config_setting_t *member, const char *shown,
                    const dls_sweep_member *members)
{
    const char *names[16] = {NULL}, *name = config_setting_name(member);
    if (dls_named(members, SIZE_MAX, sizeof *members, name) < SIZE_MAX) {
        return false;
    }
    for (size_t i = 0; members[i].name; i++) {
        names[i] = members[i].name;
    }
    dls_sweep_problem(r, member, "unknown key '%.100s' of %s%s", name, shown,
                      DLS_DID_YOU_MEAN(dls_suggest(name, names)));
    return true;
}

static bool take(const dls_sweep_reader *r, const config_setting_t *value,
                 const dls_sweep_member *m)
{
    const int type = config_setting_type(value);
    const bool list = type == CONFIG_TYPE_ARRAY || type == CONFIG_TYPE_LIST;
    const bool whole = type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
    const int64_t number = whole ? config_setting_get_int64(value) : 0;
    if (m->type == DLS_SWEEP_TEXT && type == CONFIG_TYPE_STRING) {
        *(const char **)m->to = config_setting_get_string(value);
    } else if (m->type == DLS_SWEEP_LIST && list && config_setting_length(value) > 0) {
        *(const config_setting_t **)m->to = value;
    } else if (m->type == DLS_SWEEP_I64 && whole && number >= m->least && number <= m->most) {
        *(int64_t *)m->to = number;
    } else if (m->type == DLS_SWEEP_BOOL && type == CONFIG_TYPE_BOOL) {
        *(bool *)m->to = config_setting_get_bool(value);
    } else if (m->type == DLS_SWEEP_LIST && list) {
        dls_sweep_problem(r, value, "'%s' is empty", m->name);
        return false;
    } else if (m->type == DLS_SWEEP_I64) {
        dls_sweep_problem(r, value, "'%s': expected an integer %lld..%lld", m->name,
                          (long long)m->least, (long long)m->most);
        return false;
    } else if (m->type != DLS_SWEEP_ANY) {
        dls_sweep_problem(r, value, "'%s' is %s: expected %s", m->name, dls_config_type_name(value),
                          m->type == DLS_SWEEP_TEXT   ? "text"
                          : m->type == DLS_SWEEP_LIST ? "a list"
                                                      : "true or false");
        return false;
    }
    return true;
}

bool dls_sweep_take(const dls_sweep_reader *r, const config_setting_t *group, const char *shown,
                    const dls_sweep_member *members)
{
    bool good = true;
    for (int i = 0; shown && i < config_setting_length(group); i++) {
        good = !unknown(r, config_setting_get_elem(group, (unsigned)i), shown, members) && good;
    }
    for (; members->name; members++) {
        const config_setting_t *value = config_setting_get_member(group, members->name);
        good = (!value || take(r, value, members)) && good;
    }
    return good;
}

/* ---- the rest of the group ------------------------------------------------------------------- */

static dls_status read_set(const dls_sweep_reader *r, const config_setting_t *list)
{
    dls_sweep *s = r->sweep;
    for (int i = 0; list && i < config_setting_length(list); i++) {
        const config_setting_t *one = config_setting_get_elem(list, (unsigned)i);
        const bool text = config_setting_type(one) == CONFIG_TYPE_STRING;
        char where[DLS_PLACE_BYTES];
        if (!text || !strchr(config_setting_get_string(one), '=')) {
            dls_sweep_problem(r, one, "expected \"key=value\"");
            continue;
        }
        dls_config_place(one, &r->from, where, sizeof where);
        DLS_TRY(dls_grow(&s->set, &s->set_cap, s->n_set + 1, sizeof *s->set, r->err));
        DLS_TRY(
            dls_grow(&s->set_where, &s->set_where_cap, s->n_set + 1, sizeof *s->set_where, r->err));
        s->set[s->n_set] = s->set_where[s->n_set] = NULL;
        s->n_set++;
        DLS_TRY(dls_sweep_text(config_setting_get_string(one), &s->set[s->n_set - 1], r->err));
        DLS_TRY(dls_sweep_text(where, &s->set_where[s->n_set - 1], r->err));
    }
    return DLS_OK;
}

static dls_status read_seeds(const dls_sweep_reader *r, int64_t replicas,
                             const config_setting_t *list)
{
    dls_sweep *s = r->sweep;
    if (list && replicas) {
        dls_sweep_problem(r, list, "either 'replicas' or 'seeds'");
        return DLS_OK;
    }
    s->n_seeds = (size_t)replicas;
    for (int i = 0; list && i < config_setting_length(list); i++) {
        const config_setting_t *one = config_setting_get_elem(list, (unsigned)i);
        if (!config_setting_is_number(one) || config_setting_type(one) == CONFIG_TYPE_FLOAT ||
            config_setting_get_int64(one) < 0) {
            dls_sweep_problem(r, one, "a seed is an integer, 0 or more");
            continue;
        }
        DLS_TRY(dls_grow(&s->seed, &s->seeds_cap, s->n_seeds + 1, sizeof *s->seed, r->err));
        s->seed[s->n_seeds++] = config_setting_get_int64(one);
    }
    return DLS_OK;
}

/* The configuration: another file, or the rest of this one. */
static dls_status read_base(const dls_sweep_reader *r, const config_setting_t *root,
                            const char *base)
{
    dls_sweep *s = r->sweep;
    s->own_base = false;
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *other = config_setting_get_elem(root, (unsigned)i);
        if (strcmp(config_setting_name(other), DLS_CONFIG_SWEEP) != 0) {
            dls_sweep_problem(r, other,
                              "a sweep with 'base' takes its configuration from there: leave this "
                              "key out, or 'base'");
        }
    }
    const bool as_it_is = *base == '/' || strcmp(r->from.folder, ".") == 0;
    const size_t n = strlen(r->from.folder) + strlen(base) + 2;
    char *path = NULL;
    DLS_TRY(dls_alloc_array(&path, n, 1, "sweep", r->err));
    snprintf(path, n, "%s%s%s", as_it_is ? "" : r->from.folder, as_it_is ? "" : "/", base);
    dls_free(s->base);
    s->base = path;
    return DLS_OK;
}

/* One or several, a line each. */
static dls_status read_baselines(const dls_sweep_reader *r, const config_setting_t *group)
{
    const config_setting_t *member = config_setting_get_member(group, "baseline");
    const int n = member && config_setting_is_aggregate(member) ? config_setting_length(member) : 1;
    char lines[TEXT_MAX];
    size_t len = 0;
    for (int i = 0; member && i < n; i++) {
        const config_setting_t *one = config_setting_is_aggregate(member)
                                          ? config_setting_get_elem(member, (unsigned)i)
                                          : member;
        if (config_setting_type(one) != CONFIG_TYPE_STRING ||
            len + strlen(config_setting_get_string(one)) + 2 > sizeof lines) {
            dls_sweep_problem(r, one,
                              "'baseline' is the label of a design or a part of one, or a list of "
                              "them");
            return DLS_OK;
        }
        len += (size_t)snprintf(lines + len, sizeof lines - len, "%s%s", i ? "\n" : "",
                                config_setting_get_string(one));
    }
    return len ? dls_sweep_text(lines, &r->sweep->baseline, r->err) : DLS_OK;
}

static dls_status read_group(const dls_sweep_reader *r, const config_setting_t *root,
                             const config_setting_t *group)
{
    const char *base = NULL, *name = NULL, *output = NULL;
    const config_setting_t *set = NULL, *axes = NULL, *seeds = NULL;
    int64_t replicas = 0;
    const dls_sweep_member members[] = {
        {"base", DLS_SWEEP_TEXT, &base, 0, 0},
        {"name", DLS_SWEEP_TEXT, &name, 0, 0},
        {"output", DLS_SWEEP_TEXT, &output, 0, 0},
        {"baseline", DLS_SWEEP_ANY, NULL, 0, 0},
        {"set", DLS_SWEEP_LIST, &set, 0, 0},
        {"replicas", DLS_SWEEP_I64, &replicas, 1, DLS_STUDY_POINTS_MAX},
        {"seeds", DLS_SWEEP_LIST, &seeds, 0, 0},
        {"axes", DLS_SWEEP_LIST, &axes, 0, 0},
        {.name = NULL}};
    dls_sweep_take(r, group, "'sweep'", members);
    if (name && (*name == '\0' || strchr(name, '/') || *name == '.' || strlen(name) > 100)) {
        dls_sweep_problem(r, config_setting_get_member(group, "name"),
                          "'name' is the beginning of a file's name: 1 to 100 bytes, no '/' and no '.' first");
    } else if (name) {
        DLS_TRY(dls_sweep_text(name, &r->sweep->name, r->err));
    }
    if (output) {
        DLS_TRY(dls_sweep_text(output, &r->sweep->output, r->err));
    }
    DLS_TRY(read_baselines(r, group));
    if (base) {
        DLS_TRY(read_base(r, root, base));
    }
    DLS_TRY(read_set(r, set));
    DLS_TRY(read_seeds(r, replicas, seeds));
    return dls_sweep_read_axes(r, axes);
}

/* A key of two axes would be set twice. */
static void check_keys(const dls_sweep *s, dls_problems *problems)
{
    for (size_t k = 0; k < dls_sweep_n_keys(s); k++) {
        for (size_t j = k + 1; j < dls_sweep_n_keys(s); j++) {
            if (strcmp(dls_sweep_key(s, k), dls_sweep_key(s, j)) == 0) {
                dls_problems_add(problems, dls_sweep_key_where(s, k), "'%s' is varied twice",
                                 dls_sweep_key(s, k));
            }
        }
    }
}

static dls_status read_text(dls_sweep *sweep, const char *text, size_t len, const char *folder,
                            dls_problems *problems, dls_error *err)
{
    const dls_sweep_reader r = {
        .sweep = sweep, .from = {sweep->path, folder}, .problems = problems, .err = err};
    DLS_OWN(config_destroy) config_t tree = {0};
    config_init(&tree);
    if (!dls_config_tree_read(&tree, text, len, &r.from, problems)) {
        return DLS_OK;
    }
    const config_setting_t *root = config_root_setting(&tree);
    const config_setting_t *group = config_setting_get_member(root, DLS_CONFIG_SWEEP);
    if (group && config_setting_type(group) == CONFIG_TYPE_GROUP) {
        return read_group(&r, root, group);
    }
    dls_problems_add(problems, sweep->path, "has no group 'sweep': see docs/sweeps.md");
    return DLS_OK;
}

dls_status dls_sweep_load(const char *path, dls_problems *problems, dls_sweep **out, dls_error *err)
{
    const size_t before = problems->n;
    DLS_HOLD(dls_sweep_destroy) dls_sweep *sweep = NULL;
    DLS_FREED char *text = NULL, *folder = NULL;
    size_t len;
    DLS_TRY(dls_sweep_create(path, &sweep, err));
    DLS_TRY(dls_config_read_text(path, &text, &len, err));
    DLS_TRY(dls_config_folder(path, &folder, err));
    DLS_TRY(read_text(sweep, text, len, folder, problems, err));
    if (problems->n == before) {
        check_keys(sweep, problems);
    }
    if (problems->n == before && dls_sweep_n_points(sweep) > DLS_STUDY_POINTS_MAX) {
        dls_problems_add(problems, path, "has more than a million points");
    }
    DLS_TRY(dls_problems_since(problems, before, path, err));
    *out = dls_take(&sweep);
    return DLS_OK;
}
