/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Datasets out of measurements, from the files that Driple's own builder takes: a CSV file of
 * measured metrics and a folder of graphs, one for each job.
 *
 *      CSV      columns GPU, Data Set, Model, Sync/Async, Hyper-Parameter, Job Name, Resource (GPU MEM util,
 *               GPU util, Network_rx, Network_tx), avg Idle time, avg Active time, avg Peak consumption, in any
 *               order, others beside them; four rows for each job
 *      graphs   GPU_DataSet_Model_Sync_HyperParameter_JobName.pbtxt (or .pb): the same six texts
 *
 * A job is taken if its four rows are there and nothing is there twice. Jobs with one text in GPU
 * are a setting of that name; a file whose name does not have six parts, a graph without rows and
 * rows without a graph are counted.
 */
#ifndef DLS_DATASET_MEASURED_H
#define DLS_DATASET_MEASURED_H

#include "predictor/dataset/corpus.h"

typedef struct dls_measured_report {
    size_t n_jobs, n_files;
    size_t n_misnamed;   /* files */
    size_t n_unmeasured; /* graphs without their four rows */
    size_t n_rows_left;  /* rows without a graph */
    int64_t n_unknown;   /* operations that no reader knows */
} dls_measured_report;

/* o: grouping, groups and features; the division is Driple's, Python's shuffle with seed 42 of the
 * files in order of their names, cut at 60 and 80 %. Numbers of the CSV are taken as they are;
 * iteration_s is the GPU's idle and active time. Errors: EINPUT with file and line (a column that
 * is missing, a cell that is no number, a graph that cannot be read), ENOMEM; EINPUT without any
 * job. */
dls_status dls_dataset_measured(const char *csv_path, const char *graphs_dir,
                                const dls_corpus_options *o, dls_dataset **out,
                                dls_measured_report *report, dls_error *err) DLS_MUST_CHECK;

#endif
