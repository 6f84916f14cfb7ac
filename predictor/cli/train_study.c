/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The design studies of `dlsim train`: trains variants of an architecture, data set or starting
 * point under equal conditions and prints their errors and training times side by side.
 */
#include "predictor/cli/training.h"

#include "base/own.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/model.h"
#include "predictor/training/judge.h"

#include <math.h>
#include <string.h>

typedef struct variant {
    const char *name;
    const char *arch; /* added to what the study has in common */
    dls_fit_init init;
    const char *dataset;
} variant;

typedef struct list {
    variant v[DLS_STUDY_VARIANTS];
    size_t n;
} list;

static void add(list *l, const char *name, const char *arch, dls_fit_init init, const char *dataset)
{
    l->v[l->n++] = (variant){name, arch, init, dataset};
}

static dls_status variants(const dls_training *s, list *l, dls_error *err)
{
    static const struct {
        const char *study, *arch;
    } by_arch[] = {
        {"depth", "depth=N"},          {"depth", "depth=Nover2"}, {"depth", "depth=Nover3"},
        {"depth", "depth=3log2N"},     {"depth", "depth=log2N"},  {"depth", "depth=log10N"},
        {"readout", "pool=set2set"},   {"readout", "pool=mean"},  {"readout", "pool=max"},
        {"readout", "pool=attention"}, {"readout", "gru=0"},      {"conv", "conv=gcn"},
        {"conv", "conv=gin"},          {"conv", "conv=gat"},      {"conv", "conv=mpnn"}};
    const char *first = s->dataset.at[0];
    for (size_t i = 0; i < sizeof by_arch / sizeof *by_arch; i++) {
        if (strcmp(s->study, by_arch[i].study) == 0) {
            add(l, by_arch[i].arch, by_arch[i].arch, s->init, first);
        }
    }
    for (int i = 0; strcmp(s->study, "init") == 0 && i < DLS_FIT_INITS; i++) {
        add(l, dls_fit_init_names[i], "", (dls_fit_init)i, first);
    }
    for (size_t i = 0; strcmp(s->study, "data") == 0 && i < s->dataset.n; i++) {
        add(l, s->dataset.at[i], "", s->init, s->dataset.at[i]);
    }
    if (l->n == 0) {
        return dls_fail(err, DLS_EUSAGE, "--study",
                        "no study \"%s\": depth, readout, conv, init, data or transfer", s->study);
    }
    return s->dataset.n == 1 || strcmp(s->study, "data") == 0
               ? DLS_OK
               : dls_fail(err, DLS_EUSAGE, "--dataset", "several datasets are for --study=data");
}

typedef struct spread {
    double sum, square;
    size_t n;
} spread;

static void note(spread *s, double x)
{
    s->sum += x;
    s->square += x * x;
    s->n++;
}

/* Deviation of the sample. */
static double deviation(const spread *s)
{
    const double n = (double)s->n;
    return s->n > 1 ? sqrt(fmax(0, (s->square - s->sum * s->sum / n) / (n - 1))) : 0;
}

typedef struct ratios {
    spread time,
        test; /* scratch's time over this one's, where it got there; errors over scratch's */
    size_t n;
} ratios;

typedef struct session {
    const dls_training *s;
    const variant *v;
    dls_progress bar;
    size_t done, n;
    uint64_t seed;
    ratios against[4]; /* "transfer": to scratch with all graphs, as the table is ordered */
} session;

static bool progress(void *user, const dls_train_epoch *e)
{
    session *now = user;
    char detail[120];
    const double frac = (double)e->epoch / (double)now->s->train.epochs;
    snprintf(detail, sizeof detail, "%s, epoch %d, validation %.3g, best %.3g", now->v->name,
             (int)e->epoch, e->val_loss, e->best_loss);
    dls_progress_draw(&now->bar, ((double)now->done + frac) / (double)now->n, detail);
    return true;
}

static size_t n_parameters(const dls_inspector *insp)
{
    size_t n = 0;
    for (size_t i = 0; i < insp->base.n; i++) {
        n += (size_t)dls_tensor_len(&insp->base.t[i].spec);
    }
    return n;
}

static dls_status judge(const dls_inspector *insp, const dls_dataset *set, const dls_training *s,
                        const variant *v, const dls_train_course *course, dls_error *err)
{
    const dls_predictor_options o = {.backend = DLS_BACKEND_CPU, .threads = s->train.step.threads};
    DLS_HOLD(dls_predictor_destroy) dls_predictor *predictor = NULL;
    dls_judgement val, test;
    DLS_TRY(dls_predictor_create(insp, &o, &predictor, err));
    dls_status status = dls_judge(predictor, set, 0, DLS_SETTING_BASE, DLS_SPLIT_VAL, &val, err);
    DLS_THEN(status, dls_judge(predictor, set, 0, DLS_SETTING_BASE, DLS_SPLIT_TEST, &test, err));
    if (status != DLS_OK && status != DLS_EPREDICTOR) {
        return status;
    }
    const dls_train_epoch *last = &course->epoch[course->n - 1];
    printf("%-24s %10zu %7zu %9d %10.3f %9.5f ", v->name, n_parameters(insp), course->n,
           (int)last->best_epoch, last->seconds / (double)course->n, last->best_loss);
    if (status == DLS_EPREDICTOR) { /* on graphs unlike those of training it leaves all ranges */
        puts(" not finite on every graph");
    } else {
        const dls_error_table *t = &test.table[DLS_WHO_INSPECTOR];
        printf("%9.4f %9.4f %9.4f\n", val.table[DLS_WHO_INSPECTOR].by_range, t->by_range,
               t->iteration.by_range);
    }
    fflush(stdout);
    return DLS_OK;
}

static dls_status train_variant(session *now, dls_error *err)
{
    const dls_training *s = now->s;
    const variant *v = now->v;
    dls_arch arch = dls_arch_default();
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    DLS_OWN(dls_train_course_fini) dls_train_course course = {0};
    dls_train_options o = s->train;
    o.progress = progress;
    o.user = now;
    DLS_TRY(dls_dataset_load(v->dataset, s->choice.setting.at, 1, &set, err));
    DLS_TRY(dls_arch_parse(&arch, s->arch, err));
    DLS_TRY(dls_arch_parse(&arch, v->arch, err));
    DLS_TRY(dls_fit_new(set, &arch, o.seed, v->init, &insp, err));
    DLS_TRY(dls_fit_setting(insp, set, 0, DLS_TUNE_BASE, &s->data, &o, &course, err));
    return judge(insp, set, s, v, &course, err);
}

/* ---- transfer against scratch ---------------------------------------------------------------- */

/* Seconds and epoch at which the best loss so far was no more than `loss`; false: never. */
static bool reached(const dls_train_course *course, double loss, double *seconds, int32_t *epoch)
{
    for (size_t i = 0; i < course->n; i++) {
        if (course->epoch[i].best_loss <= loss) {
            *seconds = course->start_s + course->epoch[i].seconds;
            *epoch = course->epoch[i].epoch;
            return true;
        }
    }
    return false;
}

/* A training of a setting, and what it is compared with: the first of the four. */
typedef struct tuned {
    double loss, seconds, test;
} tuned;

static dls_status print_tuned(session *now, int k, const char *name, double share,
                              const dls_inspector *insp, const dls_dataset *set, size_t setting,
                              const dls_train_course *course, tuned *scratch, dls_error *err)
{
    const dls_predictor_options o = {.backend = DLS_BACKEND_CPU,
                                     .threads = now->s->train.step.threads};
    DLS_HOLD(dls_predictor_destroy) dls_predictor *predictor = NULL;
    dls_judgement j;
    DLS_TRY(dls_predictor_create(insp, &o, &predictor, err));
    DLS_TRY(dls_judge(predictor, set, setting, dls_inspector_find(insp, name), DLS_SPLIT_TEST, &j,
                      err));
    const dls_train_epoch *last = &course->epoch[course->n - 1];
    const double test = j.table[DLS_WHO_INSPECTOR].by_range;
    double seconds = 0;
    int32_t epoch = 0;
    printf("%-22s %-9s %5.2f %9.5f %9.4f %9.4f %10.3f", name, k % 2 == 0 ? "scratch" : "transfer",
           share, last->best_loss, test, j.table[DLS_WHO_INSPECTOR].iteration.by_range,
           last->seconds / (double)course->n);
    if (k == 0) {
        *scratch = (tuned){.loss = last->best_loss, .test = test};
    }
    now->against[k].n++;
    note(&now->against[k].test, test / scratch->test);
    if (reached(course, scratch->loss, &seconds, &epoch)) {
        scratch->seconds = k == 0 ? seconds : scratch->seconds;
        note(&now->against[k].time, scratch->seconds / seconds);
        printf(" %8d %8.1f\n", (int)epoch, seconds);
    } else {
        printf(" %8s %8s\n", "never", "");
    }
    fflush(stdout);
    return DLS_OK;
}

static void print_ratios(const session *now)
{
    printf("%-22s %-9s %5s %17s %9s %17s\n", "average", "from", "share", "times faster", "reached",
           "test / scratch");
    for (int k = 1; k < 4; k++) {
        const ratios *r = &now->against[k];
        printf("%-22s %-9s %5.2f", "", k % 2 == 0 ? "scratch" : "transfer",
               k < 2 ? 1 : now->s->data.share);
        if (r->time.n > 0) {
            printf(" %8.2f +- %5.2f", r->time.sum / (double)r->time.n, deviation(&r->time));
        } else {
            printf(" %17s", "-");
        }
        printf(" %4zu / %2zu %8.3f +- %5.3f\n", r->time.n, r->n, r->test.sum / (double)r->n,
               deviation(&r->test));
    }
}

/* One setting: from scratch with all graphs; tuned with all; both with the share asked for. */
static dls_status transfer_one(session *now, const dls_dataset *set, size_t setting, dls_error *err)
{
    const dls_training *s = now->s;
    const char *name = set->setting[setting].name;
    tuned first = {0};
    for (int k = 0; k < 4; k++, now->done++) {
        const bool scratch = k % 2 == 0;
        const variant v = {.name = name};
        dls_data_options data = s->data;
        dls_arch arch = dls_arch_default();
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
        DLS_OWN(dls_train_course_fini) dls_train_course course = {0};
        dls_train_options o = s->train;
        data.share = k < 2 ? 1 : s->data.share;
        o.seed = data.seed = now->seed;
        o.progress = progress;
        o.user = now;
        now->v = &v;
        DLS_TRY(dls_arch_parse(&arch, s->arch, err));
        DLS_TRY(scratch ? dls_fit_new(set, &arch, o.seed, s->init, &insp, err)
                        : dls_inspector_load(s->base, &insp, err));
        DLS_TRY(dls_setting_files_settle_set(insp, set, &setting, 1, s->hardware, err));
        DLS_TRY(dls_fit_setting(insp, set, setting, scratch ? DLS_TUNE_BASE : DLS_TUNE_CONV_MLP,
                                &data, &o, &course, err));
        DLS_TRY(print_tuned(now, k, name, data.share, insp, set, setting, &course, &first, err));
    }
    return DLS_OK;
}

static dls_status transfer_study(const dls_training *s, dls_error *err)
{
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
    session now = {.s = s, .n = 4 * s->choice.setting.n * (size_t)s->seeds};
    DLS_TRY(
        dls_dataset_load(s->dataset.at[0], s->choice.setting.at, s->choice.setting.n, &set, err));
    printf("%-22s %-9s %5s %9s %9s %9s %10s %8s %8s\n", "setting", "from", "share", "val loss",
           "test", "iter", "s an epoch", "epochs", "seconds");
    dls_progress_start(&now.bar, s->when, s->quiet, s->study);
    dls_status status = DLS_OK;
    for (int32_t k = 0; k < s->seeds; k++) {
        now.seed = s->train.seed + (uint64_t)k;
        for (size_t i = 0; status == DLS_OK && i < set->n_settings; i++) {
            status = transfer_one(&now, set, i, err);
        }
    }
    dls_progress_stop(&now.bar);
    if (status == DLS_OK) {
        print_ratios(&now);
    }
    return status;
}

dls_status dls_train_study(const dls_training *s, dls_error *err)
{
    if (strcmp(s->study, "transfer") == 0) {
        return transfer_study(s, err);
    }
    list l = {0};
    DLS_TRY(variants(s, &l, err));
    session now = {.s = s, .n = l.n};
    printf("%-24s %10s %7s %9s %10s %9s %9s %9s %9s\n", s->study, "parameters", "epochs", "best at",
           "s an epoch", "val loss", "val", "test", "iter");
    dls_progress_start(&now.bar, s->when, s->quiet, s->study);
    dls_status status = DLS_OK;
    for (; status == DLS_OK && now.done < l.n; now.done++) {
        now.v = &l.v[now.done];
        status = train_variant(&now, err);
    }
    dls_progress_stop(&now.bar);
    return status;
}
