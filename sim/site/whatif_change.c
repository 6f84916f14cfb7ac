/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The changes of a what-if as keys of a set-up.
 */
#include "site/whatif_impl.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- keys ------------------------------------------------------------------------------------ */

static bool get(dls_setup *setup, const char *list, size_t i, const char *leaf, char *out,
                size_t size)
{
    char key[128];
    const char *value;
    dls_error unused;
    snprintf(key, sizeof key, "cluster.%s[%zu].%s", list, i, leaf);
    if (dls_setup_get(setup, key, &value, &unused) != DLS_OK) {
        return false;
    }
    snprintf(out, size, "%s", value);
    return true;
}

static dls_status set(dls_setup *setup, const char *list, size_t i, const char *leaf,
                      const char *value, dls_error *err)
{
    char key[128];
    snprintf(key, sizeof key, "cluster.%s[%zu].%s", list, i, leaf);
    return dls_setup_set_from(setup, key, value, "what-if", err);
}

static dls_status set_int(dls_setup *setup, const char *list, size_t i, const char *leaf,
                          int64_t value, dls_error *err)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return set(setup, list, i, leaf, text, err);
}

bool dls_whatif_nodes_at(dls_setup *setup, size_t i, dls_whatif_nodes *out)
{
    char count[32], gpus[32];
    return get(setup, "nodes", i, "name", out->name, sizeof out->name) &&
           get(setup, "nodes", i, "gpu_type", out->type, sizeof out->type) &&
           get(setup, "nodes", i, "count", count, sizeof count) &&
           get(setup, "nodes", i, "gpus", gpus, sizeof gpus) && dls_units_i64(count, &out->count) &&
           dls_units_i64(gpus, &out->gpus);
}

dls_status dls_whatif_set_count(dls_setup *setup, size_t group, int64_t count, dls_error *err)
{
    return set_int(setup, "nodes", group, "count", count, err);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* "NAME: REST": the name without blanks at its ends, and what follows the last colon. */
static bool cut(const char *text, char name[64], const char **rest)
{
    const char *colon = strrchr(text, ':');
    text += strspn(text, " ");
    if (!colon || colon <= text || colon - text > 63) {
        return false;
    }
    snprintf(name, 64, "%.*s", (int)(colon - text), text);
    for (size_t n = strlen(name); n > 0 && name[n - 1] == ' '; n--) {
        name[n - 1] = '\0';
    }
    *rest = colon + 1 + strspn(colon + 1, " ");
    return *name != '\0';
}

static dls_status wrong(const char *option, const char *value, const char *expected, dls_error *err)
{
    return dls_fail(err, DLS_EUSAGE, NULL, "--%s is \"%s\": expected %s", option, value, expected);
}

/* New nodes are as those of the same type, else as the largest group, in all but their GPUs. */
static dls_status add_nodes(dls_setup *setup, const char *text, size_t *at, dls_error *err)
{
    static const char *const alike[] = {"rack_size", "cpus", "memory", "nic"};
    dls_whatif_nodes g;
    char name[64], value[64], gpus_at[2] = "";
    const char *rest;
    int64_t nodes, gpus;
    size_t like = 0;
    int64_t most = -1;
    int used = 0;
    if (!cut(text, name, &rest) ||
        sscanf(rest, "%" SCNd64 " %1[xX] %" SCNd64 " %n", &nodes, gpus_at, &gpus, &used) < 3 ||
        rest[used] || nodes < 1 || gpus < 1) {
        return wrong("add", text, "\"TYPE: NODES x GPUS\", as in \"h100: 16 x 8\"", err);
    }
    for (*at = 0; dls_whatif_nodes_at(setup, *at, &g); ++*at) {
        const bool same = strcasecmp(g.type, name) == 0;
        if (same) {
            snprintf(name, sizeof name, "%s", g.type); /* as traces spell it */
        }
        const int64_t size = (same ? INT64_C(1) << 40 : 0) + g.count * g.gpus;
        if (size > most) {
            most = size;
            like = *at;
        }
    }
    DLS_TRY(set(setup, "nodes", *at, "gpu_type", name, err));
    snprintf(value, sizeof value, "added%zu", *at);
    DLS_TRY(set(setup, "nodes", *at, "name", value, err));
    DLS_TRY(set_int(setup, "nodes", *at, "gpus", gpus, err));
    DLS_TRY(dls_whatif_set_count(setup, *at, nodes, err));
    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++) {
        if (get(setup, "nodes", like, alike[i], value, sizeof value)) {
            DLS_TRY(set(setup, "nodes", *at, alike[i], value, err));
        }
    }
    return DLS_OK;
}

/* From the last group that has the name or the type. */
static dls_status remove_nodes(dls_setup *setup, const char *text, dls_error *err)
{
    dls_whatif_nodes g;
    char name[64];
    const char *rest;
    int64_t left;
    if (!cut(text, name, &rest) ||
        (strcmp(rest, "all") != 0 && (!dls_units_i64(rest, &left) || left < 1))) {
        return wrong("remove", text, "\"NAME: NODES\" or \"NAME: all\"", err);
    }
    const bool all = strcmp(rest, "all") == 0;
    size_t n = 0;
    int64_t there = 0;
    for (; dls_whatif_nodes_at(setup, n, &g); n++) {
        const bool meant = strcmp(g.name, name) == 0 || strcasecmp(g.type, name) == 0;
        there += meant ? g.count : 0;
    }
    left = all ? there : left;
    if (left > there || there == 0) {
        return dls_fail(err, DLS_EUSAGE, NULL, "--remove \"%s\": there are %" PRId64 " such nodes",
                        text, there);
    }
    while (left > 0 && n-- > 0) {
        if (dls_whatif_nodes_at(setup, n, &g) &&
            (strcmp(g.name, name) == 0 || strcasecmp(g.type, name) == 0)) {
            const int64_t take = left < g.count ? left : g.count;
            DLS_TRY(dls_whatif_set_count(setup, n, g.count - take, err));
            left -= take;
        }
    }
    return DLS_OK;
}

/* ---- quotas ---------------------------------------------------------------------------------- */

/* "VC=GPUS" or "VC:TYPE=GPUS". */
static bool parse_quota(const char *text, char name[64], char type[64], int64_t *gpus)
{
    const char *equals = strrchr(text, '=');
    *type = '\0';
    if (!equals || equals == text || equals - text > 63 || !dls_units_i64(equals + 1, gpus) || *gpus < 0) {
        return false;
    }
    snprintf(name, 64, "%.*s", (int)(equals - text), text);
    char *colon = strrchr(name, ':');
    if (colon) {
        *colon = '\0';
        snprintf(type, 64, "%s", colon + 1);
    }
    return true;
}

dls_status dls_whatif_check_quotas(dls_setup *before, const dls_whatif_asked *asked, const dls_trace *trace,
                                   dls_error *err)
{
    char name[64], type[64], have[64];
    int64_t gpus;
    for (size_t i = 0; i < asked->n_quota; i++) {
        bool is = !parse_quota(asked->quota[i], name, type, &gpus);
        for (size_t k = 0; !is && k < dls_trace_n_vcs(trace); k++) {
            is = strcmp(dls_trace_vc(trace, (int32_t)k), name) == 0;
        }
        for (size_t k = 0; !is && get(before, "virtual_clusters", k, "name", have, sizeof have); k++) {
            is = strcmp(have, name) == 0;
        }
        if (!is) {
            return dls_fail(err, DLS_EUSAGE, NULL, "--quota: no job is of a partition \"%s\"%s%s%s", name,
                            dls_trace_n_vcs(trace) > 0 ? ", but for example of \"" : "; none names one",
                            dls_trace_n_vcs(trace) > 0 ? dls_trace_vc(trace, 0) : "", dls_trace_n_vcs(trace) > 0 ? "\"" : "");
        }
    }
    return DLS_OK;
}

/* One that is there changes, else it is added. */
static dls_status set_quota(dls_setup *setup, const char *text, dls_error *err)
{
    char name[64], type[64], have[64], have_type[64];
    int64_t gpus;
    if (!parse_quota(text, name, type, &gpus)) {
        return wrong("quota", text, "VC=GPUS or VC:TYPE=GPUS", err);
    }
    size_t i = 0;
    while (get(setup, "virtual_clusters", i, "name", have, sizeof have) &&
           get(setup, "virtual_clusters", i, "gpu_type", have_type, sizeof have_type) &&
           (strcmp(have, name) != 0 || (*type && strcasecmp(type, have_type) != 0))) {
        i++;
    }
    DLS_TRY(set(setup, "virtual_clusters", i, "name", name, err));
    if (*type) {
        DLS_TRY(set(setup, "virtual_clusters", i, "gpu_type", type, err));
    }
    return set_int(setup, "virtual_clusters", i, "gpus", gpus, err);
}

/* ---- speeds ---------------------------------------------------------------------------------- */

static bool among(dls_setup *setup, size_t n, const char *type)
{
    dls_whatif_nodes g;
    for (size_t i = 0; i < n && dls_whatif_nodes_at(setup, i, &g); i++) {
        if (strcasecmp(g.type, type) == 0) {
            return true;
        }
    }
    return false;
}

/* The type with most GPUs among the first n groups: what the history's run times are of. */
static void reference_of(dls_setup *setup, size_t n, char out[64])
{
    dls_whatif_nodes g;
    int64_t most = -1;
    for (size_t i = 0; i < n && dls_whatif_nodes_at(setup, i, &g); i++) {
        int64_t gpus = 0;
        dls_whatif_nodes other;
        for (size_t k = 0; k < n && dls_whatif_nodes_at(setup, k, &other); k++) {
            gpus += strcmp(other.type, g.type) == 0 ? other.count * other.gpus : 0;
        }
        if (gpus > most) {
            most = gpus;
            snprintf(out, 64, "%s", g.type);
        }
    }
}

static const char *given_speed(const dls_whatif_asked *asked, const char *type)
{
    for (size_t i = 0; i < asked->n_speed; i++) {
        const size_t len = strcspn(asked->speed[i], "=");
        if (strlen(type) == len && strncasecmp(asked->speed[i], type, len) == 0 &&
            asked->speed[i][len]) {
            return asked->speed[i] + len + 1;
        }
    }
    return NULL;
}

/* Types that were added get a speed, unless the site has a model of its own. */
static dls_status set_speeds(dls_setup *setup, const dls_whatif_asked *asked, size_t first_added,
                             dls_whatif *w, dls_error *err)
{
    dls_whatif_nodes g;
    const char *model;
    char reference[64] = "", text[600] = "";
    DLS_TRY(dls_setup_get(setup, "perf.model", &model, err));
    if (strcmp(model, "trace") != 0) {
        return asked->n_speed == 0
                   ? DLS_OK
                   : dls_fail(err, DLS_EUSAGE, NULL,
                              "--speed: the site's perf.model \"%s\" says how fast GPUs are",
                              model);
    }
    reference_of(setup, first_added, reference);
    for (size_t i = first_added; dls_whatif_nodes_at(setup, i, &g); i++) {
        if (among(setup, i, g.type) || w->n_speeds == sizeof w->speed / sizeof w->speed[0]) {
            continue;
        }
        dls_whatif_speed *s = &w->speed[w->n_speeds++];
        const char *said = given_speed(asked, g.type);
        if (said) {
            snprintf(s->type, sizeof s->type, "%.47s", g.type);
            snprintf(s->reference, sizeof s->reference, "%.47s", reference);
            s->given = true;
            if (!dls_units_f64(said, &s->speed) || !(s->speed > 0)) {
                return wrong("speed", said, "a number above 0", err);
            }
            s->least = s->most = s->speed;
        } else {
            DLS_TRY(dls_whatif_predict(g.type, reference, s, err));
        }
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s=%.6g", used ? "; " : "", s->type, s->speed);
    }
    size_t given = 0;
    for (size_t i = 0; i < w->n_speeds; i++) {
        given += w->speed[i].given;
    }
    if (given < asked->n_speed) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "--speed is of a GPU type that --add brings, TYPE=X, each once");
    }
    if (!*text) {
        return DLS_OK;
    }
    DLS_TRY(dls_setup_set_from(setup, "perf.model", "speeds", "what-if", err));
    return dls_setup_set_from(setup, "perf.speeds", text, "what-if", err);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* A table of partitions names nodes by number. */
static dls_status check_partitions(dls_setup *setup, dls_error *err)
{
    const char *text = "";
    DLS_TRY(dls_setup_get(setup, "scheduler.name", &text, err));
    if (strcmp(text, "slurm") == 0) {
        DLS_TRY(dls_setup_get(setup, "scheduler.partitions", &text, err));
        return text[0] ? dls_fail(err, DLS_EUSAGE, NULL,
                                  "nodes of a site with partitions can be added, not removed or "
                                  "varied: %s says by number which nodes are in which",
                                  text)
                       : DLS_OK;
    }
    return DLS_OK;
}

/* What tells which jobs there are and count is not a change: both sides have the same. */
static dls_status check_set(const char *text, dls_error *err)
{
    static const char *const common[] = {"trace.", "results.warmup=", "results.cooldown="};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        if (strncmp(text, common[i], strlen(common[i])) == 0) {
            return dls_fail(err, DLS_EUSAGE, NULL, "--set %s: both sides have the same jobs, so it goes with --both", text);
        }
    }
    return DLS_OK;
}

dls_status dls_whatif_change(dls_setup *setup, const dls_whatif_asked *asked, dls_whatif *w,
                             size_t *first_added, dls_error *err)
{
    dls_whatif_nodes g;
    size_t at, first = 0;
    DLS_TRY(dls_setup_check(setup, err));
    while (dls_whatif_nodes_at(setup, first, &g)) {
        first++;
    }
    for (size_t i = 0; i < asked->n_add; i++) {
        DLS_TRY(add_nodes(setup, asked->add[i], &at, err));
        DLS_TRY(dls_setup_check(setup, err));
    }
    DLS_TRY(set_speeds(setup, asked, first, w, err));
    if (asked->n_removed > 0 || (asked->target && (asked->vary || asked->n_add == 0))) {
        DLS_TRY(check_partitions(setup, err));
    }
    for (size_t i = 0; i < asked->n_removed; i++) {
        DLS_TRY(remove_nodes(setup, asked->removed[i], err));
    }
    for (size_t i = 0; i < asked->n_quota; i++) {
        DLS_TRY(set_quota(setup, asked->quota[i], err));
    }
    if (asked->scheduler) {
        DLS_TRY(dls_setup_set_from(setup, "scheduler.name", asked->scheduler, "--scheduler", err));
    }
    if (asked->placement) {
        DLS_TRY(dls_setup_set_from(setup, "placement.name", asked->placement, "--placement", err));
    }
    for (size_t i = 0; i < asked->n_set; i++) {
        DLS_TRY(check_set(asked->set[i], err));
        DLS_TRY(dls_setup_set_from(setup, NULL, asked->set[i], asked->set[i], err));
    }
    *first_added = asked->n_add > 0 ? first : SIZE_MAX;
    return dls_setup_check(setup, err);
}
