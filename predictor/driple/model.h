/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An inspector in memory: architecture, scales, the base's tensors and those of its settings.
 *
 * Tensors are kept as they are named in a published checkpoint, in double precision whatever the
 * file holds; a backend packs what it needs when it opens. The part that settings share:
 *
 *     x -> conv_0 -> conv_1 ... (layers 0 .. prefix-1, the base's) --+-- setting 0: conv_2 ..., MLP
 *                                                                   +-- setting 1: conv_2 ..., MLP
 *
 * GRU and Set2Set are the base's in every setting. A setting without conv_2 shares all layers and
 * differs in its MLP only.
 */
#ifndef DLS_DRIPLE_MODEL_H
#define DLS_DRIPLE_MODEL_H

#include "base/own.h"
#include "dlsim/predictor.h"
#include "predictor/driple/arch.h"

#ifdef __cplusplus
extern "C" {
#endif

DLS_OWNER(dls_inspector, dls_inspector_destroy)
DLS_OWNER(dls_predictor, dls_predictor_destroy)

typedef struct dls_weight {
    dls_tensor_spec spec;
    double *data; /* [rows][cols], or [rows] for a vector; owned */
    bool is_f32;  /* stored as float32, exactly representable */
} dls_weight;

typedef struct dls_tensors {
    dls_weight *t;
    size_t n, cap;
} dls_tensors;

/* What an output means, column by column. Published: a metric is the output times scale. With a
 * floor above 0 an output is the logarithm of the metric instead, which spreads what scale would
 * squeeze into one end: metric = floor (exp(output log(1 + scale / floor)) - 1), so that 0 and 1
 * are 0 and scale again. */
typedef struct dls_labels {
    double scale[DLS_METRICS];
    double floor[DLS_METRICS];
} dls_labels;
double dls_label_from_output(const dls_labels *labels, int metric, double output);
double dls_label_to_output(const dls_labels *labels, int metric, double value);

/* The same for an inspector whose outputs are relative to what is known of a question
 * (docs/inspector.md): all 12 at once. The labels' GPU idle and active time are the step. */
bool dls_known_ok(const dls_known *known); /* a step, and bytes that are not negative */
void dls_relative_to_outputs(const double metric[DLS_METRICS], const dls_known *known,
                             double out[DLS_METRICS]);
void dls_relative_from_outputs(const double out[DLS_METRICS], const dls_known *known,
                               dls_profile *profile);

typedef struct dls_setting {
    char name[64];
    char gpu_type[64];
    char topology[64];
    char network[64];
    int32_t n_ps, n_workers, n_nodes;
    bool has_conv; /* tensors hold conv_layers.2.* beside the MLP */
    dls_labels labels;
    dls_tensors tensors;
} dls_setting;

/* What an inspector of all settings is told of one: numbers in the order of their names,
 * standardised over the settings it was trained on. */
typedef struct dls_condition_scale {
    char *names; /* '\n' between them; owned, NULL for an inspector that takes none */
    double *shift,
        *scale; /* [arch.n_conditions] owned: the network sees (number - shift) / scale */
    /* [DLS_METRICS][arch.n_conditions] owned: the labels' scale and floor of a setting are the
     * base's times exp(sum of slope times what the network sees), since hardware differs by orders.
     */
    double *label_slope;
    char *trained_on; /* names of settings, '\n' between them; owned, NULL: not said */
} dls_condition_scale;

struct dls_inspector {
    dls_arch arch;
    double *feature_shift; /* [n_features]; the network sees (x - shift) / scale */
    double *feature_scale;
    dls_labels labels;
    bool relative; /* outputs are relative to what is known; labels do not count */
    dls_tensors base;
    dls_setting *settings;
    size_t n_settings, cap_settings;
    /* Operation frequencies of the feature builder; part of the base. n_ops 0: not given. */
    char *op_names; /* '\n' between names */
    double *op_freq;
    size_t n_ops;
    char *features_text; /* the feature spec as JSON; NULL: unknown */
    dls_condition_scale condition;
};

/* An inspector without tensors; scales are 1, shifts 0. */
dls_status dls_inspector_create(const dls_arch *arch, dls_inspector **out,
                                dls_error *err) DLS_MUST_CHECK;
/* A new setting, valid until the next is added; label scales are those of the base. The name must
 * be new, not empty and not "base". */
dls_status dls_inspector_add_setting(dls_inspector *insp, const char *name, dls_setting **out,
                                     dls_error *err) DLS_MUST_CHECK;

/* Which share of the layers settings take from the base (dls_arch.frozen). EINPUT: not in 0..1, or
 * there are settings with layers of their own, which were tuned with another share. */
dls_status dls_inspector_partition(dls_inspector *insp, double frozen,
                                   dls_error *err) DLS_MUST_CHECK;

/* Make an inspector without settings one of all settings: n numbers called names ('\n' between
 * them), with shifts 0 and scales 1; the tensor that takes them and the slopes of the labels begin
 * at 0, so nothing changes at first. EINPUT: it has settings or is one already. */
dls_status dls_inspector_condition(dls_inspector *insp, const char *names, int32_t n,
                                   dls_error *err) DLS_MUST_CHECK;
/* Was an inspector of all settings trained on the setting of this name? */
bool dls_inspector_saw(const dls_inspector *insp, const char *setting);
/* Later settings move up by one. */
void dls_inspector_remove_setting(dls_inspector *insp, int32_t setting_idx);
/* What the network sees of n_conditions numbers. */
void dls_inspector_standardise(const dls_inspector *insp, const double *number, double *seen);
/* The labels of a setting, given what the network sees of it. */
dls_labels dls_inspector_labels_at(const dls_inspector *insp, const double *seen);
/* A new setting of an inspector of all settings, described by its numbers [n_conditions], valid
 * until the next is added. Its MLP is the base's with the numbers' share of the first layer's sums
 * in the bias, so that backends need to know nothing of numbers, and settings have all but the MLP
 * in common. The name as for dls_inspector_add_setting. EINPUT: the inspector takes no numbers; one
 * that is not finite. */
dls_status dls_inspector_settle(dls_inspector *insp, const char *name, const double *number,
                                dls_setting **out, dls_error *err) DLS_MUST_CHECK;

/* Borrowed; NULL if absent. */
const dls_weight *dls_tensors_find(const dls_tensors *set, const char *name);
/* Append a tensor of zeros. */
dls_status dls_tensors_add(dls_tensors *set, const dls_tensor_spec *spec, dls_weight **out,
                           dls_error *err) DLS_MUST_CHECK;
void dls_tensors_fini(dls_tensors *set);
static inline int64_t dls_tensor_len(const dls_tensor_spec *s)
{
    return s->rows * (s->cols ? s->cols : 1);
}

/* Every tensor that the architecture wants is there, has its shape and is finite, and there is no
 * other; scales are positive. EINPUT names the tensor, and the setting in `where`. */
dls_status dls_inspector_check(const dls_inspector *insp, dls_error *err) DLS_MUST_CHECK;

/* Random weights with the published initialisation (specification of the reference code:
 * convolutions and recurrent cells uniform within 1/sqrt(width), linear layers Xavier), seeded.
 * Adds n_settings settings "setting0", ..., each with convolution and MLP of its own. gain
 * multiplies the tiny published gain of the linear layers (1 = as published), so that outputs can
 * be made to matter. */
dls_status dls_inspector_randomise(dls_inspector *insp, uint64_t seed, int32_t n_settings,
                                   double gain, dls_error *err) DLS_MUST_CHECK;

/* The tensor a setting uses: its own or the base's. conv_layers.1.* becomes conv_layers.2.* of the
 * setting when asked with suffix = true. */
const dls_weight *dls_inspector_tensor(const dls_inspector *insp, int32_t setting_idx, bool suffix,
                                       const char *name);

/* Everything of `from` but its name, which a setting gets when it is made. */
void dls_setting_describe(dls_setting *to, const dls_setting_info *from);

#ifdef __cplusplus
}
#endif

#endif
