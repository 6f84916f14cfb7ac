/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Makes a dataset from real measurements: pairs Driple's CSV rows with graph files by the six parts
 * of their names, counts what has no counterpart, groups the graphs.
 */
#include "predictor/dataset/measured.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/dataset/perf_csv.h"
#include "workload/graph/import.h"
#include "workload/graph/pyrandom.h"
#include "workload/graph/zoo.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHUFFLE_SEED 42 /* of Driple's builder */

/* A graph file whose job was measured. */
typedef struct job {
    char part[DLS_JOB_PARTS][DLS_DATASET_NAME];
    char *file; /* name in the folder, owned */
    double label[DLS_METRICS];
    dls_opgraph *graph; /* owned */
} job;

typedef struct jobs {
    job *job;
    size_t n, cap;
} jobs;

static void jobs_fini(jobs *all)
{
    for (size_t i = 0; i < all->n; i++) {
        dls_free(all->job[i].file);
        dls_opgraph_destroy(all->job[i].graph);
    }
    dls_free(all->job);
}

/* ---- files and rows -------------------------------------------------------------------------- */

/* GPU_DataSet_Model_Sync_Hyper_Job.pbtxt; false: not six parts. */
static bool parts_of(const char *file, job *out)
{
    const char *stop = strrchr(file, '.');
    const char *from = file;
    for (int p = 0; p < DLS_JOB_PARTS; p++) {
        const char *to = memchr(from, '_', (size_t)(stop - from));
        if (!to == (p < DLS_JOB_PARTS - 1)) {
            return false;
        }
        to = to ? to : stop;
        const size_t len = (size_t)(to - from);
        if (len == 0 || len >= sizeof out->part[p]) {
            return false;
        }
        memcpy(out->part[p], from, len);
        out->part[p][len] = '\0';
        from = to + 1;
    }
    return true;
}

static bool is_graph(const char *file)
{
    return dls_ends_with(file, ".pbtxt") || dls_ends_with(file, ".pb");
}

/* false: not exactly its four rows. */
static bool find_rows(dls_perf_csv *csv, job *j)
{
    dls_perf_row *found[4] = {NULL};
    size_t n = 0;
    for (size_t i = 0; i < csv->n; i++) {
        dls_perf_row *row = &csv->row[i];
        if (memcmp(row->part, j->part, sizeof row->part) == 0) {
            found[row->resource] = row;
            n++;
        }
    }
    if (n != 4 || !found[0] || !found[1] || !found[2] || !found[3]) {
        return false;
    }
    for (int r = 0; r < 4; r++) {
        j->label[3 * r] = found[r]->idle_s;
        j->label[3 * r + 1] = found[r]->active_s;
        j->label[3 * r + 2] = found[r]->peak;
        found[r]->used = true;
    }
    return true;
}

static dls_status take_file(const char *file, dls_perf_csv *csv, jobs *all,
                            dls_measured_report *report, dls_error *err)
{
    job j = {.file = NULL};
    if (!is_graph(file)) {
        return DLS_OK;
    }
    report->n_files++;
    if (!parts_of(file, &j)) {
        report->n_misnamed++;
        return DLS_OK;
    }
    if (!find_rows(csv, &j)) {
        report->n_unmeasured++;
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&all->job, &all->cap, all->n + 1, sizeof *all->job, err));
    j.file = dls_strdup(file);
    if (!j.file) {
        return dls_nomem(err, file, strlen(file) + 1);
    }
    all->job[all->n++] = j;
    return DLS_OK;
}

DLS_BY(by_file, job, strcmp(x->file, y->file));

static dls_status list_files(const char *folder, dls_perf_csv *csv, jobs *all,
                             dls_measured_report *report, dls_error *err)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        return dls_fail(err, DLS_EINPUT, folder, "%s", strerror(errno));
    }
    dls_status status = DLS_OK;
    for (struct dirent *entry; status == DLS_OK && (entry = readdir(dir));) {
        status = take_file(entry->d_name, csv, all, report, err);
    }
    closedir(dir);
    if (status == DLS_OK && all->n == 0) {
        status = dls_fail(err, DLS_EINPUT, folder,
                          "no graph with its four rows: %zu graphs, %zu of them misnamed",
                          report->n_files, report->n_misnamed);
    }
    if (status == DLS_OK) {
        qsort(all->job, all->n, sizeof *all->job, by_file);
    }
    return status;
}

static dls_status read_graphs(const char *folder, jobs *all, dls_measured_report *report,
                              dls_error *err)
{
    for (size_t i = 0; i < all->n; i++) {
        char path[4096];
        dls_import_report read;
        const dls_import_options how = {.model = all->job[i].part[DLS_JOB_MODEL],
                                        .dataset = all->job[i].part[DLS_JOB_DATA]};
        snprintf(path, sizeof path, "%s/%s", folder, all->job[i].file);
        DLS_TRY(dls_graph_import(path, &how, &all->job[i].graph, &read, err));
        report->n_unknown += read.n_unknown;
    }
    return DLS_OK;
}

/* ---- the set --------------------------------------------------------------------------------- */

/* The first number in a text, as in "bs32"; 0 without. */
static int32_t first_number(const char *text)
{
    while (*text && !isdigit((unsigned char)*text)) {
        text++;
    }
    const long value = strtol(text, NULL, 10);
    return value > 0 && value < INT32_MAX ? (int32_t)value : 0;
}

static void origin_of(const job *j, dls_dataset_origin *o)
{
    const dls_zoo_model *known = dls_zoo_find(j->part[DLS_JOB_MODEL]);
    snprintf(o->model, sizeof o->model, "%s", j->part[DLS_JOB_MODEL]);
    snprintf(o->family, sizeof o->family, "%s", known ? known->family : o->model);
    snprintf(o->data, sizeof o->data, "%s", j->part[DLS_JOB_DATA]);
    o->batch = first_number(j->part[DLS_JOB_HYPER]);
}

/* Python: shuffle, then the first 60 %, the next 20 %, the rest. */
static dls_status divide(size_t n, uint8_t *split, dls_error *err)
{
    dls_pyrandom random;
    DLS_FREED int32_t *order = NULL;
    DLS_TRY(dls_alloc_array(&order, n + 1, sizeof *order, "split", err));
    for (size_t i = 0; i < n; i++) {
        order[i] = (int32_t)i;
    }
    dls_pyrandom_seed(&random, SHUFFLE_SEED);
    dls_pyrandom_shuffle(&random, order, (int32_t)n);
    for (size_t i = 0; i < n; i++) {
        const double at = (double)i;
        split[order[i]] = at < (double)(size_t)(0.6 * (double)n)   ? DLS_SPLIT_TRAIN
                          : at < (double)(size_t)(0.8 * (double)n) ? DLS_SPLIT_VAL
                                                                   : DLS_SPLIT_TEST;
    }
    return DLS_OK;
}

static dls_status fill_setting(const jobs *all, const char *gpu, const uint8_t *split,
                               dls_dataset_setting *s, dls_error *err)
{
    bool sync = true, async = true;
    snprintf(s->name, sizeof s->name, "%s", gpu);
    snprintf(s->gpu_type, sizeof s->gpu_type, "%s", gpu);
    s->measured = true;
    DLS_TRY(DLS_ALLOC_ALL("labels", err, DLS_ARRAY(s->graph, all->n + 1),
                          DLS_ARRAY(s->split, all->n + 1),
                          DLS_ARRAY(s->label, all->n * DLS_METRICS + 1),
                          DLS_ARRAY(s->iteration_s, all->n + 1)));
    for (size_t i = 0; i < all->n; i++) {
        const job *j = &all->job[i];
        if (strcmp(j->part[DLS_JOB_GPU], gpu) == 0) {
            s->graph[s->n] = (int32_t)i;
            s->split[s->n] = split[i];
            s->iteration_s[s->n] = j->label[DLS_GPU_IDLE] + j->label[DLS_GPU_ACTIVE];
            memcpy(s->label + s->n * DLS_METRICS, j->label, sizeof j->label);
            sync = sync && tolower((unsigned char)j->part[DLS_JOB_SYNC][0]) == 's';
            async = async && tolower((unsigned char)j->part[DLS_JOB_SYNC][0]) == 'a';
            s->n++;
        }
    }
    snprintf(s->topology, sizeof s->topology, "%s", sync ? "ps-sync" : async ? "ps-async" : "ps");
    return DLS_OK;
}

static dls_status fill_settings(const jobs *all, const uint8_t *split, dls_dataset *set,
                                dls_error *err)
{
    DLS_TRY(dls_alloc_array(&set->setting, all->n + 1, sizeof *set->setting, "settings", err));
    for (size_t i = 0; i < all->n; i++) {
        const char *gpu = all->job[i].part[DLS_JOB_GPU];
        if (dls_dataset_find(set, gpu) < 0) {
            DLS_TRY(fill_setting(all, gpu, split, &set->setting[set->n_settings++], err));
        }
    }
    return DLS_OK;
}

static dls_status fill_graphs(const jobs *all, const dls_corpus_options *o, dls_opgraph **graph,
                              uint8_t *split, dls_dataset *set, dls_error *err)
{
    DLS_OWN(dls_input_spec_fini) dls_input_spec input = {0};
    for (size_t i = 0; i < all->n; i++) {
        graph[i] = all->job[i].graph;
        origin_of(&all->job[i], &set->origin[i]);
    }
    DLS_TRY(divide(all->n, split, err));
    DLS_TRY(dls_corpus_describe(o, graph, all->n, split, set->graph, &input, err));
    set->n_features = input.features->n_features;
    DLS_TRY(dls_input_spec_text(&input, &set->features_text, err));
    return fill_settings(all, split, set, err);
}

static dls_status fill(const jobs *all, const dls_corpus_options *o, dls_dataset *set,
                       dls_error *err)
{
    DLS_FREED dls_opgraph **graph = dls_alloc_zero(all->n + 1, sizeof(dls_opgraph *));
    DLS_FREED uint8_t *split = dls_alloc_zero(all->n + 1, sizeof *split);
    set->graph = dls_alloc_zero(all->n + 1, sizeof *set->graph);
    set->origin = dls_alloc_zero(all->n + 1, sizeof *set->origin);
    set->n_graphs = set->graph ? all->n : 0;
    set->seed = SHUFFLE_SEED;
    snprintf(set->feature_version, sizeof set->feature_version, "%s",
             dls_features_version_name(o->features));
    return graph && split && set->graph && set->origin
               ? fill_graphs(all, o, graph, split, set, err)
               : dls_nomem(err, "dataset", all->n * sizeof *set->graph);
}

static dls_status collect(const char *csv_path, const char *graphs_dir, jobs *all,
                          dls_measured_report *report, dls_error *err)
{
    DLS_OWN(dls_perf_csv_fini) dls_perf_csv csv = {0};
    DLS_TRY(dls_perf_csv_load(csv_path, &csv, err));
    DLS_TRY(list_files(graphs_dir, &csv, all, report, err));
    for (size_t i = 0; i < csv.n; i++) {
        report->n_rows_left += !csv.row[i].used;
    }
    report->n_jobs = all->n;
    return read_graphs(graphs_dir, all, report, err);
}

dls_status dls_dataset_measured(const char *csv_path, const char *graphs_dir,
                                const dls_corpus_options *o, dls_dataset **out,
                                dls_measured_report *report, dls_error *err)
{
    DLS_OWN(jobs_fini) jobs all = {0};
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
    *out = NULL;
    *report = (dls_measured_report){.n_jobs = 0};
    DLS_TRY(dls_alloc_array(&set, 1, sizeof *set, "dataset", err));
    DLS_TRY(collect(csv_path, graphs_dir, &all, report, err));
    DLS_TRY(fill(&all, o, set, err));
    *out = dls_take(&set);
    return DLS_OK;
}
