/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is not finished, handed to sbatch, and what Slurm says of it.
 */
#include "cli/submitting.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/folder.h"
#include "base/shell.h"
#include "dlsim/study.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS_USUAL = 500 }; /* Slurm's own limit is 1,001 unless MaxArraySize says otherwise */

/* FOLDER/slurm/<name> */
static void slurm_path(const dls_sweeping *s, const char *name, char *buf, size_t n)
{
    snprintf(buf, n, "%s/slurm%s%s", dls_study_about(s->study).folder, *name ? "/" : "", name);
}

/* Tasks that have a point which is not finished, ascending; owned. */
static dls_status unfinished(const dls_sweeping *s, size_t chunk, size_t **tasks, size_t *n,
                             dls_error *err)
{
    const size_t n_points = dls_study_about(s->study).n;
    *tasks = dls_alloc((n_points / chunk + 1) * sizeof **tasks);
    *n = 0;
    if (!*tasks) {
        return dls_nomem(err, "tasks", (n_points / chunk + 1) * sizeof **tasks);
    }
    for (size_t i = 0; i < n_points; i++) {
        if (dls_sweeping_tell(s, i, NULL) != DLS_STUDY_FINISHED &&
            (*n == 0 || (*tasks)[*n - 1] != i / chunk)) {
            (*tasks)[(*n)++] = i / chunk;
        }
    }
    return DLS_OK;
}

/* ---- submission ------------------------------------------------------------------------------ */

static dls_status put_script(FILE *to, void *what, dls_error *err)
{
    return dls_slurm_script(to, what, err);
}

/* Hand the script over and note the number of the job. */
static dls_status submit(const dls_sweeping *s, dls_slurm_array *array, dls_error *err)
{
    char folder[4200], path[4300], jobs[4300], line[256] = "";
    char *command = NULL;
    size_t len = 0;
    slurm_path(s, "", folder, sizeof folder);
    slurm_path(s, "submit.sh", path, sizeof path);
    slurm_path(s, "jobs", jobs, sizeof jobs);
    DLS_TRY(dls_folder_make(folder, err));
    DLS_TRY(dls_atomicfile_write(path, put_script, array, err));
    FILE *text = open_memstream(&command, &len);
    if (!text) {
        return dls_nomem(err, "command", 0);
    }
    fputs("sbatch --parsable ", text);
    dls_shell_word(text, path);
    fclose(text);
    FILE *answer = popen(command, "r");
    free(command); /* the C library's own */
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
    static const char *const names[] = {"trace", "trace-format", "seed",    "until",
                                        "set",   "plugin",       "replicas"};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    for (size_t i = 0; out && i < call->n_given; i++) {
        const dls_given *g = &call->given[i];
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            if (strcmp(g->arg->name, names[k]) == 0) {
                fprintf(out, " --%s ", g->arg->name);
                dls_shell_word(out, g->value);
            }
        }
    }
    if (out) {
        fclose(out);
    }
    return text;
}

dls_status dls_submit(const dls_sweeping *s, const dls_call *call, const dls_submit_options *o,
                      dls_error *err)
{
    char program[PATH_MAX], here[PATH_MAX];
    const ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len < 0 || !getcwd(here, sizeof here)) {
        return dls_fail(err, DLS_ERUN, NULL, "the current folder is not known: %s",
                        strerror(errno));
    }
    program[len] = '\0';
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
    size_t *tasks = NULL;
    dls_status status = unfinished(s, chunk, &tasks, &array.n_tasks, err);
    array.task = tasks;
    if (status == DLS_OK && array.n_tasks == 0) {
        fprintf(stderr, "all %zu points are finished in %s\n", n, about.folder);
    } else if (status == DLS_OK) {
        status = o->yes ? submit(s, &array, err) : dls_slurm_script(stdout, &array, err);
    }
    dls_free(tasks);
    free(options);
    return status;
}

/* ---- what became of it ----------------------------------------------------------------------- */

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

void dls_submit_status(const dls_sweeping *s)
{
    char path[4300], ids[4000] = "", line[64], command[4200];
    size_t len = 0;
    slurm_path(s, "jobs", path, sizeof path);
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
