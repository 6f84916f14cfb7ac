/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs a replayer by its table (dlsim/replayer.h): settings become the values of its options.
 */
#include "dlsim/replayer.h"

#include "base/guard.h"
#include "base/options.h"
#include "base/own.h"
#include "base/suggest.h"

#include <string.h>

enum { NAMES_MAX = 32 };

static dls_status find(const char *name, const dls_replayer **out, dls_error *err)
{
    const dls_replayer *const *all = dls_replayers();
    const char *names[NAMES_MAX + 1] = {NULL};
    for (size_t i = 0; all[i]; i++) {
        if (strcmp(all[i]->name, name) == 0) {
            *out = all[i];
            return DLS_OK;
        }
        if (i < NAMES_MAX) {
            names[i] = all[i]->name;
        }
    }
    return dls_fail(err, DLS_EUSAGE, NULL, "there is no replayer \"%s\"%s", name,
                    DLS_DID_YOU_MEAN(dls_suggest(name, names)));
}

static dls_status set(const dls_replayer *r, const dls_setting *s, dls_option_value *values,
                      dls_error *err)
{
    const dls_option *o = dls_options_find(r->options, s->name);
    dls_error bad;
    if (!o) {
        return dls_fail(err, DLS_EUSAGE, NULL, "%s has no option '%s'", r->name, s->name);
    }
    if (!*s->value) {
        return dls_fail(err, DLS_EUSAGE, NULL, "option '%s' is empty", s->name);
    }
    return dls_option_parse(o, s->value, &values[o - r->options], &bad) == DLS_OK
               ? DLS_OK
               : dls_fail(err, DLS_EUSAGE, NULL, "option '%s' %s", s->name, bad.msg);
}

/* Whether the schedule or policy is one of the replayer's. */
static dls_status check_choice(const dls_replayer *r, const dls_option_value *values,
                               dls_error *err)
{
    const char *chosen = values[dls_options_find(r->options, r->chosen) - r->options].s;
    const char *names[NAMES_MAX + 1] = {NULL}, *name, *summary;
    for (size_t i = 0; (name = r->choice(i, &summary)); i++) {
        if (strcmp(name, chosen) == 0) {
            return DLS_OK;
        }
        if (i < NAMES_MAX) {
            names[i] = name;
        }
    }
    return dls_fail(err, DLS_EUSAGE, NULL, "%s has no %s '%s'%s", r->name, r->chosen, chosen,
                    DLS_DID_YOU_MEAN(dls_suggest(chosen, names)));
}

/* The texts of the option that may be repeated go to more[n]. */
static dls_status run(const dls_replayer *r, const dls_setting *settings, size_t n,
                      dls_replayer_call *call, dls_option_value *values, const char **more,
                      dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(set(r, &settings[i], values, err));
        if (r->repeats && strcmp(settings[i].name, r->repeats) == 0) {
            more[call->n_repeated++] = settings[i].value;
        }
    }
    if (r->needs && !*values[dls_options_find(r->options, r->needs) - r->options].s) {
        return dls_fail(err, DLS_EUSAGE, NULL, "%s needs the option '%s'", r->name, r->needs);
    }
    DLS_TRY(check_choice(r, values, err));
    call->value = values;
    call->repeated = more;
    return r->run(call, err);
}

dls_status dls_replayer_run(const char *replayer, const dls_setting *settings, size_t n,
                            const char *input, const dls_replayer_output *to, dls_error *err)
{
    DLS_IN_C_LOCALE;
    const dls_replayer *r = NULL;
    DLS_FREED dls_option_value *values = NULL;
    DLS_TRY(find(replayer, &r, err));
    if (!input != !r->input) {
        return dls_fail(err, DLS_EUSAGE, NULL, "%s reads %s", r->name,
                        r->input ? r->input : "what its options name");
    }
    dls_replayer_call call = {.input = input, .to = to};
    DLS_TRY(dls_options_defaults(r->options, &values, err));
    DLS_FREED const char **more = dls_alloc((n + 1) * sizeof *more);
    return more ? run(r, settings, n, &call, values, more, err)
                : dls_nomem(err, "settings", (n + 1) * sizeof *more);
}
