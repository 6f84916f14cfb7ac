/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What Muri knows of jobs: stage times from a table or from predictions.
 */
#include "sched/muri.h"

#include "dlsim/memory.h"
#include "dlsim/predictor.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lower-case letters and digits up to the first parenthesis, as the world compares names. */
static void model_key(const char *name, char out[64])
{
    size_t n = 0;
    for (; *name && *name != '(' && n < 63; name++) {
        if (isalnum((unsigned char)*name)) {
            out[n++] = (char)tolower((unsigned char)*name);
        }
    }
    out[n] = '\0';
}

static dls_status parse_row(dls_muri_profile *p, char *line, const char *where, dls_error *err)
{
    double v[5] = {0}; /* GPUs, three stages, iteration */
    char *rest = line;
    const char *name = strsep(&rest, ",");
    int n = 0;
    for (; rest && n < 5; n++) {
        char *cell = strsep(&rest, ","), *end;
        v[n] = strtod(cell, &end);
        end += strspn(end, " \t\r\n");
        if (n == 4 && !*cell) {
            break;
        }
        if (end == cell || *end || !(v[n] >= 0) || !(v[n] <= 1e9)) {
            return dls_fail(err, DLS_EINPUT, where, "expected a number of at least 0, found \"%s\"",
                            cell);
        }
    }
    model_key(name, p->model);
    p->gpus = (int32_t)fmin(v[0], 1 << 24);
    p->stages = (dls_stages){v[1], v[2], v[3], n > 4 ? v[4] : v[1] + v[2] + v[3]};
    if (n < 4 || rest || !p->model[0] || v[0] < 1 || v[0] != floor(v[0])) {
        return dls_fail(err, DLS_EINPUT, where,
                        "expected model,gpus,data_s,compute_s,exchange_s[,iteration_s]");
    }
    if (!(v[1] + v[2] + v[3] > 0) || !(p->stages.iteration > 0)) {
        return dls_fail(err, DLS_EINPUT, where, "an iteration or its stages take no time at all");
    }
    return DLS_OK;
}

dls_status dls_muri_read_profiles(dls_muri_state *s, const char *path, dls_error *err)
{
    char line[512], where[512];
    dls_status status = DLS_OK;
    FILE *f = fopen(path, "r");
    if (!f) {
        return dls_fail(err, DLS_EINPUT, path, "cannot read profiles: %s", strerror(errno));
    }
    for (int number = 1; status == DLS_OK && fgets(line, sizeof line, f); number++) {
        snprintf(where, sizeof where, "%s:%d", path, number);
        if (strlen(line) == sizeof line - 1) {
            status = dls_fail(err, DLS_EINPUT, where, "a long line: no profiles");
        } else if (number > 1 && line[strspn(line, " \t\r\n")] && line[0] != '#') {
            status = dls_grow(&s->profile, &s->profiles_room, s->n_profiles + 1, sizeof *s->profile,
                              err);
            if (status == DLS_OK) {
                status = parse_row(&s->profile[s->n_profiles++], line, where, err);
            }
        }
    }
    fclose(f);
    return status == DLS_OK && s->n_profiles == 0
               ? dls_fail(err, DLS_EINPUT, path, "no profiles below the header")
               : status;
}

/* Of the nearest gang, by ratio, for which the model has a profile; all 0: none. */
static dls_stages from_table(const dls_muri_state *s, const dls_view *view, int32_t job)
{
    char model[64];
    double least = INFINITY;
    dls_stages found = {0};
    model_key(dls_view_name(view, DLS_NAME_MODEL, view->model ? view->model[job] : -1), model);
    for (size_t i = 0; i < s->n_profiles; i++) {
        const double far = fabs(log((double)s->profile[i].gpus / view->gpus[job]));
        if (far < least && strcmp(s->profile[i].model, model) == 0) {
            least = far;
            found = s->profile[i].stages;
        }
    }
    return found;
}

/* The GPU's burst computes; the longer of the network's exchanges, in the rest; what is left reads.
 */
static dls_stages from_prediction(const dls_view *view, int32_t job)
{
    const uint32_t types = dls_view_types(view, job);
    dls_prediction p;
    if (!types) {
        return (dls_stages){0};
    }
    const int32_t type = __builtin_ctz(types), gpus = view->gpus[job];
    const int32_t node = dls_place_max_gpus(dls_view_index(view), type);
    const dls_shape shape = {type, gpus, (gpus + node - 1) / node, 1};
    if (!dls_view_predict(view, job, &shape, &p) || !(p.metric[DLS_GPU_ACTIVE] > 0)) {
        return (dls_stages){0};
    }
    const double t = p.iteration_s, compute = fmin(t, p.metric[DLS_GPU_ACTIVE]);
    const double net = fmax(p.metric[DLS_NET_TX_ACTIVE], p.metric[DLS_NET_RX_ACTIVE]);
    const double exchange = gpus > 1 && net > 0 ? fmin(t - compute, net) : 0;
    return (dls_stages){fmax(0, t - compute - exchange), compute, exchange, t};
}

const dls_stages *dls_muri_stages_of(dls_muri_state *s, const dls_view *view, int32_t job)
{
    if (!s->known[job]) {
        s->known[job] = true;
        s->stages[job] = s->n_profiles ? from_table(s, view, job) : from_prediction(view, job);
    }
    return &s->stages[job];
}
