/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim model: make and look at files of inspector weights.
 */
#include "cli/command.h"
#include "cli/ui.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS_MAX 256

static const char help[] =
    "Usage: dlsim model import FILE -o W.h5 [OPTION]...\n"
    "       dlsim model random -o W.h5 [OPTION]...\n"
    "       dlsim model show W.h5\n"
    "\n"
    "import: read a plain HDF5 file of tensors under their published names.\n"
    "      --group=/G          the group that holds the tensors (default /)\n"
    "      --arch=\"KEY=VALUE..\" what names and shapes do not tell (docs/inspector-files.md)\n"
    "      --setting=NAME=FILE[:/G]  add a setting tuned from this base; may be repeated\n"
    "      --about=NAME:gpu=G,ps=N,workers=N,topology=T,network=W  describe a setting\n"
    "      --feature-shift=A,B,..   --feature-scale=A,B,..   the network sees (x - shift) / scale\n"
    "      --label-scale=A,..  12 numbers: an output times this is the metric\n"
    "random: weights drawn as the published code initialises, for tests and benchmarks.\n"
    "      --arch, --label-scale as above  --seed=N  --settings=N\n"
    "      --gain=X            enlarge the linear layers, whose published start is near zero\n"
    "  -o, --output=W.h5       where to write\n"
    "  -h, --help              show this and leave\n";

typedef struct options {
    const char *output, *group, *arch, *shift, *scale, *label;
    const char *setting[SETTINGS_MAX];
    const char *about[SETTINGS_MAX];
    size_t n_settings, n_about;
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
    for (size_t i = 0; i < o->n_settings; i++) {
        DLS_TRY(add_setting(insp, o->setting[i], err));
    }
    for (size_t i = 0; i < o->n_about; i++) {
        DLS_TRY(describe(insp, o->about[i], err));
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

static dls_status work(const char *verb, const char *file, const options *o, dls_error *err)
{
    dls_inspector *insp = NULL;
    dls_status status;
    if (strcmp(verb, "show") == 0) {
        status = dls_inspector_load(file, &insp, err);
        if (status == DLS_OK) {
            show(insp);
        }
    } else {
        status = strcmp(verb, "import") == 0
                     ? dls_inspector_import(file, o->group, o->arch, &insp, err)
                     : random_inspector(o, &insp, err);
        if (status == DLS_OK) {
            status = finish(insp, o, err);
        }
    }
    dls_inspector_destroy(insp);
    return status;
}

static int legacy(int argc, char **argv)
{
    enum {
        O_GROUP = 256,
        O_ARCH,
        O_SETTING,
        O_ABOUT,
        O_SHIFT,
        O_SCALE,
        O_LABEL,
        O_SEED,
        O_N,
        O_GAIN
    };
    static const struct option longs[] = {{"output", required_argument, NULL, 'o'},
                                          {"group", required_argument, NULL, O_GROUP},
                                          {"arch", required_argument, NULL, O_ARCH},
                                          {"setting", required_argument, NULL, O_SETTING},
                                          {"about", required_argument, NULL, O_ABOUT},
                                          {"feature-shift", required_argument, NULL, O_SHIFT},
                                          {"feature-scale", required_argument, NULL, O_SCALE},
                                          {"label-scale", required_argument, NULL, O_LABEL},
                                          {"seed", required_argument, NULL, O_SEED},
                                          {"settings", required_argument, NULL, O_N},
                                          {"gain", required_argument, NULL, O_GAIN},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    options o = {.gain = 1, .seed = 1};
    const char **const text[] = {&o.group, &o.arch, NULL, NULL, &o.shift, &o.scale, &o.label};
    for (int opt; (opt = dls_ui_getopt(argc, argv, "o:h", longs, "model")) != -1;) {
        char *end = NULL;
        switch (opt) {
        case 'o':
            o.output = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return 0;
        case O_SETTING:
        case O_ABOUT:
            if ((opt == O_SETTING ? o.n_settings : o.n_about) == SETTINGS_MAX) {
                return dls_ui_usage("model", "more than %d settings", SETTINGS_MAX);
            }
            if (opt == O_SETTING) {
                o.setting[o.n_settings++] = optarg;
            } else {
                o.about[o.n_about++] = optarg;
            }
            break;
        case O_SEED:
            if (!dls_ui_i64("model", "--seed", optarg, 0, INT64_MAX, &o.seed)) {
                return 2;
            }
            break;
        case O_N:
            if (!dls_ui_i64("model", "--settings", optarg, 0, 4096, &o.random_settings)) {
                return 2;
            }
            break;
        case O_GAIN:
            o.gain = strtod(optarg, &end);
            if (*end || end == optarg || !isfinite(o.gain) || o.gain <= 0) {
                return dls_ui_usage("model", "--gain: expected a positive number");
            }
            break;
        case O_GROUP:
        case O_ARCH:
        case O_SHIFT:
        case O_SCALE:
        case O_LABEL:
            *text[opt - O_GROUP] = optarg;
            break;
        default:
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    const char *verb = optind < argc ? argv[optind] : "";
    const bool random = strcmp(verb, "random") == 0;
    if (strcmp(verb, "import") != 0 && strcmp(verb, "show") != 0 && !random) {
        return dls_ui_usage("model", "\"%s\": expected import, random or show", verb);
    }
    if (argc - optind != (random ? 1 : 2)) {
        return dls_ui_usage("model", "%s: expected %s", verb, random ? "no file" : "one file");
    }
    if (strcmp(verb, "show") != 0 && !o.output) {
        return dls_ui_usage("model", "%s: where to? (-o W.h5)", verb);
    }
    dls_error err = {0};
    const dls_status status = work(verb, random ? NULL : argv[optind + 1], &o, &err);
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}

const dls_command dls_command_model = {
    .name = "model", .group = DLS_LABORATORY, .summary = "weights of the inspector", .legacy = legacy};
