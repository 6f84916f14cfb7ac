/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The public set-up: what a configuration is loaded from, and kept until something else is said.
 */
#include "api/setup.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/guard.h"
#include "base/own.h"
#include "config/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dls_status never(void *state, const dls_view *view, dls_actions *out, dls_error *err)
{
    return dls_fail(err, DLS_EUSAGE, "outside", "decisions from outside are made in steps");
}

const dls_sched_ops dls_sched_outside = {
    .abi = DLS_POLICY_ABI,
    .name = "outside",
    .summary = "decisions are made by the program that uses the library",
    .pass = never,
};

const char *dls_version(void)
{
    return DLS_VERSION;
}

dls_status dls_setup_create(dls_setup **out, dls_error *err)
{
    DLS_ASSERT(out);
    DLS_IN_C_LOCALE;
    DLS_FREED dls_setup *setup = NULL;
    DLS_TRY(dls_alloc_array(&setup, 1, sizeof *setup, "set-up", err));
    DLS_TRY(dls_registry_create(&setup->registry, err));
    *out = dls_take(&setup);
    return DLS_OK;
}

void dls_setup_destroy(dls_setup *setup)
{
    if (!setup) {
        return;
    }
    for (size_t i = 0; i < setup->n_set; i++) {
        DLS_FREE_ALL((char *)(uintptr_t)setup->set[i].key, (char *)(uintptr_t)setup->set[i].text,
                     (char *)(uintptr_t)setup->set[i].where);
    }
    DLS_FREE_ALL(setup->set, setup->path, setup->content);
    dls_problems_fini(&setup->problems);
    dls_shared_config_leave(setup->loaded);
    free(setup->answer);
    dls_registry_destroy(setup->registry);
    dls_free(setup);
}

/* What is known of it no longer holds. */
static void change(dls_setup *setup)
{
    dls_shared_config_leave(setup->loaded);
    setup->loaded = NULL;
}

static dls_status copy(const char *text, char **out, dls_error *err)
{
    char *mine = dls_strdup(text);
    if (!mine) {
        return dls_nomem(err, "set-up", strlen(text));
    }
    dls_free(*out);
    *out = mine;
    return DLS_OK;
}

dls_status dls_setup_file(dls_setup *setup, const char *path, dls_error *err)
{
    DLS_ASSERT(setup && path);
    change(setup);
    DLS_TRY(copy(path, &setup->path, err));
    dls_free(setup->content);
    setup->content = NULL;
    return DLS_OK;
}

dls_status dls_setup_text(dls_setup *setup, const char *text, dls_error *err)
{
    DLS_ASSERT(setup && text);
    change(setup);
    DLS_TRY(copy(text, &setup->content, err));
    dls_free(setup->path);
    setup->path = NULL;
    return DLS_OK;
}

dls_status dls_setup_set_from(dls_setup *setup, const char *key, const char *value,
                              const char *origin, dls_error *err)
{
    DLS_FREED char *mine = NULL, *text = NULL, *where = NULL;
    change(setup);
    DLS_TRY(dls_grow(&setup->set, &setup->set_cap, setup->n_set + 1, sizeof *setup->set, err));
    DLS_TRY(key ? copy(key, &mine, err) : DLS_OK);
    DLS_TRY(copy(value, &text, err));
    DLS_TRY(copy(origin, &where, err));
    setup->set[setup->n_set++] = (dls_override){dls_take(&mine), dls_take(&text), dls_take(&where)};
    return DLS_OK;
}

dls_status dls_setup_set(dls_setup *setup, const char *key, const char *value, dls_error *err)
{
    DLS_ASSERT(setup && key && value);
    return dls_setup_set_from(setup, key, value, key, err);
}

dls_status dls_setup_plugin(dls_setup *setup, const char *path, dls_error *err)
{
    DLS_ASSERT(setup && path);
    DLS_IN_C_LOCALE;
    change(setup);
    return dls_registry_load(setup->registry, path, err);
}

dls_status dls_setup_sched(dls_setup *setup, const dls_sched_ops *ops, dls_error *err)
{
    DLS_ASSERT(setup && ops);
    DLS_IN_C_LOCALE;
    DLS_TRY(dls_registry_add(setup->registry, ops, NULL, err));
    return dls_setup_set(setup, "scheduler.name", ops->name, err);
}

dls_status dls_setup_placement(dls_setup *setup, const dls_placement_ops *ops, dls_error *err)
{
    DLS_ASSERT(setup && ops);
    DLS_IN_C_LOCALE;
    DLS_TRY(dls_registry_add(setup->registry, NULL, ops, err));
    return dls_setup_set(setup, "placement.name", ops->name, err);
}

dls_status dls_setup_outside(dls_setup *setup, dls_error *err)
{
    return dls_setup_sched(setup, &dls_sched_outside, err);
}

dls_shared_config *dls_shared_config_join(dls_shared_config *shared)
{
    if (shared) {
        atomic_fetch_add(&shared->users, 1);
    }
    return shared;
}

void dls_shared_config_leave(dls_shared_config *shared)
{
    if (shared && atomic_fetch_sub(&shared->users, 1) == 1) {
        dls_config_destroy(shared->config);
        dls_free(shared);
    }
}

void dls_setup_count_problems(dls_setup *setup)
{
    const dls_problems *all = &setup->problems;
    setup->more[0] = '\0';
    if (all->n > all->kept) {
        snprintf(setup->more, sizeof setup->more, "... and %zu more", all->n - all->kept);
    }
}

static dls_status load(dls_setup *setup, dls_error *err)
{
    DLS_IN_C_LOCALE;
    const dls_config_request request = {.path = setup->path,
                                        .content = setup->content,
                                        .overrides = setup->set,
                                        .n_overrides = setup->n_set,
                                        .registry = setup->registry};
    dls_config *config;
    dls_problems_fini(&setup->problems);
    const dls_status status = dls_config_load(&request, &setup->problems, &config, err);
    dls_setup_count_problems(setup);
    DLS_TRY(status);
    setup->loaded = dls_alloc_zero(1, sizeof *setup->loaded);
    if (!setup->loaded) {
        dls_config_destroy(config);
        return dls_nomem(err, "set-up", sizeof *setup->loaded);
    }
    atomic_init(&setup->loaded->users, 1);
    setup->loaded->config = config;
    return DLS_OK;
}

dls_status dls_setup_load(dls_setup *setup, dls_shared_config **out, dls_error *err)
{
    DLS_ASSERT(setup && out);
    if (!setup->loaded) {
        DLS_TRY(load(setup, err));
    }
    *out = dls_shared_config_join(setup->loaded);
    return DLS_OK;
}

void dls_setup_watch(dls_setup *setup, dls_policies_fn told, void *user)
{
    DLS_ASSERT(setup);
    change(setup);
    dls_registry_watch(setup->registry, told, user);
}

dls_status dls_setup_check(dls_setup *setup, dls_error *err)
{
    return setup->loaded ? DLS_OK : load(setup, err);
}

const char *dls_setup_problem(const dls_setup *setup, size_t i)
{
    const dls_problems *all = &setup->problems;
    return i < all->kept ? all->text[i] : i == all->kept && *setup->more ? setup->more : NULL;
}

dls_status dls_setup_trace(dls_setup *setup, dls_trace **out, dls_error *err)
{
    DLS_ASSERT(setup && out);
    DLS_IN_C_LOCALE;
    DLS_TRY(dls_setup_check(setup, err));
    return dls_config_make_trace(setup->loaded->config, NULL, NULL, 0, out, err);
}

dls_status dls_setup_trace_of_text(dls_setup *setup, const char *name, const char *text, size_t len,
                                   dls_trace **out, dls_error *err)
{
    DLS_ASSERT(setup && name && text && text[len] == '\0' && out);
    DLS_IN_C_LOCALE;
    DLS_TRY(dls_setup_check(setup, err));
    return dls_config_make_trace(setup->loaded->config, name, text, len, out, err);
}
