/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Batch scripts for Slurm, and what it says of their tasks.
 */
#include "dlsim/study.h"

#include "base/alloc.h"
#include "base/shell.h"

#include <stdlib.h>
#include <string.h>

/* "0-3,7,9-12" */
static void put_tasks(FILE *out, const size_t *task, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t last = i;
        while (last + 1 < n && task[last + 1] == task[last] + 1) {
            last++;
        }
        fprintf(out, "%s%zu", i > 0 ? "," : "", task[i]);
        if (last > i) {
            fprintf(out, "-%zu", task[last]);
        }
        i = last + 1;
    }
}

/* Directives are lines: a text with a line end would be a directive of its own. */
static dls_status check_lines(const dls_slurm_array *a, dls_error *err)
{
    const char *texts[] = {a->name, a->time ? a->time : "", a->partition ? a->partition : "",
                           a->results};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] + a->n_extra; i++) {
        const size_t fixed = sizeof texts / sizeof texts[0];
        const char *text = i < fixed ? texts[i] : a->extra[i - fixed];
        if (strchr(text, '\n')) {
            return dls_fail(err, DLS_EUSAGE, NULL, "'%s' does not fit a line of a batch script",
                            text);
        }
    }
    return DLS_OK;
}

/* Where a task's output goes: % is Slurm's own in there, but doubled. */
static dls_status put_output(FILE *out, const char *results, dls_error *err)
{
    char *path = dls_alloc(2 * strlen(results) + sizeof "/slurm/%A_%a.out"), *p = path;
    if (!path) {
        return dls_nomem(err, "file name", strlen(results));
    }
    for (; *results; results++) {
        *p++ = *results;
        if (*results == '%') {
            *p++ = '%';
        }
    }
    strcpy(p, "/slurm/%A_%a.out");
    dls_shell_word(out, path);
    fputc('\n', out);
    dls_free(path);
    return DLS_OK;
}

dls_status dls_slurm_script(FILE *out, const dls_slurm_array *a, dls_error *err)
{
    DLS_TRY(check_lines(a, err));
    fputs("#!/bin/sh\n#SBATCH --job-name=", out);
    dls_shell_word(out, a->name);
    fputs("\n#SBATCH --array=", out);
    put_tasks(out, a->task, a->n_tasks);
    /* The batch shell becomes the program, so it is the one to be told that its time ends. */
    fprintf(out, "\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%d\n#SBATCH --signal=B:TERM@60\n",
            a->workers);
    fputs("#SBATCH --output=", out);
    DLS_TRY(put_output(out, a->results, err));
    if (a->time) {
        fputs("#SBATCH --time=", out);
        dls_shell_word(out, a->time);
        fputc('\n', out);
    }
    if (a->partition) {
        fputs("#SBATCH --partition=", out);
        dls_shell_word(out, a->partition);
        fputc('\n', out);
    }
    for (size_t i = 0; i < a->n_extra; i++) {
        fprintf(out, "#SBATCH %s\n", a->extra[i]);
    }
    fputs("set -eu\ncd ", out);
    dls_shell_word(out, a->folder);
    fprintf(out,
            "\nfirst=$((SLURM_ARRAY_TASK_ID * %zu))\nlast=$((first + %zu))\n"
            "if [ \"$last\" -ge %zu ]; then last=%zu; fi\nexec ",
            a->chunk, a->chunk - 1, a->n_points, a->n_points - 1);
    dls_shell_word(out, a->program);
    fputs(" sweep run ", out);
    dls_shell_word(out, a->sweep);
    fputs(" --output=", out);
    dls_shell_word(out, a->results);
    fprintf(out, "%s --jobs=%d --quiet --points=\"$first-$last\"\n", a->options, a->workers);
    return ferror(out) ? dls_fail(err, DLS_EOUTPUT, NULL, "the batch script cannot be written")
                       : DLS_OK;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Of "12", "12_3", "12_[0-3,7,10-20:2%4]": from, to and step of each part; what follows % limits
 * how many run at once. */
static size_t count_tasks(const char *id)
{
    const char *p = strchr(id, '[');
    size_t n = 0;
    if (!p) {
        return 1;
    }
    do {
        char *end;
        const unsigned long long first = strtoull(p + 1, &end, 10);
        if (end == p + 1) {
            break; /* "...": a list that was cut short */
        }
        const unsigned long long last = *end == '-' ? strtoull(end + 1, &end, 10) : first;
        const unsigned long long step = *end == ':' ? strtoull(end + 1, &end, 10) : 1;
        n += last >= first && step > 0 ? (size_t)((last - first) / step + 1) : 0;
        p = end;
    } while (*p == ',');
    return n;
}

void dls_slurm_count(dls_slurm_states *s, const char *line)
{
    const char *state = line + strcspn(line, " |");
    state += *state != '\0';
    const size_t len = strcspn(state, " +\n"); /* "CANCELLED by 0", "CANCELLED+" */
    size_t i = 0;
    while (i < s->n && (strncmp(s->name[i], state, len) != 0 || s->name[i][len] != '\0')) {
        i++;
    }
    if (len == 0 || len >= sizeof s->name[0] || i == DLS_SLURM_STATES_MAX) {
        return;
    }
    if (i == s->n) {
        memcpy(s->name[i], state, len);
        s->name[i][len] = '\0';
        s->tasks[i] = 0;
        s->n++;
    }
    s->tasks[i] += count_tasks(line);
}
