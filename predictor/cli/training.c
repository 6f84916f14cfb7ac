/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs the training that `dlsim train` asks for: opens or creates the inspector, trains its
 * settings one by one or together, reports progress, saves the result.
 */
#include "predictor/cli/training.h"

#include "base/alloc.h"
#include "base/own.h"
#include "cli/signals.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/weights.h"
#include "predictor/training/checkpoint.h"

#include <stdio.h>
#include <unistd.h>

typedef struct session {
    const dls_training *req;
    dls_dataset *set;
    dls_inspector *insp;
    size_t setting[DLS_TOGETHER_MAX];
    size_t n_settings;
    dls_progress bar;
    size_t done; /* settings */
    dls_train_course course[DLS_TOGETHER_MAX];
    dls_named_course named[DLS_TOGETHER_MAX];
    size_t n_courses;
} session;

static bool progress(void *user, const dls_train_epoch *e)
{
    session *s = user;
    const dls_training *req = s->req;
    char detail[120];
    double frac = (double)e->epoch / (double)req->train.epochs;
    if (req->train.patience > 0) {
        const double waited = (double)(e->epoch - e->best_epoch) / (double)req->train.patience;
        frac = waited > frac ? waited : frac;
    }
    snprintf(detail, sizeof detail, "epoch %d, loss %.3g, validation %.3g, best %.3g",
             (int)e->epoch, e->train_loss, e->val_loss, e->best_loss);
    const double n = req->together ? 1 : (double)s->n_settings;
    dls_progress_draw(&s->bar, ((double)s->done + frac) / n, detail);
    return !dls_signals_noted();
}

/* One setting, or all of the session. */
static dls_status train_one(session *s, const size_t *setting, const char *name, dls_error *err)
{
    const dls_training *req = s->req;
    dls_train_course *course = &s->course[s->n_courses];
    dls_train_options o = req->train;
    o.progress = progress;
    o.user = s;
    dls_progress_start(&s->bar, req->when, req->quiet, name);
    dls_status status;
    if (req->together) {
        status = dls_together_fit(s->insp, s->set, setting, s->n_settings, req->hardware,
                                  &req->data, &o, course, err);
    } else {
        status = dls_together_settle(s->insp, s->set, setting, 1, req->hardware, err);
        DLS_THEN(status, dls_fit_setting(s->insp, s->set, *setting, req->tune, &req->data, &o,
                                         course, err));
    }
    dls_progress_stop(&s->bar);
    s->named[s->n_courses++] = (dls_named_course){name, course};
    DLS_TRY(status);
    if (!req->quiet && course->n) {
        const dls_train_epoch *last = &course->epoch[course->n - 1];
        char time[32];
        fprintf(stderr, "%s: %zu epochs, best validation loss %.6g in epoch %d, %s, %.0f MB\n",
                name, course->n, last->best_loss, (int)last->best_epoch,
                dls_ui_duration(course->start_s + last->seconds, time, sizeof time),
                1e-6 * (double)course->bytes);
    }
    return DLS_OK;
}

static dls_status open_inspector(session *s, dls_error *err)
{
    const dls_training *req = s->req;
    /* Settings that an interrupted training of several has finished are in its output. */
    const bool go_on =
        req->train.resume && dls_tune_is_setting(req->tune) && access(req->output, R_OK) == 0;
    if (go_on || req->base) {
        DLS_TRY(dls_inspector_load(go_on ? req->output : req->base, &s->insp, err));
        if (req->partition >= 0) {
            DLS_TRY(dls_inspector_partition(s->insp, req->partition, err));
        }
        return dls_fit_check(s->insp, s->set, err);
    }
    dls_arch arch = dls_arch_default();
    DLS_TRY(dls_arch_parse(&arch, req->arch, err));
    return dls_fit_new(s->set, &arch, req->train.seed, req->init, &s->insp, err);
}

static dls_status train_all(session *s, dls_error *err)
{
    const dls_training *req = s->req;
    DLS_TRY(dls_dataset_load(req->dataset.at[0], req->choice.all ? NULL : req->choice.setting.at,
                             req->choice.all ? 0 : req->choice.setting.n, &s->set, err));
    DLS_TRY(open_inspector(s, err));
    DLS_TRY(dls_together_choose(s->set, s->insp, &req->choice, s->setting, &s->n_settings, err));
    dls_status status = DLS_OK;
    const size_t rounds = req->together && s->n_settings > 0 ? 1 : s->n_settings;
    for (; status == DLS_OK && s->done < rounds; s->done++) {
        const size_t *setting = &s->setting[s->done];
        status = train_one(s, setting,
                           req->together ? "all settings" : s->set->setting[*setting].name, err);
        DLS_THEN(status, dls_inspector_save(s->insp, req->output, err));
    }
    if (req->curves && (status == DLS_OK || status == DLS_EINTERRUPTED)) {
        const dls_status curves =
            dls_courses_save(req->curves, s->named, s->n_courses, status == DLS_OK ? err : NULL);
        DLS_THEN(status, curves);
    }
    return status;
}

dls_status dls_training_run(const dls_training *req, dls_error *err)
{
    DLS_FREED session *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "training", err));
    s->req = req;
    dls_signals_catch(); /* the first ends the training after its epoch */
    const dls_status status = train_all(s, err);
    dls_signals_release();
    for (size_t i = 0; i < s->n_courses; i++) {
        dls_train_course_fini(&s->course[i]);
    }
    dls_inspector_destroy(s->insp);
    dls_dataset_destroy(s->set);
    return status;
}
