/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim sweep: many simulations that differ in a few keys.
 */
#include "base/csv.h"
#include "base/json.h"
#include "cli/submitting.h"

typedef struct request {
    dls_sweeping s;
    const char *points, *file;
    bool count, link;
    dls_submit_options submit;
} request;

/* ---- plan ------------------------------------------------------------------------------------ */

static dls_status load(request *r, const dls_call *call, dls_error *err)
{
    DLS_TRY(dls_sweeping_load(&r->s, call->word[0], err));
    const size_t n = dls_study_about(r->s.study).n_points;
    return !r->points || r->s.first + r->s.n <= n
               ? DLS_OK
               : dls_fail(err, DLS_EUSAGE, NULL,
                          "option '--points' is \"%s\": there are %zu points", r->points, n);
}

static dls_status plan_quietly(request *r, const dls_call *call, dls_error *err)
{
    r->s.told = true;
    DLS_TRY(load(r, call, err));
    return dls_sweeping_plan(&r->s, err);
}

static dls_status cmd_plan(void *user, dls_call *call, dls_error *err)
{
    request *r = user;
    DLS_TRY(load(r, call, err));
    const dls_study *study = r->s.study;
    if (r->count) {
        printf("%zu\n", dls_study_about(study).n_points);
        return DLS_OK;
    }
    DLS_TRY(dls_sweeping_plan(&r->s, err));
    const dls_study_facts about = dls_study_about(study);
    printf("point,design,replica%s", about.has_seeds ? ",seed" : "");
    for (size_t k = 0; k < about.n_keys; k++) {
        putchar(',');
        dls_csv_put(stdout, dls_study_key(study, k));
    }
    fputs(",id\n", stdout);
    for (size_t i = 0; i < about.n; i++) {
        const dls_study_point point = dls_study_point_at(study, i);
        printf("%zu,%zu,%zu", point.number, point.design, point.replica);
        if (about.has_seeds) {
            printf(",%lld", (long long)point.seed);
        }
        for (size_t k = 0; k < about.n_keys; k++) {
            putchar(',');
            dls_csv_put(stdout, dls_study_value(study, point.design, k));
        }
        printf(",%s\n", point.id);
    }
    return DLS_OK;
}

/* ---- run, status, merge ---------------------------------------------------------------------- */

static dls_status cmd_run(void *user, dls_call *call, dls_error *err)
{
    request *r = user;
    DLS_TRY(load(r, call, err));
    DLS_TRY(dls_sweeping_plan(&r->s, err));
    DLS_TRY(dls_sweeping_run(&r->s, err));
    if (!r->s.o.quiet) {
        fprintf(stderr, "%zu of %zu points are finished in %s\n", r->s.done.finished, r->s.done.n,
                dls_study_about(r->s.study).folder);
    }
    return DLS_OK;
}

static dls_status cmd_status(void *user, dls_call *call, dls_error *err)
{
    static const dls_study_state order[] = {DLS_STUDY_FINISHED, DLS_STUDY_RUNNING, DLS_STUDY_FAILED,
                                            DLS_STUDY_MISSING};
    request *r = user;
    DLS_TRY(plan_quietly(r, call, err));
    const size_t n = dls_study_about(r->s.study).n;
    size_t count[4] = {0};
    for (size_t i = 0; i < n; i++) {
        count[dls_sweeping_tell(&r->s, i, r->s.o.json ? NULL : stdout)]++;
    }
    call->exit_code = count[DLS_STUDY_FINISHED] == n ? 0 : dls_status_exit_code(DLS_ERUN);
    if (r->s.o.json) {
        json_object *obj = json_object_new_object();
        dls_json_int(obj, "points", (int64_t)n);
        for (size_t i = 0; i < 4; i++) {
            dls_json_int(obj, dls_study_state_name(order[i]), (int64_t)count[order[i]]);
        }
        return dls_json_print(stdout, obj, err);
    }
    printf("%zu points", n);
    for (size_t i = 0; i < 4; i++) {
        printf(", %zu %s", count[order[i]], dls_study_state_name(order[i]));
    }
    puts("");
    dls_submit_status(&r->s);
    return DLS_OK;
}

static dls_status cmd_merge(void *user, dls_call *call, dls_error *err)
{
    request *r = user;
    DLS_TRY(plan_quietly(r, call, err));
    return dls_sweeping_merge(&r->s, r->file, r->link, err);
}

static dls_status cmd_submit(void *user, dls_call *call, dls_error *err)
{
    request *r = user;
    if (!r->submit.slurm) {
        return dls_fail(err, DLS_EUSAGE, NULL, "say to whom: --slurm");
    }
    if (r->points) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "'submit' takes every point that is not finished: no --points");
    }
    DLS_TRY(plan_quietly(r, call, err));
    return dls_submit(&r->s, call, &r->submit, err);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* "7", "7-12" */
static dls_status take_points(void *member, const dls_arg *arg, const char *text, dls_error *err)
{
    request *r = member;
    unsigned long long a, b;
    int used = 0, more = 0;
    bool good = sscanf(text, "%llu%n", &a, &used) == 1 && *text != '-' && *text != '+';
    if (good && text[used] == '-') {
        const char *rest = text + used + 1;
        good = sscanf(rest, "%llu%n", &b, &more) == 1 && *rest != '-' && rest[more] == '\0';
    } else if (good) {
        b = a;
        good = text[used] == '\0';
    }
    if (!good || b < a || b > DLS_STUDY_POINTS_MAX) {
        return dls_arg_wrong(arg, text, "a number or a range, such as 0-99", err);
    }
    r->points = text;
    r->s.first = a;
    r->s.n = b - a + 1;
    return DLS_OK;
}

static const dls_verb verbs[] = {
    {"plan", "SWEEP.cfg", "check every point and list them as CSV; nothing runs", 1, 1, NULL,
     cmd_plan},
    {"run", "SWEEP.cfg", "run the points that are not finished", 1, 1, NULL, cmd_run},
    {"status", "SWEEP.cfg", "say how far it is; exit code 1 unless every point is finished", 1, 1,
     NULL, cmd_status},
    {"submit", "SWEEP.cfg", "print a batch script for Slurm that runs them, or submit it", 1, 1,
     NULL, cmd_submit},
    {"merge", "SWEEP.cfg", "put the finished points into one file, with a table of them", 1, 1,
     NULL, cmd_merge},
    {.name = NULL}};

static const dls_arg args[] = {
    DLS_TEXT(request, s.output, "output", 'o', "FOLDER",
             "where points are kept; sweep.output, or NAME.sweep"),
    {.type = DLS_ARG_CALL,
     .name = "points",
     .metavar = "A[-B]",
     .set = take_points,
     .help = "only these, by number"},
    DLS_INCLUDE(request, s, dls_sweeping_args),
    DLS_INCLUDE(request, s.o, dls_replay_talk_args),
    DLS_HEADING("plan:"),
    DLS_SWITCH(request, count, "count", 0, "print how many points there are, and no more"),
    DLS_HEADING("status:"),
    DLS_SWITCH(request, s.o.json, "json", 0, "print JSON"),
    DLS_HEADING("merge:"),
    DLS_TEXT(request, file, "file", 0, "FILE.h5", "write this; FOLDER/NAME.h5"),
    DLS_SWITCH(request, link, "link", 0, "link the points' files and do not copy them"),
    DLS_SWITCH(request, s.o.force, "force", 0, "replace the file if it is there"),
    DLS_HEADING("submit:"),
    DLS_SWITCH(request, submit.slurm, "slurm", 0, "the batch system; there is one"),
    DLS_SWITCH(request, submit.yes, "yes", 0, "hand the script to sbatch and do not print it"),
    DLS_INT(request, submit.chunk, "chunk", 0, 1, DLS_STUDY_POINTS_MAX, "points a task"),
    DLS_TEXT(request, submit.time, "time", 0, "T", "option of sbatch"),
    DLS_TEXT(request, submit.partition, "partition", 0, "P", "option of sbatch"),
    DLS_REPEAT(request, submit.extra, "extra", 0, "OPTION",
               "another option of sbatch; may be repeated"),
    DLS_ARGS_END};

const dls_command dls_command_sweep = {
    .name = "sweep",
    .summary = "many simulations that differ in a few keys, resumable",
    .about = "Run a configuration with varied keys, every point in a process of its own "
             "(docs/sweeps.md).",
    .notes =
        "A finished point is never run twice: 'run' goes on where it was stopped, by Ctrl-C or "
        "worse. Points that failed are listed by 'status' and tried again by the next 'run'.",
    .args = args,
    .verbs = verbs,
    .size = sizeof(request),
    .init = dls_replay_init,
    .fini = dls_sweeping_fini,
};
