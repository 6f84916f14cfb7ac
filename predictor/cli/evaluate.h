/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim evaluate: its options, and what its files do for it: other predictors beside an inspector,
 * inspectors on settings that they have not seen.
 */
#ifndef DLS_CLI_EVALUATE_H
#define DLS_CLI_EVALUATE_H

#include "cli/command.h"
#include "predictor/baselines/kernel_nets.h"
#include "predictor/baselines/paleo.h"
#include "predictor/dataset/setting.h"
#include "predictor/training/evaluate.h"
#include "predictor/training/judge.h"

typedef struct dls_evaluation {
    const char *weights, *dataset, *as, *hardware, *nearest, *rows;
    dls_words setting, learned;
    dls_split split;
    bool json, metrics, families, baselines;
    int32_t threads;
} dls_evaluation;

/* --nearest: prints a line for every setting of the set that insp did not see in training and whose own
 * inspector is in that file, beside what the rule of the nearest setting
 * (predictor/sources/setting_map.h) makes of those that insp saw, and their average. insp: has all
 * settings of the set (dls_setting_files_settle_set). EINPUT: it is not an inspector of all settings, saw them
 * all, or saw none of the file. */
dls_status dls_unseen_print(const dls_inspector *insp, const dls_dataset *set,
                            const dls_evaluation *req, dls_error *err) DLS_MUST_CHECK;

/* ---- --baselines: the step time of other predictors on the test graphs of a dataset, built again from
 * the model zoo by model, batch, precision and optimiser */

/* Every one predicts a step on one GPU; the operator model's exchange is added, hidden behind
 * nothing. Habitat scales the dataset's step of the same graph on one V100. */
typedef enum dls_baseline_kind {
    DLS_BASELINE_PALEO,
    DLS_BASELINE_HABITAT,
    DLS_BASELINE_HABITAT_NETS,
    DLS_BASELINE_JUSTUS,
    DLS_BASELINE_KINDS
} dls_baseline_kind;
/* "paleo", "habitat", "habitat_nets", "justus" */
extern const char *const dls_baseline_names[DLS_BASELINE_KINDS];

typedef struct dls_baselines {
    dls_hardware hw;
    dls_opmodel model;
    dls_setting_list settings;
    dls_paleo paleo;
    dls_kernel_nets nets[DLS_LEARNED_COUNT];
    bool has[DLS_LEARNED_COUNT];
    const dls_dataset *set; /* borrowed */
    int32_t v100;           /* the setting whose steps Habitat is given; -1: not in the dataset */
    /* Built when first asked for. */
    dls_workload *work;   /* [n_graphs] owned */
    dls_numeric *numeric; /* [n_graphs] owned */
    double
        *one_s; /* [n_graphs][n_gpus][kinds] owned: on one GPU; 0: not asked yet, NAN: no answer */
} dls_baselines;

/* hardware: folder, NULL for the usual one; learned[n_learned]: files of dlsim train --baseline, at
 * most one of a method. Paleo is calibrated as in dlsim operators. */
dls_status dls_baselines_open(const dls_dataset *set, const char *hardware,
                              const char *const *learned, size_t n_learned, dls_baselines *b,
                              dls_error *err) DLS_MUST_CHECK;
void dls_baselines_close(dls_baselines *b); /* NULL-safe; of zeros: nothing */

/* Errors of the step time over the graphs of a split for which there is an answer, n of them:
 * Habitat's are those that fit a V100 (none, if the dataset does not have that setting), learned
 * baselines need their file. */
typedef struct dls_baseline_errors {
    dls_column_error error[DLS_BASELINE_KINDS];
    size_t n[DLS_BASELINE_KINDS];
} dls_baseline_errors;
dls_status dls_baselines_judge(dls_baselines *b, size_t setting, dls_split split,
                               dls_baseline_errors *out, dls_error *err) DLS_MUST_CHECK;

#endif
