/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Imports published Driple checkpoints that were converted to plain HDF5: derives the architecture
 * from the names and shapes of the tensors, or checks it against a given one.
 */
#include "predictor/driple/weights.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/h5io.h"

#include <stdio.h>
#include <string.h>

/* ---- the plain file ------------------------------------------------------------------------- */

static dls_status read_group(hid_t group, const char *where, dls_tensors *set, dls_error *err)
{
    DLS_TRY(dls_h5io_get_tensors(group, false, where, set, err));
    return set->n ? DLS_OK : dls_fail(err, DLS_EINPUT, where, "no tensors here");
}

static dls_status read_plain(const char *path, const char *group_name, dls_tensors *set,
                             dls_error *err)
{
    DLS_H5_OWNED hid_t file = H5I_INVALID_HID, group = H5I_INVALID_HID;
    DLS_TRY(dls_h5_open(path, &file, err));
    DLS_TRY(dls_h5_where(dls_h5_get_group(file, group_name ? group_name : "/", &group, err), err,
                         path));
    return dls_h5_where(read_group(group, path, set, err), err, path);
}

/* ---- reading the architecture off names and shapes ------------------------------------------ */

/* How many of prefix0suffix, prefix1suffix, ... are there. */
static int32_t count_named(const dls_tensors *set, const char *prefix, const char *suffix)
{
    int32_t n = 0;
    char name[DLS_TENSOR_NAME_MAX];
    for (;; n++) {
        snprintf(name, sizeof name, "%s%d%s", prefix, (int)n, suffix);
        if (!dls_tensors_find(set, name)) {
            return n;
        }
    }
}

static dls_status unlike(const char *path, const char *name, dls_error *err)
{
    return dls_fail(err, DLS_EINPUT, path,
                    "tensor %s is missing, so the architecture cannot be told", name);
}

static dls_status find_conv(const dls_tensors *set, const char *path, dls_arch *a,
                            const char **last_of_conv, dls_error *err)
{
    const dls_weight *gcn = dls_tensors_find(set, "conv_layers.0.W");
    const dls_weight *gin =
        dls_tensors_find(set, "conv_layers.0.post_transformation.fully_connected.0.linear.weight");
    const dls_weight *gat = dls_tensors_find(set, "conv_layers.0.heads.0.W");
    const dls_weight *pna =
        dls_tensors_find(set, "conv_layers.0.towers.0.pretrans.fully_connected.0.linear.weight");
    if (gcn) {
        a->conv = DLS_CONV_GCN;
        a->n_features = (int32_t)gcn->spec.rows;
        a->hidden = (int32_t)gcn->spec.cols;
        *last_of_conv = ".W";
    } else if (gin) {
        a->conv = DLS_CONV_GIN;
        a->gin_layers = count_named(set, "conv_layers.0.post_transformation.fully_connected.",
                                    ".linear.weight");
        char name[DLS_TENSOR_NAME_MAX];
        snprintf(name, sizeof name,
                 "conv_layers.0.post_transformation.fully_connected.%d.linear.weight",
                 (int)(a->gin_layers - 1));
        a->n_features = (int32_t)gin->spec.cols;
        a->hidden = (int32_t)dls_tensors_find(set, name)->spec.rows;
        *last_of_conv = ".epsilon";
    } else if (gat) {
        a->conv = DLS_CONV_GAT;
        a->gat_heads = count_named(set, "conv_layers.0.heads.", ".W");
        a->n_features = (int32_t)gat->spec.rows;
        a->hidden = (int32_t)gat->spec.cols * a->gat_heads;
        *last_of_conv = ".heads.0.W";
    } else if (pna) {
        const dls_weight *mix = dls_tensors_find(set, "conv_layers.0.mixing_network.linear.bias");
        if (!mix) {
            return unlike(path, "conv_layers.0.mixing_network.linear.bias", err);
        }
        a->conv = DLS_CONV_MPNN;
        a->towers =
            count_named(set, "conv_layers.0.towers.", ".pretrans.fully_connected.0.linear.weight");
        a->n_features = (int32_t)pna->spec.rows;
        a->hidden = (int32_t)mix->spec.rows;
        *last_of_conv = ".mixing_network.linear.bias";
    } else {
        return unlike(path, "conv_layers.0.*", err);
    }
    return DLS_OK;
}

static dls_status find_arch(const dls_tensors *set, const char *path, const char *text, dls_arch *a,
                            dls_error *err)
{
    const char *mark = NULL;
    *a = dls_arch_default();
    DLS_TRY(find_conv(set, path, a, &mark, err));
    a->gru = dls_tensors_find(set, "gru.gru.weight_ih_l0") != NULL;
    const dls_weight *first =
        dls_tensors_find(set, "graph_read_out.mlp.fully_connected.0.linear.weight");
    if (!first) {
        return unlike(path, "graph_read_out.mlp.fully_connected.0.linear.weight", err);
    }
    a->mlp_layers = count_named(set, "graph_read_out.mlp.fully_connected.", ".linear.weight");
    int64_t width = first->spec.cols;
    if (dls_tensors_find(set, "graph_read_out.set2set.lstm.weight_ih_l0")) {
        a->pool = DLS_POOL_SET2SET;
        width /= 2;
    } else {
        a->pool = dls_tensors_find(set, "graph_read_out.attention.linear.weight")
                      ? DLS_POOL_ATTENTION
                      : DLS_POOL_MEAN;
    }
    const int32_t n_convs = count_named(set, "conv_layers.", mark);
    if (n_convs > 2) {
        a->shared = false;
        a->depth = DLS_DEPTH_FIXED;
        a->n_layers = n_convs;
    }
    if (a->hidden > 0 && width > a->hidden && (width - a->n_features) % a->hidden == 0) {
        a->skip = true;
        a->depth = DLS_DEPTH_FIXED;
        a->n_layers = (int32_t)((width - a->n_features) / a->hidden);
    }
    return text ? dls_arch_parse(a, text, err) : DLS_OK;
}

dls_status dls_inspector_import(const char *path, const char *group, const char *arch_text,
                                dls_inspector **out, dls_error *err)
{
    *out = NULL;
    DLS_OWN(dls_tensors_fini) dls_tensors set = {0};
    dls_arch arch;
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    DLS_TRY(read_plain(path, group, &set, err));
    DLS_TRY(find_arch(&set, path, arch_text, &arch, err));
    DLS_TRY(dls_inspector_create(&arch, &insp, err));
    insp->base = set;
    set = (dls_tensors){0};
    DLS_TRY(dls_inspector_check(insp, err));
    *out = dls_take(&insp);
    return DLS_OK;
}

/* ---- settings ------------------------------------------------------------------------------- */

static dls_status same_as_base(const dls_inspector *insp, const dls_weight *t, const char *where,
                               dls_error *err)
{
    const dls_weight *b = dls_tensors_find(&insp->base, t->spec.name);
    const bool same =
        b && b->spec.rows == t->spec.rows && b->spec.cols == t->spec.cols &&
        memcmp(b->data, t->data, (size_t)dls_tensor_len(&t->spec) * sizeof *t->data) == 0;
    return same
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, where,
                          "tensor %s differs from the base's (or the base has none): a setting has "
                          "its own conv_layers.2 and MLP and shares the rest",
                          t->spec.name);
}

dls_status dls_inspector_import_setting(dls_inspector *insp, const char *name, const char *path,
                                        const char *group, dls_error *err)
{
    DLS_OWN(dls_tensors_fini) dls_tensors set = {0};
    DLS_TRY(read_plain(path, group, &set, err));
    dls_setting *s = NULL;
    DLS_TRY(dls_inspector_add_setting(insp, name, &s, err));
    for (size_t i = 0; i < set.n; i++) {
        dls_weight *from = &set.t[i];
        const bool is_conv = strncmp(from->spec.name, "conv_layers.2.", 14) == 0;
        if (!is_conv && strncmp(from->spec.name, "graph_read_out.mlp.", 19) != 0) {
            DLS_TRY(same_as_base(insp, from, name, err));
            continue;
        }
        dls_weight *to = NULL;
        DLS_TRY(dls_tensors_add(&s->tensors, &from->spec, &to, err));
        dls_free(to->data);
        to->data = dls_take(&from->data);
        to->is_f32 = from->is_f32;
        s->has_conv |= is_conv;
    }
    return dls_inspector_check(insp, err);
}
