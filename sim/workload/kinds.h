/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kinds of job in a trace: jobs of one kind train the same model with the same batch per GPU,
 * so everything that does not depend on the job itself, iteration times, predictions, tensor skew,
 * is worked out once for each kind.
 *
 * Public traces spell models in their own ways ("ResNet-18 (batch size 64)", "inception_v3",
 * "imagenet"). A name is compared without case, punctuation and batch size with the names of the
 * model zoo and of the operator model, then with a table of other spellings. A model that is in
 * none of these is unknown, unless the configuration names another as its stand-in
 * (trace.stand_ins). The truth takes unknown ones for DLS_KIND_FALLBACK, predictors say nothing of
 * them; the jobs concerned are counted.
 */
#ifndef DLS_WORKLOAD_KINDS_H
#define DLS_WORKLOAD_KINDS_H

#include "base/memo.h"
#include "dlsim/trace.h"
#include "workload/operator/workload.h"

#define DLS_KIND_FALLBACK "resnet50"

typedef enum dls_model_match {
    DLS_MODEL_KNOWN,    /* the model itself */
    DLS_MODEL_STAND_IN, /* another, which the configuration names */
    DLS_MODEL_UNKNOWN   /* DLS_KIND_FALLBACK */
} dls_model_match;

struct dls_zoo_model; /* workload/graph/zoo.h */
struct dls_zoo_file;

typedef struct dls_model_names {
    const struct dls_zoo_model *zoo; /* training graph; never NULL */
    const char *layers;              /* workload: of dls_workload_names; NULL: made from the graph */
    dls_model_match match;
    int32_t image, sequence; /* dls_model_resize */
    int32_t samples;         /* dls_model_touch */
    int32_t shards;          /* GPUs that split every layer; 0: none do; set by who asks */
    unsigned runner;         /* of graphs, bits of dls_graph_runner; set by who asks */
    dls_memo *memo;          /* borrowed; where workloads are kept; NULL: nowhere */
} dls_model_names;

/* Of the same workload, in one precision. */
static inline bool dls_model_same(const dls_model_names *a, const dls_model_names *b)
{
    return a->zoo == b->zoo && a->layers == b->layers && a->image == b->image &&
           a->sequence == b->sequence && a->samples == b->samples && a->runner == b->runner && a->shards == b->shards;
}

/* A name as it is compared: lower-case letters and digits up to the first parenthesis, cut to fit.
 */
#define DLS_MODEL_KEY 64
void dls_model_key(const char *name, char out[DLS_MODEL_KEY]);

/* What a trace's name means; name may be NULL. The zoo's own models and static strings, of which
 * equal ones are the same pointer. O(models). */
dls_model_names dls_model_lookup(const char *name);
/* The same model with images of so many pixels an edge, sequences of so many tokens; 0: as they
 * are. A size other than the usual makes the workload one of the graph. */
void dls_model_resize(dls_model_names *names, int32_t image, int32_t sequence);

/* The same model where so many samples a GPU say how many rows of its tables a step changes and exchanges. Changes
 * nothing of models without such tables. */
void dls_model_touch(dls_model_names *names, int64_t batch);

/* The kernels of a model, for every batch: the layers' own description where there is one, else out
 * of the zoo's training graphs with the usual batch and twice that. The caller ends *w, whose arrays may be the
 * memo's: nobody writes to them. Errors: EINPUT (a size that the model cannot have), ENOMEM. */
dls_status dls_model_workload(const dls_model_names *names, dls_numeric numeric, dls_workload *w,
                              dls_error *err) DLS_MUST_CHECK;
/* The same of the training graph at this batch alone, whatever the layers' own description. */
dls_status dls_model_at_batch(const dls_model_names *names, int32_t batch, dls_numeric numeric,
                              dls_workload *w, dls_error *err) DLS_MUST_CHECK;

/* The next file that a table of stand-ins names, into path; returns what follows, NULL: no more. */
#define DLS_MODEL_PATH 4096
const char *dls_model_next_file(const char *stand_ins, char path[DLS_MODEL_PATH]);

typedef struct dls_kind {
    const char *model; /* as in the trace, borrowed from it; "" none */
    dls_model_names names;
    int64_t batch_per_gpu; /* as in the trace, rounded; DLS_ABSENT unknown */
    int64_t batch;         /* the same, or the zoo's usual batch: always >= 1 */
    int32_t first_job;     /* of the kind, in the trace */
    double tensor_skew;    /* greatest parameter tensor over all parameters; NAN: model unknown */
} dls_kind;

typedef struct dls_kinds {
    dls_kind *kind; /* [n], in order of first_job; owned */
    int32_t n;
    int32_t *of; /* [jobs] kind of a job; owned */
    uint64_t unknown_jobs, stand_in_jobs;
    struct dls_zoo_file *files; /* whose graphs are kinds' models; owned */
    dls_memo *memo;             /* of the names */
} dls_kinds;

/* What a name means where unknown models have stand-ins: "NAME=MODEL; ..."; NULL or "": none has. A
 * MODEL that is the file of a graph is then the model itself, opened in *files.
 * Errors: ECONFIG (an entry without a name or with a model that nobody knows), EINPUT (the file). */
dls_status dls_model_lookup_among(const char *name, const char *stand_ins, struct dls_zoo_file **files,
                                  dls_model_names *out, dls_error *err) DLS_MUST_CHECK;

/* Trace and memo (of the kinds' names) must outlive *out, which needs dls_kinds_fini only on success.
 * Errors: ENOMEM, those of dls_model_lookup_among. O(jobs + kinds log kinds). */
dls_status dls_kinds_of_trace(const dls_trace *trace, const char *stand_ins, dls_memo *memo,
                              dls_kinds *out, dls_error *err) DLS_MUST_CHECK;
void dls_kinds_fini(dls_kinds *kinds); /* NULL-safe */

#endif
