/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Processor time of a command and of all that it started: the clocks of the living processes, which
 * count nanoseconds, and what their dead children had (proc_pid_stat(5), in ticks of 10 ms). A
 * process that detaches itself from its parent is lost from sight.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "predictor/measure/source.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX 4096
#define LOOK_AGAIN_S 0.1 /* for new processes: walking the tree is dear */

typedef struct cpu {
    pid_t *pids; /* [n] of the tree, the root first */
    double *children_s;
    size_t n, pid_cap, children_cap;
    pid_t root;
    double looked_s, greatest_s;
    double tick_s;
} cpu;

static double seconds(const struct timespec *t)
{
    return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
}

/* What the dead children of a process had; 0 if it is gone. */
static double of_children(const cpu *s, pid_t pid)
{
    char path[64];
    char text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) {
        return 0;
    }
    const size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    /* Behind the name, which may hold blanks and parentheses: fields 3, ..., 16 and 17. */
    const char *at = strrchr(text, ')');
    unsigned long user = 0;
    unsigned long system = 0;
    if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu", &user,
                      &system) != 2) {
        return 0;
    }
    return (double)(user + system) * s->tick_s;
}

static bool add(cpu *s, pid_t pid)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->pids[i] == pid) {
            return true;
        }
    }
    if (s->n == PROCESSES_MAX ||
        dls_grow(&s->pids, &s->pid_cap, s->n + 1, sizeof *s->pids, NULL) != DLS_OK ||
        dls_grow(&s->children_s, &s->children_cap, s->n + 1, sizeof *s->children_s, NULL) !=
            DLS_OK) {
        return false; /* the rest is not sampled */
    }
    s->pids[s->n++] = pid;
    return true;
}

/* Children that any thread of the process started. */
static void add_children(cpu *s, pid_t pid)
{
    char path[320];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
        int child;
        while (f && fscanf(f, "%d", &child) == 1 && add(s, (pid_t)child)) {
        }
        if (f) {
            fclose(f);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

static void look(cpu *s)
{
    s->n = 0;
    (void)add(s, s->root);
    for (size_t i = 0; i < s->n; i++) { /* grows meanwhile: breadth first */
        add_children(s, s->pids[i]);
        s->children_s[i] = of_children(s, s->pids[i]);
    }
}

static void read_cpu(void *state, double *value)
{
    cpu *s = state;
    const double now = dls_clock_s();
    if (now - s->looked_s >= LOOK_AGAIN_S) {
        look(s);
        s->looked_s = now;
    }
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        clockid_t clock;
        struct timespec used;
        if (clock_getcpuclockid(s->pids[i], &clock) == 0 && clock_gettime(clock, &used) == 0) {
            sum += seconds(&used);
        }
        sum += s->children_s[i];
    }
    /* Between a process's end and the next look its time is nowhere. */
    s->greatest_s = sum > s->greatest_s ? sum : s->greatest_s;
    *value = s->greatest_s;
}

static void close_cpu(void *state)
{
    cpu *s = state;
    DLS_FREE_ALL(s->pids, s->children_s, s);
}

dls_status dls_source_cpu(dls_recording *r, const dls_watched *of, dls_source *out, dls_error *err)
{
    *out = (dls_source){0};
    cpu *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "processor time", err));
    cpu_set_t set; /* those that the process may run on */
    const int n_cpus = sched_getaffinity(of->pid, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    const long ticks = sysconf(_SC_CLK_TCK);
    s->root = of->pid;
    s->tick_s = 1.0 / (ticks > 0 ? (double)ticks : 100);
    *out = (dls_source){.state = s, .n_columns = 1, .read = read_cpu, .close = close_cpu};
    return dls_recording_add(r, DLS_COLUMN_COUNTER, (double)n_cpus, err, "cpu.%s%sseconds",
                             of->name, *of->name ? "." : "");
}
