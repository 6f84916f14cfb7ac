/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions about workloads without a cluster: how would one run on another GPU, with one more
 * parameter server or worker, with another batch? Asked of the predictors that need no truth.
 */
#ifndef DLS_SOURCES_WHATIF_H
#define DLS_SOURCES_WHATIF_H

#include "base/own.h"
#include "dlsim/policy.h"
#include "predictor/dataset/setting.h"
#include "workload/kinds.h"

typedef struct dls_whatif_params {
    const char *source;       /* one of dls_whatif_sources */
    const char *hardware_dir; /* NULL: the usual places */
    const char *weights;      /* driple: NULL: the shipped ones; justus: its networks */
    const char *backend;      /* driple: "auto", "cpu", "cuda"; NULL: auto */
    const char *settings_map; /* driple; NULL: the nearest setting */
    const char *left_out;     /* operator: forget what was fitted to this GPU; NULL: nothing */
    dls_memo *memo;           /* where sources share the models' kernels; outlives them; NULL: nowhere */
} dls_whatif_params;

/* Which part of a training step is asked for. Without the update nobody clears the gradients: a
 * step's are added to those before. */
typedef enum dls_step_part { DLS_STEP_WHOLE, DLS_STEP_NO_UPDATE, DLS_STEP_FORWARD } dls_step_part;

typedef struct dls_whatif_question {
    const char *model; /* as in a trace (dls_model_lookup); llm-...: a large model (llm.h), by `operator` */
    int32_t image, sequence; /* 0: the model's usual */
    dls_numeric numeric;
    dls_setting_spec setting; /* its name is not read */
    int32_t batch;            /* per worker */
    dls_step_part part;
    bool step_only;      /* the step's time and memory, no metrics, which take longer than both */
    const char *host;    /* operator: a row of operator.cfg's hosts; NULL or unknown: none */
    bool compiled;       /* by torch.compile or the like: operator, habitat */
    bool fused_attention; /* in one kernel (PyTorch's flash attention); the same */
    bool pytorch; /* said to run it: layers of TensorFlow's benchmarks then say nothing; the same */
    bool channels_first; /* said to be: the same */
    /* operator: workers split every layer, or the layers in stages with so many micro-batches;
     * `batch` is then that of all. 0: neither */
    int32_t shards, stages, micro_batches;
    const char *measured_gpu; /* habitat: where a step on one GPU was measured; NULL: V100 */
    double measured_s;        /* and how long it took; 0: what the operator model says */
    int32_t measured_batch;
} dls_whatif_question;

typedef struct dls_whatif_answer {
    dls_prediction prediction; /* remaining_s and what the source does not say are NAN */
    const char *network;       /* the zoo's that the name stands for; NULL: none */
    int32_t image, sequence;   /* with which it was built; 0: it has none */
    char setting[64];          /* driple: that answered; else "" */
    bool fits;                 /* into the GPU's memory, by the operator model's estimate */
    double least_s;            /* what no program is faster than, by the data sheet; 0: not known */
    char refused[256];         /* why there is no answer; "" if there is one */
} dls_whatif_answer;

typedef struct dls_whatif dls_whatif;

/* "driple", "operator", "paleo", "habitat", "justus", NULL behind the last */
const char *const *dls_whatif_sources(void);

/* EINPUT (an unknown source, no networks for justus), ECONFIG, EPREDICTOR. */
dls_status dls_whatif_create(const dls_whatif_params *p, dls_whatif **out,
                             dls_error *err) DLS_MUST_CHECK;
void dls_whatif_destroy(dls_whatif *w); /* NULL-safe */
DLS_OWNER(dls_whatif, dls_whatif_destroy)
/* Has the name of a framework or host "pytorch" in it, in whatever case? */
bool dls_names_pytorch(const char *framework);
const dls_hardware *dls_whatif_hardware(const dls_whatif *w);
/* An answer that cannot be given says why. What models are made of is kept between calls. Errors:
 * ENOMEM; what is wrong with the source itself. */
dls_status dls_whatif_ask(dls_whatif *w, const dls_whatif_question *q, dls_whatif_answer *out,
                          dls_error *err) DLS_MUST_CHECK;

#endif
