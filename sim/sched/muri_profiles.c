/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What Muri knows of jobs: stage times from a table or from predictions.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strsep */
#endif
#include "sched/muri.h"
#include "sched/table.h"

#include "dlsim/memory.h"
#include "dlsim/predictor.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static dls_status add_profile(dls_muri_state *s, const dls_stages *stages, dls_error *err)
{
    DLS_TRY(dls_grow(&s->profile, &s->profiles_room, s->n_profiles + 1, sizeof *s->profile, err));
    s->profile[s->n_profiles++] = *stages;
    s->memo.profile = s->profile;
    return DLS_OK;
}

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

static dls_status parse_row(dls_muri_profile *p, dls_stages *stages, char *line, const char *where,
                            dls_error *err)
{
    double v[5] = {0}; /* GPUs, three stages, iteration */
    char *rest = line;
    const char *name = strsep(&rest, ",");
    int n = 0;
    for (; rest && n < 5; n++) {
        char *cell = strsep(&rest, ","), *end;
        v[n] = strtod(cell, &end);
        end += strspn(end, " \t");
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
    *stages = (dls_stages){v[1], v[2], v[3], n > 4 ? v[4] : v[1] + v[2] + v[3]};
    if (n < 4 || rest || !p->model[0] || v[0] < 1 || v[0] != floor(v[0])) {
        return dls_fail(err, DLS_EINPUT, where,
                        "expected model,gpus,data_s,compute_s,exchange_s[,iteration_s]");
    }
    if (!(v[1] + v[2] + v[3] > 0) || !(stages->iteration > 0)) {
        return dls_fail(err, DLS_EINPUT, where, "an iteration or its stages take no time at all");
    }
    return DLS_OK;
}

static dls_status take_line(void *user, char *line, int number, const char *where, dls_error *err)
{
    dls_muri_state *s = user;
    if (number == 1 || !line[strspn(line, " \t")] || line[0] == '#') {
        return DLS_OK;
    }
    DLS_TRY(add_profile(s, &(dls_stages){0}, err));
    DLS_TRY(dls_grow(&s->row, &s->rows_room, s->n_profiles, sizeof *s->row, err));
    s->n_rows++;
    return parse_row(&s->row[s->n_rows - 1], &s->profile[s->n_rows - 1], line, where, err);
}

dls_status dls_muri_read_profiles(dls_muri_state *s, const char *path, dls_error *err)
{
    DLS_TRY(dls_sched_lines_read(path, take_line, s, err));
    return s->n_rows > 0 ? DLS_OK : dls_fail(err, DLS_EINPUT, path, "no profiles below the header");
}

/* Of the nearest gang, by ratio, for which the model has a profile. */
static int32_t from_table(const dls_muri_state *s, const dls_view *view, int32_t job)
{
    char model[64];
    double least = (double)INFINITY;
    int32_t found = DLS_MURI_UNKNOWN;
    model_key(dls_view_name(view, DLS_NAME_MODEL, view->model ? view->model[job] : -1), model);
    for (size_t i = 0; i < s->n_rows && i < DLS_GROUP_PROFILES; i++) {
        const double far = fabs(log((double)s->row[i].gpus / view->gpus[job]));
        if (far < least && strcmp(s->row[i].model, model) == 0) {
            least = far;
            found = (int32_t)i;
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
    const dls_shape shape = dls_view_packed(view, __builtin_ctz(types), view->gpus[job]);
    if (!dls_view_predict(view, job, &shape, &p) || !(p.metric[DLS_GPU_ACTIVE] > 0)) {
        return (dls_stages){0};
    }
    const double t = p.iteration_s, compute = fmin(t, p.metric[DLS_GPU_ACTIVE]);
    const double net = fmax(p.metric[DLS_NET_TX_ACTIVE], p.metric[DLS_NET_RX_ACTIVE]);
    const double exchange = shape.gpus > 1 && net > 0 ? fmin(t - compute, net) : 0;
    return (dls_stages){fmax(0, t - compute - exchange), compute, exchange, t};
}

/* Equal predictions are one profile. */
static dls_status find_or_add(dls_muri_state *s, const dls_stages *p, int32_t *out, dls_error *err)
{
    *out = DLS_MURI_UNKNOWN;
    if (!(p->iteration > 0)) {
        return DLS_OK;
    }
    for (size_t i = 0; i < s->n_profiles; i++) {
        const dls_stages *o = &s->profile[i];
        if (o->data == p->data && o->compute == p->compute && o->exchange == p->exchange &&
            o->iteration == p->iteration) {
            *out = (int32_t)i;
            return DLS_OK;
        }
    }
    if (s->n_profiles < DLS_GROUP_PROFILES) {
        *out = (int32_t)s->n_profiles;
        return add_profile(s, p, err);
    }
    return DLS_OK;
}

dls_status dls_muri_profile_of(dls_muri_state *s, const dls_view *view, int32_t job, int32_t *out,
                               dls_error *err)
{
    int32_t *of = &s->profile_of[job];
    if (*of == DLS_MURI_UNASKED && s->n_rows > 0) {
        *of = from_table(s, view, job);
    } else if (*of == DLS_MURI_UNASKED) {
        const dls_stages p = from_prediction(view, job);
        DLS_TRY(find_or_add(s, &p, of, err));
    }
    *out = *of;
    return DLS_OK;
}
