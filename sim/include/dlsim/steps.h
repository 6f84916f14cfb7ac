/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a training step of a model would run, before it does: how long it takes, what it uses of GPUs and network,
 * whether it fits the memory; on any GPU and number of workers, without a cluster or a trace. Predictors:
 * docs/predictors.md.
 *
 *      #include <dlsim/steps.h>
 *      #include <stdio.h>
 *
 *      int main(void)
 *      {
 *          const dls_step_predictor_params params = {.source = "operator"};
 *          const dls_step_question question[2] = {
 *              {.model = "resnet50", .batch = 64, .gpu = "V100"},
 *              {.model = "resnet50", .batch = 64, .gpu = "A100", .workers = 4, .nodes = 2},
 *          };
 *          dls_step_answer answer[2];
 *          dls_step_predictor *p = NULL;
 *          dls_error err;
 *          dls_status status = dls_step_predictor_create(&params, &p, &err);
 *          status = status ? status : dls_step_predict(p, question, 2, answer, &err);
 *          for (int i = 0; !status && i < 2; i++) {
 *              printf("%s: %.1f ms a step\n", answer[i].gpu, 1e3 * answer[i].prediction.iteration_s);
 *          }
 *          dls_step_predictor_destroy(p);
 *          return dls_status_exit_code(status);
 *      }
 *
 * A predictor belongs to one thread at a time.
 */
#ifndef DLSIM_STEPS_H
#define DLSIM_STEPS_H

#include "dlsim/error.h"
#include "dlsim/policy.h" /* dls_prediction */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dls_step_predictor_params {
    const char *source;       /* one of dls_step_sources */
    const char *hardware_dir; /* gpus.cfg, links.cfg, operator.cfg; NULL: the usual places */
    const char *weights;      /* driple: NULL: the shipped ones; justus: its networks */
    const char *backend;      /* driple: "auto", "cpu", "cuda"; NULL: auto */
    const char *settings_map; /* driple: which setting answers for what; NULL: the nearest */
} dls_step_predictor_params;

typedef struct dls_step_predictor dls_step_predictor;

/* "driple", "operator", "paleo", "habitat", "justus", NULL behind the last */
DLS_API const char *const *dls_step_sources(void);

/* Errors: EINPUT (an unknown source, no networks for justus), ECONFIG, EPREDICTOR. */
DLS_API dls_status dls_step_predictor_create(const dls_step_predictor_params *params, dls_step_predictor **out,
                                             dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_step_predictor_destroy(dls_step_predictor *p); /* NULL-safe */

typedef enum dls_step_precision { DLS_STEP_FP32, DLS_STEP_TF32, DLS_STEP_FP16, DLS_STEP_BF16 } dls_step_precision;

typedef struct dls_step_question {
    const char *model;        /* as in a trace; `dlsim graph zoo` lists those of the zoo */
    int32_t batch;            /* per worker, > 0 */
    const char *gpu;          /* of every worker */
    dls_step_precision precision;
    int32_t image, sequence;  /* 0: the model's usual */
    const char *framework;    /* or a row of operator.cfg's hosts, what it costs a launch; one with "pytorch" in its
                               * name runs PyTorch's kernels; NULL: not said */
    bool channels_first;      /* images lie channel by channel, as PyTorch's do unless told otherwise */
    bool fused_attention;     /* in one kernel that keeps no scores, as PyTorch's flash attention, whose kernels
                               * then run */
    int32_t workers, nodes;   /* 0: one; as many workers on each node */
    int32_t servers;          /* parameter servers, at most 65536; 0: all-reduce */
    bool async;               /* servers do not make workers wait for each other */
    const char *link;         /* between the GPUs of a node; NULL: the GPU's own */
    const char *network;      /* between nodes; NULL: "eth10" */
    const char *measured_gpu; /* habitat: where a step on one GPU was measured; NULL: V100 */
    double measured_s;        /* and how long it took; 0: what the operator model says */
    int32_t measured_batch;
} dls_step_question;

typedef struct dls_step_answer {
    dls_prediction prediction; /* remaining_s and what the source does not say are NAN */
    char gpu[48];              /* as the tables call it */
    char network[64];          /* the zoo's, for which the model's name was taken; "": a large one, or none is known */
    int32_t image, sequence;   /* pixels of an edge and tokens that it was asked about; 0: it has none */
    char exchange[16];         /* between workers: "one", "allreduce", "ps-sync", "ps-async" */
    char setting[64];          /* driple: that answered; else "" */
    bool fits;                 /* into the GPU's memory, by the operator model's estimate */
    char refused[256];         /* why there is no answer; "" if there is one */
} dls_step_answer;

/* Answer n questions, each for itself: one that cannot be answered says why. What models are made of is kept
 * between calls. Errors: EINPUT (a GPU or link that the tables do not have, with the nearest name), ENOMEM; what is
 * wrong with the source itself. */
DLS_API dls_status dls_step_predict(dls_step_predictor *p, const dls_step_question *question, size_t n,
                                    dls_step_answer *out, dls_error *err) DLS_MUST_CHECK;
/* The name of a GPU in the tables, which ignore case; borrowed. Errors: EINPUT with the nearest name. */
DLS_API dls_status dls_step_gpu(const dls_step_predictor *p, const char *name, const char **known,
                                dls_error *err) DLS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
