/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim config: defaults, checks and explanations of configurations.
 */
#include "base/alloc.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/replay.h"

typedef struct request {
    dls_replay_options o;
    const char *explain, *resolve;
    bool defaults, check, markdown, json;
} request;

/* With show the resolved text goes to stdout. */
static dls_status check(dls_replay_options *o, const char *path, bool show, dls_error *err)
{
    dls_config *config = NULL;
    o->config_path = path;
    DLS_TRY(dls_replay_config(o, &config, err));
    if (show) {
        fputs(config->text, stdout);
    } else {
        printf("%s: good\n", path);
    }
    dls_config_destroy(config);
    return DLS_OK;
}

/* All are looked at; the worst answer is the command's. */
static dls_status check_all(dls_replay_options *o, dls_call *call, dls_error *err)
{
    if (call->n_words == 0) {
        return dls_fail(err, DLS_EUSAGE, NULL, "--check needs a file");
    }
    for (size_t i = 0; i < call->n_words; i++) {
        const dls_status status = check(o, call->word[i], false, err);
        if (status != DLS_OK) {
            const int code = dls_ui_fail(err);
            call->exit_code = code > call->exit_code ? code : call->exit_code;
        }
    }
    return DLS_OK;
}

static dls_status print_json(const dls_registry *registry, dls_error *err)
{
    json_object *all = json_object_new_array();
    if (!all) {
        return dls_nomem(err, "JSON", 0);
    }
    dls_config_json(all, registry);
    return dls_json_print(stdout, all, err);
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    request *r = user;
    const int n = r->defaults + r->check + r->markdown + r->json + (r->explain != NULL) +
                  (r->resolve != NULL);
    if (n != 1) {
        return dls_fail(
            err, DLS_EUSAGE, NULL,
            "name one of --defaults, --check, --explain, --resolve, --markdown, --json");
    }
    if (r->check) {
        return check_all(&r->o, call, err);
    }
    if (call->n_words > 0) {
        return dls_fail(err, DLS_EUSAGE, NULL, "unexpected word '%s'", call->word[0]);
    }
    if (r->resolve) {
        return check(&r->o, r->resolve, true, err);
    }
    if (r->explain) {
        return dls_config_explain(stdout, r->o.registry, r->explain, err);
    }
    if (r->json) {
        return print_json(r->o.registry, err);
    }
    if (r->defaults) {
        return dls_config_print_defaults(stdout, r->o.registry, err);
    }
    dls_config_print_markdown(stdout, r->o.registry);
    return DLS_OK;
}

static const dls_arg args[] = {
    DLS_SWITCH(request, defaults, "defaults", 0,
               "a configuration with every key and what it means"),
    DLS_SWITCH(request, check, "check", 0, "list everything that is wrong with configurations"),
    DLS_NAME(request, explain, "explain", 0, dls_names_key,
             "what one key means, e.g. scheduler.restore_cost"),
    DLS_TEXT(request, resolve, "resolve", 0, "FILE",
             "the configuration as a run takes it: defaults filled in, --set applied"),
    DLS_SWITCH(request, markdown, "markdown", 0, "all keys as a page of the manual"),
    DLS_SWITCH(request, json, "json", 0, "all keys and options of policies, for programs"),
    DLS_OVERRIDE(offsetof(request, o), "set", 0, "KEY=VALUE", NULL, dls_names_key,
                 "with --check and --resolve; may be repeated"),
    DLS_PLUGIN(request, o.registry),
    DLS_ARGS_END};

const dls_command dls_command_config = {
    .name = "config",
    .summary = "defaults, checks and explanations of configurations",
    .usage = "--defaults | --check FILE... | --explain NAME | --resolve FILE | --markdown | --json",
    .args = args,
    .max_words = DLS_ANY_NUMBER,
    .size = sizeof(request),
    .init = dls_replay_init,
    .run = run,
    .fini = dls_replay_fini,
};
