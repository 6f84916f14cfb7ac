/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim config: defaults, checks and explanations of configurations.
 */
#include "cli/replay.h"

typedef struct request {
    dls_replay_options o;
    const char *explain, *resolve;
    bool defaults, check, markdown, json;
} request;

/* One text about keys, or the resolved configuration. */
static dls_status print(const request *r, dls_text what, const char *key, dls_error *err)
{
    const char *text;
    DLS_TRY(dls_replay_tell(r->o.setup, dls_setup_text_of(r->o.setup, what, key, &text, err)));
    fputs(text, stdout);
    return DLS_OK;
}

/* All are looked at; the worst answer is the command's. */
static dls_status check_all(const dls_replay_options *o, dls_call *call, dls_error *err)
{
    if (call->n_words == 0) {
        return dls_fail(err, DLS_EUSAGE, NULL, "--check needs a file");
    }
    for (size_t i = 0; i < call->n_words; i++) {
        DLS_TRY(dls_setup_file(o->setup, call->word[i], err));
        if (dls_replay_tell(o->setup, dls_setup_check(o->setup, err)) == DLS_OK) {
            printf("%s: good\n", call->word[i]);
        } else {
            const int code = dls_ui_fail(err);
            call->exit_code = code > call->exit_code ? code : call->exit_code;
        }
    }
    return DLS_OK;
}

static dls_status run(dls_call *call, dls_error *err)
{
    const request *r = call->request;
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
        DLS_TRY(dls_setup_file(r->o.setup, r->resolve, err));
        return print(r, DLS_TEXT_RESOLVED, NULL, err);
    }
    return print(r,
                 r->explain    ? DLS_TEXT_KEY
                 : r->json     ? DLS_TEXT_JSON
                 : r->defaults ? DLS_TEXT_DEFAULTS
                               : DLS_TEXT_MARKDOWN,
                 r->explain, err);
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
                 "set any key of the configuration; may be repeated",
                 .of = "--check, --resolve"),
    DLS_PLUGIN(request, o.setup),
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
