/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim sweep: many simulations that differ in a few keys, here or by Slurm.
 */
#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/csv.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/shell.h"
#include "base/suggest.h"
#include "cli/script.h"
#include "cli/sweeping.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct submit_options {
    bool slurm, yes;
    int64_t chunk; /* points a task; 0: so that there are at most 500 tasks */
    const char *time, *partition;
    dls_words extra;
} submit_options;

typedef struct request {
    dls_sweeping s;
    const char *points, *file;
    bool count, link;
    submit_options submit;
} request;

/* ---- Slurm ----------------------------------------------------------------------------------- */

enum { TASKS_USUAL = 500 }; /* Slurm's own limit is 1,001 unless MaxArraySize says otherwise */

/* FOLDER/slurm/<name> */
static void slurm_path(const dls_sweeping *s, const char *name, char buf[4300])
{
    snprintf(buf, 4300, "%s/slurm/%s", dls_study_about(s->study).folder, name);
}

/* Tasks that have a point which is not finished, ascending; owned. */
static dls_status unfinished(const dls_sweeping *s, size_t chunk, size_t **tasks, size_t *n,
                             dls_error *err)
{
    const size_t n_points = dls_study_about(s->study).n;
    DLS_TRY(dls_alloc_array(tasks, n_points / chunk + 1, sizeof **tasks, "tasks", err));
    for (size_t i = 0; i < n_points; i++) {
        if (dls_sweeping_tell(s, i, NULL) != DLS_STUDY_FINISHED &&
            (*n == 0 || (*tasks)[*n - 1] != i / chunk)) {
            (*tasks)[(*n)++] = i / chunk;
        }
    }
    return DLS_OK;
}

static dls_status put_script(FILE *to, void *what, dls_error *err)
{
    return dls_slurm_script(to, what, err);
}

/* Hand the script over and note the number of the job. */
static dls_status hand_over(const dls_sweeping *s, dls_slurm_array *array, dls_error *err)
{
    char folder[4300], path[4300], jobs[4300], line[256] = "";
    slurm_path(s, "", folder);
    slurm_path(s, "submit.sh", path);
    slurm_path(s, "jobs", jobs);
    DLS_TRY(dls_folder_make(folder, err));
    DLS_TRY(dls_atomicfile_write(path, put_script, array, err));
    setenv("DLSIM_SCRIPT", path, 1); /* nothing to quote */
    FILE *answer = popen("sbatch --parsable \"$DLSIM_SCRIPT\"", "r");
    const bool got = answer && fgets(line, sizeof line, answer);
    if ((answer ? pclose(answer) : -1) != 0 || !got) {
        return dls_fail(err, DLS_ERUN, NULL, "sbatch did not take %s", path);
    }
    line[strcspn(line, ";\n")] = '\0'; /* "12;cluster" */
    FILE *list = fopen(jobs, "a");
    if (!list || fprintf(list, "%s\n", line) < 0 || fclose(list) != 0) {
        return dls_fail(err, DLS_EOUTPUT, jobs, "cannot be written: %s", strerror(errno));
    }
    if (!s->o.quiet) {
        fprintf(stderr, "submitted job %s: %zu tasks of %zu points\n", line, array->n_tasks,
                array->chunk);
    }
    return DLS_OK;
}

/* Options of every point as a shell wants them, " --set 'a=b'"; the C library's own. */
static char *carried(const dls_call *call)
{
    static const char *const names[] = {"trace", "trace-format", "seed",     "until",
                                        "set",   "plugin",       "replicas", "watchdog"};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    for (size_t i = 0; out && i < call->n_given; i++) {
        const dls_given *g = &call->given[i];
        if (DLS_NAMED(names, g->arg->name) < sizeof names / sizeof names[0]) {
            fprintf(out, " --%s ", g->arg->name);
            dls_shell_word(out, g->value);
        }
    }
    if (out) {
        fclose(out);
    }
    return text;
}

/* The script for what is not finished, on stdout, or submitted. The sweep has been planned; the
 * call has its path as its word, and the options that every point takes. */
static dls_status submit(const dls_sweeping *s, const dls_call *call, const submit_options *o,
                         dls_error *err)
{
    char program[PATH_MAX], here[PATH_MAX];
    DLS_TRY(dls_script_program(program, err));
    if (!getcwd(here, sizeof here)) {
        return dls_fail(err, DLS_ERUN, NULL, "the current folder is not known: %s",
                        strerror(errno));
    }
    DLS_FREED size_t *tasks = NULL;
    char *options = carried(call);
    if (!options) {
        return dls_nomem(err, "options", 0);
    }
    const dls_study_facts about = dls_study_about(s->study);
    const size_t n = about.n_points;
    const size_t chunk = o->chunk ? (size_t)o->chunk : (n + TASKS_USUAL - 1) / TASKS_USUAL;
    dls_slurm_array array = {.name = about.name,
                             .program = program,
                             .folder = here,
                             .sweep = call->word[0],
                             .results = about.folder,
                             .options = options,
                             .time = o->time,
                             .partition = o->partition,
                             .extra = o->extra.at,
                             .n_extra = o->extra.n,
                             .chunk = chunk,
                             .n_points = n,
                             .workers = s->workers ? (int)s->workers : 1};
    dls_status status = unfinished(s, chunk, &tasks, &array.n_tasks, err);
    array.task = tasks;
    if (status == DLS_OK && array.n_tasks == 0) {
        fprintf(stderr, "all %zu points are finished in %s\n", n, about.folder);
    } else if (status == DLS_OK) {
        status = o->yes ? hand_over(s, &array, err) : dls_slurm_script(stdout, &array, err);
    }
    free(options); /* the C library's own */
    return status;
}

/* ---- and what became of it ------------------------------------------------------------------- */

/* What a command says of tasks, a line each; false if it fails or says nothing. */
static bool ask(const char *command, dls_slurm_states *states)
{
    *states = (dls_slurm_states){.n = 0};
    FILE *in = popen(command, "r");
    char *line = NULL; /* the C library's own */
    size_t cap = 0;
    while (in && getline(&line, &cap, in) > 0) {
        dls_slurm_count(states, line);
    }
    free(line);
    return in && pclose(in) == 0 && states->n > 0;
}

/* A line on stdout about the tasks of the sweep that Slurm knows; nothing if none was submitted. */
static void submit_status(const dls_sweeping *s)
{
    char path[4300], ids[4000] = "", line[64], command[4200];
    size_t len = 0;
    slurm_path(s, "jobs", path);
    FILE *list = fopen(path, "r");
    while (list && fgets(line, sizeof line, list) && len + sizeof line < sizeof ids) {
        line[strspn(line, "0123456789")] = '\0'; /* nothing else reaches the shell */
        len += (size_t)snprintf(ids + len, sizeof ids - len, "%s%s", len ? "," : "", line);
    }
    if (list) {
        fclose(list);
    }
    if (len == 0) {
        return;
    }
    /* The accounting remembers all; without it the queue still knows those of the last minutes. A
     * task that was put back into the queue is one task, and lists of tasks are not cut short. */
    dls_slurm_states states;
    snprintf(command, sizeof command,
             "SLURM_BITSTR_LEN=0 sacct -n -P -X -j %s -o JobID,State 2>/dev/null", ids);
    bool known = ask(command, &states);
    if (!known) {
        snprintf(command, sizeof command, "squeue -h -r -t all -j %s -o '%%i %%T' 2>/dev/null",
                 ids);
        known = ask(command, &states);
    }
    printf("slurm jobs %s:", ids);
    for (size_t i = 0; i < states.n; i++) {
        printf("%s %zu %s", i > 0 ? "," : "", states.tasks[i], states.name[i]);
    }
    puts(known ? "" : " nothing known any more");
}

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

static dls_status cmd_plan(dls_call *call, dls_error *err)
{
    request *r = call->request;
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

static dls_status cmd_run(dls_call *call, dls_error *err)
{
    request *r = call->request;
    DLS_TRY(load(r, call, err));
    DLS_TRY(dls_sweeping_plan(&r->s, err));
    DLS_TRY(dls_sweeping_run(&r->s, err));
    if (!r->s.o.quiet) {
        fprintf(stderr, "%zu of %zu points are finished in %s\n", r->s.done.finished, r->s.done.n,
                dls_study_about(r->s.study).folder);
    }
    return DLS_OK;
}

static dls_status cmd_status(dls_call *call, dls_error *err)
{
    static const dls_study_state order[] = {DLS_STUDY_FINISHED, DLS_STUDY_RUNNING, DLS_STUDY_FAILED,
                                            DLS_STUDY_MISSING};
    request *r = call->request;
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
    submit_status(&r->s);
    return DLS_OK;
}

static dls_status cmd_merge(dls_call *call, dls_error *err)
{
    request *r = call->request;
    DLS_TRY(plan_quietly(r, call, err));
    return dls_sweeping_merge(&r->s, r->file, r->link, err);
}

static dls_status cmd_submit(dls_call *call, dls_error *err)
{
    request *r = call->request;
    if (!r->submit.slurm) {
        return dls_fail(err, DLS_EUSAGE, NULL, "say to whom: --slurm");
    }
    DLS_TRY(plan_quietly(r, call, err));
    return submit(&r->s, call, &r->submit, err);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* "7", "7-12" */
static dls_status take_points(void *member, const dls_arg *arg, const char *text, dls_error *err)
{
    request *r = member;
    char *end;
    const unsigned long long a = strtoull(text, &end, 10);
    const bool range = *end == '-' && isdigit((unsigned char)end[1]);
    const unsigned long long b = range ? strtoull(end + 1, &end, 10) : a;
    if (!isdigit((unsigned char)*text) || *end || b < a || b > DLS_STUDY_POINTS_MAX) {
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
    DLS_CALL(request, s, "points", 0, "A[-B]", take_points, "only these, by number",
             .of = "plan, run, status, merge"),
    DLS_INCLUDE(request, s, dls_sweeping_args),
    DLS_INCLUDE(request, s.o, dls_replay_talk_args),
    DLS_OF("plan"),
    DLS_SWITCH(request, count, "count", 0, "print how many points there are, and no more"),
    DLS_OF("status"),
    DLS_SWITCH(request, s.o.json, "json", 0, "print JSON"),
    DLS_OF("merge"),
    DLS_OUTPUT(request, file, "file", 0, "FILE.h5", "write this; FOLDER/NAME.h5"),
    DLS_SWITCH(request, link, "link", 0, "link the points' files and do not copy them"),
    DLS_SWITCH(request, s.o.force, "force", 0, "replace the file if it is there"),
    DLS_OF("submit"),
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
    .about = "Run a configuration with varied keys, several points at a time in processes of their own "
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
