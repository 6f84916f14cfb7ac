/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Workloads of Pollux's simulator.
 */
#include "pollux/pollux.h"

#include "base/alloc.h"
#include "base/csv.h"

#include <string.h>

enum { NAME, TIME, APPLICATION, GPUS, BATCH, CATEGORY, N_COLS };

static const char *const names[N_COLS] = {"name",         "time",       "application",
                                          "num_replicas", "batch_size", "category"};

static dls_status parse_row(dls_csv *csv, const int *col, const dls_pollux_apps *apps,
                            dls_pollux_job *j, dls_error *err)
{
    static const char *const kinds[] = {"adaptive", "scale-gpus", "rigid"};
    int64_t gpus, batch;
    *j = (dls_pollux_job){.first_s = -1, .end_s = -1};
    const char *id = dls_csv_text(csv, col[NAME]);
    if (strlen(id) >= sizeof j->id) {
        return dls_csv_fail(csv, col[NAME], err, "longer than %zu characters", sizeof j->id - 1);
    }
    memcpy(j->id, id, strlen(id));
    DLS_TRY(dls_csv_i64(csv, col[TIME], "whole seconds, 0 or more", 0, 0, INT64_C(1) << 40,
                        &j->submit_s, err));
    j->app = dls_pollux_app_find(apps, dls_csv_text(csv, col[APPLICATION]));
    if (!j->app) {
        return dls_csv_fail(csv, col[APPLICATION], err, "there is no profile of this application");
    }
    while (!dls_csv_missing(csv, col[CATEGORY]) &&
           !dls_csv_is(csv, col[CATEGORY], kinds[j->kind])) {
        if (++j->kind > DLS_POLLUX_RIGID) {
            return dls_csv_fail(csv, col[CATEGORY], err, "expected adaptive, scale-gpus or rigid");
        }
    }
    DLS_TRY(
        dls_csv_i64(csv, col[GPUS], "replicas, 1 to 256", 0, 1, DLS_POLLUX_REPLICAS, &gpus, err));
    DLS_TRY(dls_csv_i64(csv, col[BATCH], "a batch size", 0, 1, 1 << 30, &batch, err));
    j->gpus = (int32_t)gpus;
    j->batch = (int32_t)batch;
    return batch >= dls_pollux_least_batch(j->app) && batch <= dls_pollux_most_batch(j->app)
               ? DLS_OK
               : dls_csv_fail(csv, col[BATCH], err, "%s was validated with batches of %d to %d",
                              j->app->name, (int)dls_pollux_least_batch(j->app),
                              (int)dls_pollux_most_batch(j->app));
}

static dls_status add_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    dls_pollux_trace *t = user;
    DLS_TRY(dls_grow(&t->job, &t->cap, t->n + 1, sizeof *t->job, err));
    DLS_TRY(parse_row(csv, col, t->apps, &t->job[t->n], err));
    t->n++;
    return DLS_OK;
}

dls_status dls_pollux_load(const char *path, const dls_pollux_apps *apps, dls_pollux_trace *out,
                           dls_error *err)
{
    *out = (dls_pollux_trace){.apps = apps};
    return dls_csv_rows(path, names, N_COLS, CATEGORY, add_row, out, err);
}

void dls_pollux_trace_fini(dls_pollux_trace *trace)
{
    dls_free(trace->job);
    *trace = (dls_pollux_trace){0};
}
