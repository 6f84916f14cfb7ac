/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim model: make and look at files of inspector weights.
 */
#include "base/own.h"
#include "cli/command.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    const char *output, *group, *arch, *shift, *scale, *label;
    dls_words setting, about;
    int64_t seed, random_settings;
    double gain;
} options;

/* n numbers separated by commas. */
static dls_status numbers(const char *text, const char *what, double *out, size_t n, dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        char *end = NULL;
        out[i] = strtod(text, &end);
        if (end == text || *end != (i + 1 < n ? ',' : '\0')) {
            return dls_fail(err, DLS_EUSAGE, what, "%s: expected %zu numbers separated by commas",
                            what, n);
        }
        text = end + 1;
    }
    return DLS_OK;
}

/* "NAME=FILE" or "NAME=FILE:/GROUP" */
static dls_status add_setting(dls_inspector *insp, const char *text, dls_error *err)
{
    char name[64];
    char path[4096];
    const char *eq = strchr(text, '=');
    if (!eq || eq == text || (size_t)(eq - text) >= sizeof name || strlen(eq) >= sizeof path) {
        return dls_fail(err, DLS_EUSAGE, "--setting", "--setting: expected NAME=FILE[:/GROUP]");
    }
    snprintf(name, sizeof name, "%.*s", (int)(eq - text), text);
    snprintf(path, sizeof path, "%s", eq + 1);
    char *group = strstr(path, ":/");
    if (group) {
        *group++ = '\0';
    }
    return dls_inspector_import_setting(insp, name, path, group, err);
}

static dls_status about_pair(dls_setting *s, const char *key, const char *value, dls_error *err)
{
    const struct {
        const char *key;
        char *text;
        size_t size;
        int32_t *number;
    } field[] = {{"gpu", s->gpu_type, sizeof s->gpu_type, NULL},
                 {"topology", s->topology, sizeof s->topology, NULL},
                 {"network", s->network, sizeof s->network, NULL},
                 {"ps", NULL, 0, &s->n_ps},
                 {"workers", NULL, 0, &s->n_workers}};
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        if (strcmp(field[i].key, key) != 0) {
            continue;
        }
        if (field[i].text) {
            snprintf(field[i].text, field[i].size, "%s", value);
            return DLS_OK;
        }
        char *end = NULL;
        const long n = strtol(value, &end, 10);
        if (*value && !*end && n >= 0 && n <= 1000000) {
            *field[i].number = (int32_t)n;
            return DLS_OK;
        }
    }
    return dls_fail(err, DLS_EUSAGE, "--about", "--about: \"%s=%s\" is not understood", key, value);
}

/* "NAME:key=value,..." */
static dls_status describe(dls_inspector *insp, const char *text, dls_error *err)
{
    char copy[512];
    if (strlen(text) >= sizeof copy) {
        return dls_fail(err, DLS_EUSAGE, "--about", "--about: too long");
    }
    snprintf(copy, sizeof copy, "%s", text);
    char *rest = strchr(copy, ':');
    if (rest) {
        *rest++ = '\0';
    }
    const int32_t idx = rest ? dls_inspector_find(insp, copy) : -2;
    if (idx < 0) {
        return dls_fail(err, DLS_EUSAGE, "--about", "--about: no setting \"%s\"", copy);
    }
    char *save = NULL;
    for (char *pair = strtok_r(rest, ",", &save); pair; pair = strtok_r(NULL, ",", &save)) {
        char *eq = strchr(pair, '=');
        if (!eq) {
            return dls_fail(err, DLS_EUSAGE, "--about", "--about: \"%s\": expected key=value",
                            pair);
        }
        *eq = '\0';
        DLS_TRY(about_pair(&insp->settings[idx], pair, eq + 1, err));
    }
    return DLS_OK;
}

static dls_status finish(dls_inspector *insp, const options *o, dls_error *err)
{
    const size_t f = (size_t)insp->arch.n_features;
    if (o->shift) {
        DLS_TRY(numbers(o->shift, "--feature-shift", insp->feature_shift, f, err));
    }
    if (o->scale) {
        DLS_TRY(numbers(o->scale, "--feature-scale", insp->feature_scale, f, err));
    }
    if (o->label) {
        DLS_TRY(numbers(o->label, "--label-scale", insp->labels.scale, DLS_METRICS, err));
        for (size_t i = 0; i < insp->n_settings; i++) {
            insp->settings[i].labels = insp->labels;
        }
    }
    for (size_t i = 0; i < o->setting.n; i++) {
        DLS_TRY(add_setting(insp, o->setting.at[i], err));
    }
    for (size_t i = 0; i < o->about.n; i++) {
        DLS_TRY(describe(insp, o->about.at[i], err));
    }
    return dls_inspector_save(insp, o->output, err);
}

static dls_status random_inspector(const options *o, dls_inspector **out, dls_error *err)
{
    dls_arch arch = dls_arch_default();
    if (o->arch) {
        DLS_TRY(dls_arch_parse(&arch, o->arch, err));
    }
    DLS_TRY(dls_inspector_create(&arch, out, err));
    return dls_inspector_randomise(*out, (uint64_t)o->seed, (int32_t)o->random_settings, o->gain,
                                   err);
}

static void show(const dls_inspector *insp)
{
    char text[DLS_ARCH_TEXT_MAX];
    dls_inspector_describe(insp, text, sizeof text);
    printf("%s\n", text);
    dls_arch_format(&insp->arch, text);
    printf("architecture: %s\n", text);
    int64_t n = 0;
    for (size_t i = 0; i < insp->base.n; i++) {
        n += dls_tensor_len(&insp->base.t[i].spec);
    }
    printf("base: %zu tensors, %lld parameters\n", insp->base.n, (long long)n);
    if (insp->arch.n_conditions > 0) {
        printf("told of a setting:");
        for (const char *c = insp->condition.names; *c;) {
            const size_t len = strcspn(c, "\n");
            printf(" %.*s", (int)len, c);
            c += len + (c[len] == '\n');
        }
        putchar('\n');
    }
    for (size_t i = 0; i < insp->n_settings; i++) {
        const dls_setting *s = &insp->settings[i];
        printf(
            "setting %s: gpu %s, %d parameter servers, %d workers, topology %s, network %s, %s\n",
            s->name, s->gpu_type[0] ? s->gpu_type : "-", (int)s->n_ps, (int)s->n_workers,
            s->topology[0] ? s->topology : "-", s->network[0] ? s->network : "-",
            s->has_conv ? "own layers and MLP" : "own MLP");
    }
}

static dls_status cmd_import(dls_call *call, dls_error *err)
{
    const options *o = call->request;
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    DLS_TRY(dls_inspector_import(call->word[0], o->group, o->arch, &insp, err));
    return finish(insp, o, err);
}

static dls_status cmd_random(dls_call *call, dls_error *err)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    DLS_TRY(random_inspector(call->request, &insp, err));
    return finish(insp, call->request, err);
}

static dls_status cmd_show(dls_call *call, dls_error *err)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    DLS_TRY(dls_inspector_load(call->word[0], &insp, err));
    show(insp);
    return DLS_OK;
}

static const dls_verb verbs[] = {
    {"import", "FILE", "read a plain HDF5 file of tensors under their published names", 1, 1,
     "output", cmd_import},
    {"random", NULL, "weights drawn as the published code initialises, for tests and benchmarks", 0,
     0, "output", cmd_random},
    {"show", "W.h5", "what a file of weights holds", 1, 1, NULL, cmd_show},
    {.name = NULL}};

static const dls_arg args[] = {
    DLS_OF("import, random"),
    DLS_OUTPUT(options, output, "output", 'o', "W.h5", "where to write"),
    DLS_TEXT(options, arch, "arch", 0, "KEY=VALUE..",
             "what names and shapes do not tell (docs/inspector-files.md)"),
    DLS_TEXT(options, label, "label-scale", 0, "A,..",
             "12 numbers: an output times this is the metric"),
    DLS_REPEAT(options, setting, "setting", 0, "NAME=FILE[:/G]",
               "add a setting tuned from this base; may be repeated"),
    DLS_REPEAT(options, about, "about", 0, "NAME:gpu=G,ps=N,workers=N,topology=T,network=W",
               "describe a setting; may be repeated"),
    DLS_TEXT(options, shift, "feature-shift", 0, "A,B,..", "the network sees (x - shift) / scale"),
    DLS_TEXT(options, scale, "feature-scale", 0, "A,B,..", "the same"),
    DLS_OF("import"),
    DLS_TEXT(options, group, "group", 0, "/G", "the group that holds the tensors; / if left out"),
    DLS_OF("random"),
    DLS_INT(options, seed, "seed", 0, 0, INT64_MAX, "of the weights"),
    DLS_INT(options, random_settings, "settings", 0, 0, 4096, "so many settings"),
    DLS_REAL(options, gain, "gain", 0, DLS_ABOVE_0, (double)INFINITY,
             "enlarge the linear layers, whose published start is near zero"),
    DLS_ARGS_END};

const dls_command dls_command_model = {
    .name = "model",
    .group = DLS_LABORATORY,
    .summary = "weights of the inspector",
    .about = "Make and look at files of inspector weights.",
    .args = args,
    .verbs = verbs,
    .size = sizeof(options),
    .initial = &(const options){.gain = 1, .seed = 1},
};
