/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim study: a sweep planned, run, merged and compared in one command.
 */
#include "cli/sweeping.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

typedef struct study {
    dls_sweeping s;
    dls_words baseline;
    const char *path; /* of a study file; NULL: the axes are on the command line */
    dls_words sched, place;
    char scratch[4096]; /* a folder that goes away again, "" if there is none */
} study;

/* Without -o, results on the command line's axes are for the table alone. */
static dls_status make_scratch(study *s, dls_error *err)
{
    const char *where = getenv("TMPDIR");
    where = where && *where ? where : "/tmp";
    const int len = snprintf(s->scratch, sizeof s->scratch, "%s/dlsim-XXXXXX", where);
    errno = ENAMETOOLONG;
    if (len >= (int)sizeof s->scratch || !mkdtemp(s->scratch)) {
        const int why = errno;
        s->scratch[0] = '\0';
        return dls_fail(err, DLS_EOUTPUT, where, "no folder can be made: %s", strerror(why));
    }
    s->s.output = s->scratch;
    return DLS_OK;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    return remove(path);
}

static dls_status check(const study *s, dls_error *err)
{
    if (s->path && (s->s.o.config_path || s->sched.n || s->place.n)) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "a study file says itself what is compared: no --config, --schedulers or "
                        "--placements");
    }
    if (!s->path && !s->s.o.config_path) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "no configuration: give --config=FILE, or a study file");
    }
    return s->path || s->sched.n
               ? DLS_OK
               : dls_fail(err, DLS_EUSAGE, NULL, "no schedulers: give --schedulers=A,B,...");
}

/* Before anything runs. */
static dls_status check_baselines(const study *s, dls_error *err)
{
    for (size_t k = 0; k < s->baseline.n; k++) {
        DLS_TRY(dls_study_find(s->s.study, s->baseline.at[k], err));
    }
    return DLS_OK;
}

static dls_status load(study *s, dls_error *err)
{
    if (s->path) {
        return dls_sweeping_load(&s->s, s->path, err);
    }
    DLS_TRY(dls_study_create(s->s.o.setup, s->s.o.config_path, &s->s.study, err));
    DLS_TRY(
        dls_study_vary(s->s.study, "scheduler.name", s->sched.at, s->sched.n, "--schedulers", err));
    if (s->place.n) {
        DLS_TRY(dls_study_vary(s->s.study, "placement.name", s->place.at, s->place.n,
                               "--placements", err));
    }
    return s->s.output ? DLS_OK : make_scratch(s, err);
}

static dls_status show(study *s, dls_error *err)
{
    char merged[4200];
    DLS_HOLD(dls_comparison_destroy) dls_comparison *c = NULL;
    s->s.o.quiet = s->s.o.quiet || *s->scratch;
    DLS_TRY(dls_sweeping_merge(&s->s, NULL, false, err));
    dls_sweeping_file(&s->s, merged, sizeof merged);
    DLS_TRY(dls_comparison_create(&c, err));
    DLS_TRY(dls_comparison_add(c, merged, NULL, err));
    return dls_replay_compare(c, &s->baseline, s->s.o.json, err);
}

static dls_status run(dls_call *call, dls_error *err)
{
    study *s = call->request;
    const dls_study_progress *done = &s->s.done;
    s->path = call->word[0];
    DLS_TRY(check(s, err));
    DLS_TRY(load(s, err));
    DLS_TRY(dls_sweeping_plan(&s->s, err));
    DLS_TRY(check_baselines(s, err));
    const dls_status status = dls_sweeping_run(&s->s, err);
    if (status != DLS_OK && (done->failed == 0 || done->finished == 0)) {
        return status;
    }
    /* The rest is worth a look although some failed. */
    dls_error other;
    const dls_status shown = show(s, status == DLS_OK ? err : &other);
    if (status != DLS_OK && shown != DLS_OK) {
        (void)dls_ui_fail(&other);
    }
    return status != DLS_OK ? status : shown;
}

static void fini(void *user)
{
    study *s = user;
    if (*s->scratch) {
        nftw(s->scratch, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    }
    dls_sweeping_fini(&s->s);
}

static const dls_arg args[] = {
    DLS_LIST(study, sched, "schedulers", 0, "A,B,...", dls_names_scheduler,
             "schedulers ('dlsim list schedulers')"),
    DLS_LIST(study, place, "placements", 0, "A,B,...", dls_names_placement,
             "each with each of these; the configuration's if left out"),
    DLS_REPEAT(study, baseline, "baseline", 0, "NAME",
               "ratios to this one, not to the first; may be repeated"),
    DLS_TEXT(study, s.o.config_path, "config", 'c', "FILE", "configuration"),
    DLS_INCLUDE(study, s, dls_sweeping_args),
    DLS_TEXT(study, s.output, "output", 'o', "FOLDER",
             "keep the runs there, and all of them in FOLDER/NAME.h5. A study file has a folder in "
             "any case (sweep.output, or NAME.sweep)"),
    DLS_SWITCH(study, s.o.force, "force", 0, "replace results that are there"),
    DLS_SWITCH(study, s.o.json, "json", 0, "the comparison as JSON"),
    DLS_INCLUDE(study, s.o, dls_replay_talk_args),
    DLS_ARGS_END};

const dls_command dls_command_study = {
    .name = "study",
    .summary = "replay a trace under several policies and compare them",
    .usage = "STUDY.cfg [OPTION]...\n--config=FILE --trace=FILE --schedulers=A,B,... [OPTION]...",
    .about = "Run every point of a sweep (docs/sweeps.md), or one trace under several policies; "
             "put the runs into one file and print how they compare.",
    .notes =
        "Runs that are finished in FOLDER are not run again: a study that was stopped goes on.",
    .args = args,
    .max_words = 1,
    .size = sizeof(study),
    .init = dls_replay_init,
    .run = run,
    .fini = fini,
};
