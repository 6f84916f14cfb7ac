/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Datasets out of `dlsim perf bench`: its table of labels and its folder of networks.
 *
 *      CSV      columns network, family, batch, setting, iteration_s and the 12 metrics by name
 *               (dls_metric_name; amounts of GPU and memory in parts of 1), others beside them; a
 *               row for each job
 *      graphs   NETWORK.onnx, the batch left open
 *
 * A graph is shared by the settings that it ran in. Families are divided into five parts: in order
 * of their names every fifth one, from the seed-th on, is for test, the next ones for validation.
 * With DLS_SPLIT_AT_RANDOM networks are, in all their batches, so that others of a family are in
 * training.
 */
#ifndef DLS_DATASET_BENCHED_H
#define DLS_DATASET_BENCHED_H

#include "predictor/dataset/corpus.h"
#include "predictor/dataset/setting.h"

enum { DLS_BENCHED_FOLDS = 5 };

/* o: split, grouping, groups, features and seed; list: the settings that rows may name; model, with
 * hw: says what is known of a job (dls_dataset_known), NULL: nothing is. Errors: EINPUT with file and line (a column that is missing, a cell that is no number, a setting that list does
 * not have, a job that is there twice, a graph that cannot be read), ENOMEM. */
dls_status dls_dataset_benched(const char *csv_path, const char *graphs_dir,
                               const dls_setting_list *list, const dls_corpus_options *o,
                               const dls_opmodel *model, const dls_hardware *hw, dls_dataset **out,
                               dls_error *err) DLS_MUST_CHECK;

/* The operator model of a processor that ran such jobs, from all of them: costs of its operations from
 * those of one worker (op_rates.h), waiting and cost of a tensor from those of several, in fabrics
 * "jobs-allreduce" and "jobs-servers", as far as there are any. Rows of the same names are replaced.
 * gpu: what all settings of the table run on. Errors: as above, EINPUT (none of one worker, another
 * GPU). */
dls_status dls_benched_calibrate(const char *csv_path, const char *graphs_dir,
                                 const dls_setting_list *list, const dls_hardware *hw,
                                 const char *gpu, dls_opmodel *model,
                                 dls_error *err) DLS_MUST_CHECK;

#endif
