/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The group "sweep" of a file, as axes. What is wrong is listed with its line; whether keys and
 * values suit the configuration is found out when the points are resolved.
 */
#include "sweep/read.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/suggest.h"
#include "config/load.h"
#include "config/tree.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX 4096 /* of all baselines */

void dls_sweep_problem(const dls_sweep_reader *r, const config_setting_t *at, const char *text)
{
    char where[DLS_PLACE_BYTES];
    dls_problems_add(r->problems, dls_config_place(at, &r->from, where, sizeof where), "%s", text);
}

bool dls_sweep_members(const dls_sweep_reader *r, const config_setting_t *group, const char *shown,
                       const char *const *names)
{
    bool good = true;
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        const char *name = config_setting_name(member);
        bool known = false;
        for (const char *const *n = names; *n; n++) {
            known = known || strcmp(*n, name) == 0;
        }
        if (!known) {
            char text[300];
            snprintf(text, sizeof text, "unknown key '%.100s' of %s%s", name, shown,
                     DLS_DID_YOU_MEAN(dls_suggest(name, names)));
            dls_sweep_problem(r, member, text);
            good = false;
        }
    }
    return good;
}

bool dls_sweep_get_text(const dls_sweep_reader *r, const config_setting_t *group, const char *name,
                        const char **out)
{
    const config_setting_t *member = config_setting_get_member(group, name);
    if (member && config_setting_type(member) != CONFIG_TYPE_STRING) {
        char text[200];
        snprintf(text, sizeof text, "'%s' is %s: expected text", name,
                 dls_config_type_name(member));
        dls_sweep_problem(r, member, text);
        return false;
    }
    *out = member ? config_setting_get_string(member) : *out;
    return true;
}

bool dls_sweep_get_i64(const dls_sweep_reader *r, const config_setting_t *group, const char *name,
                       int64_t min, int64_t max, int64_t *out)
{
    const config_setting_t *member = config_setting_get_member(group, name);
    if (!member) {
        return true;
    }
    const int type = config_setting_type(member);
    const int64_t value = type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64
                              ? config_setting_get_int64(member)
                              : min - 1;
    if (value < min || value > max) {
        char text[200];
        snprintf(text, sizeof text, "'%s': expected an integer %lld..%lld", name, (long long)min,
                 (long long)max);
        dls_sweep_problem(r, member, text);
        return false;
    }
    *out = value;
    return true;
}

const config_setting_t *dls_sweep_get_list(const dls_sweep_reader *r, const config_setting_t *group,
                                           const char *name, bool *good)
{
    const config_setting_t *member = config_setting_get_member(group, name);
    const int type = member ? config_setting_type(member) : CONFIG_TYPE_NONE;
    char text[200];
    if (!member) {
        return NULL;
    }
    if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST) {
        snprintf(text, sizeof text, "'%s' is %s: expected a list", name,
                 dls_config_type_name(member));
    } else if (config_setting_length(member) == 0) {
        snprintf(text, sizeof text, "'%s' is empty", name);
    } else {
        return member;
    }
    dls_sweep_problem(r, member, text);
    *good = false;
    return NULL;
}

/* ---- the rest of the group ------------------------------------------------------------------- */

static dls_status read_set(const dls_sweep_reader *r, const config_setting_t *group)
{
    dls_sweep *s = r->sweep;
    bool good = true;
    const config_setting_t *list = dls_sweep_get_list(r, group, "set", &good);
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

static dls_status read_seeds(const dls_sweep_reader *r, const config_setting_t *group)
{
    dls_sweep *s = r->sweep;
    int64_t replicas = 0;
    bool good = dls_sweep_get_i64(r, group, "replicas", 1, DLS_STUDY_POINTS_MAX, &replicas);
    const config_setting_t *list = dls_sweep_get_list(r, group, "seeds", &good);
    if (good && list && replicas) {
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
    static const char *const names[] = {"base",     "name",   "set",      "axes", "seeds",
                                        "replicas", "output", "baseline", NULL};
    const char *base = NULL, *name = NULL, *output = NULL;
    dls_sweep_members(r, group, "'sweep'", names);
    dls_sweep_get_text(r, group, "base", &base);
    dls_sweep_get_text(r, group, "name", &name);
    dls_sweep_get_text(r, group, "output", &output);
    if (name && (*name == '\0' || strchr(name, '/') || *name == '.' || strlen(name) > 100)) {
        dls_sweep_problem(r, config_setting_get_member(group, "name"),
                          "'name' is the beginning of a file's name: no '/'");
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
    DLS_TRY(read_set(r, group));
    DLS_TRY(read_seeds(r, group));
    return dls_sweep_read_axes(r, group);
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
