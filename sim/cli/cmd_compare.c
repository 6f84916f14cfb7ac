/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim compare: runs of several results files side by side.
 */
#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/ui.h"
#include "results/compare.h"
#include "results/read.h"

#include <string.h>

static const char help[] =
    "Usage: dlsim compare [OPTION]... FILE.h5...\n"
    "\n"
    "Show completion times, queueing, makespan, GPU use and preemptions of runs side by side, "
    "with\n"
    "ratios to the first run, over all jobs and per gang size. Takes every run of every file.\n"
    "\n"
    "      --run=ID   only the run ID of each file\n"
    "      --json     print JSON\n"
    "  -h, --help     show this and leave\n";

typedef struct entry {
    char *file_label; /* "a.h5", or "a.h5:ID" when the file holds several runs */
    char *policy;     /* "dlas-gpu/consolidated" */
    char *sha256;
    dls_summary summary;
} entry;

typedef struct list {
    entry *items;
    size_t n, cap;
} list;

static void list_fini(list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        dls_free(l->items[i].file_label);
        dls_free(l->items[i].policy);
        dls_free(l->items[i].sha256);
    }
    dls_free(l->items);
}

/* "a<between>b" on the heap. */
static char *join(const char *a, const char *between, const char *b)
{
    const size_t n = strlen(a) + strlen(between) + strlen(b) + 1;
    char *text = dls_alloc(n);
    if (text) {
        snprintf(text, n, "%s%s%s", a, between, b);
    }
    return text;
}

static dls_status add_run(list *l, const char *path, const dls_run *run, bool several,
                          dls_error *err)
{
    DLS_TRY(dls_grow(&l->items, &l->cap, l->n + 1, sizeof *l->items, err));
    const char *scheduler = dls_run_attr(run, "scheduler");
    const char *placement = dls_run_attr(run, "placement");
    entry *e = &l->items[l->n++];
    e->file_label = join(path, several ? ":" : "", several ? dls_run_id(run) : "");
    e->policy = join(scheduler, *scheduler && *placement ? "/" : "", placement);
    e->sha256 = dls_strdup(dls_run_attr(run, "trace_sha256"));
    e->summary = *dls_run_summary(run);
    return e->file_label && e->policy && e->sha256 ? DLS_OK : dls_nomem(err, "labels", 0);
}

static dls_status add_file(list *l, const char *path, const char *run_id, dls_error *err)
{
    dls_results *file = NULL;
    DLS_TRY(dls_results_open(path, &file, err));
    dls_status status = DLS_OK;
    const size_t n = dls_results_n_runs(file);
    for (size_t i = 0; i < (run_id ? 1 : n) && status == DLS_OK; i++) {
        dls_run *run = NULL;
        status = dls_run_open(file, run_id ? run_id : dls_results_run_id(file, i), &run, err);
        if (status == DLS_OK) {
            status = add_run(l, path, run, n > 1, err);
        }
        dls_run_close(run);
    }
    dls_results_close(file);
    return status;
}

/* Whether the policies alone tell the runs apart. */
static bool policies_differ(const list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (!l->items[i].policy[0]) {
            return false;
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(l->items[i].policy, l->items[k].policy) == 0) {
                return false;
            }
        }
    }
    return true;
}

static dls_status show(const list *l, bool json, dls_error *err)
{
    dls_compare_run *runs = dls_alloc(l->n * sizeof *runs);
    if (!runs) {
        return dls_nomem(err, "comparison", l->n * sizeof *runs);
    }
    const bool short_labels = policies_differ(l);
    for (size_t i = 0; i < l->n; i++) {
        const entry *e = &l->items[i];
        runs[i] =
            (dls_compare_run){short_labels ? e->policy : e->file_label, e->sha256, &e->summary};
        if (!e->summary.complete) {
            fprintf(stderr, "dlsim: warning: %s was stopped early\n", e->file_label);
        }
    }
    const size_t other = dls_compare_other_trace(runs, l->n);
    if (other > 0) {
        fprintf(stderr, "dlsim: warning: %s and %s replay different traces\n",
                l->items[0].file_label, l->items[other].file_label);
    }
    dls_status status = DLS_OK;
    if (json) {
        status = dls_compare_json(stdout, runs, l->n, err);
    } else {
        dls_compare_print(stdout, runs, l->n);
    }
    dls_free(runs);
    if (status == DLS_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        status = dls_fail(err, DLS_EOUTPUT, "standard output", "cannot be written");
    }
    return status;
}

int dls_cmd_compare(int argc, char **argv)
{
    enum { OPT_RUN = 256, OPT_JSON };
    static const struct option longs[] = {{"run", required_argument, NULL, OPT_RUN},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const char *run_id = NULL;
    bool json = false;
    for (int opt; (opt = dls_ui_getopt(argc, argv, "h", longs, "compare")) != -1;) {
        switch (opt) {
        case OPT_RUN:
            run_id = optarg;
            break;
        case OPT_JSON:
            json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return 0;
        default:
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (optind == argc) {
        return dls_ui_usage("compare", "no results file given");
    }
    list l = {NULL, 0, 0};
    dls_error err;
    dls_status status = DLS_OK;
    for (int i = optind; i < argc && status == DLS_OK; i++) {
        status = add_file(&l, argv[i], run_id, &err);
    }
    if (status == DLS_OK) {
        status = show(&l, json, &err);
    }
    list_fini(&l);
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}
