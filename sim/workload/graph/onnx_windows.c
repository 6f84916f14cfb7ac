/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shapes of ONNX's convolutions and pools. Images are [batch][channels][h][w]; one spatial dimension is an image
 * of height 1, and of three the depth is apart: a convolution of volumes is one of as many images as slices come
 * out, whose filter is as many times as high as it is deep.
 */
#include "workload/graph/onnx_rules.h"

#include <string.h>

static imp_shape as_image(const imp_shape *s)
{
    const int64_t *d = s->dim;
    return s->rank == 3   ? (imp_shape){.rank = 4, .dim = {d[0], d[1], 1, d[2]}}
           : s->rank == 5 ? (imp_shape){.rank = 4, .dim = {d[0], d[1], d[3], d[4]}}
                          : *s;
}

static imp_shape from_image(const imp_shape *image, int32_t rank, int64_t depth)
{
    const int64_t *d = image->dim;
    return image->rank != 4 ? *image
           : rank == 3      ? (imp_shape){.rank = 3, .dim = {d[0], d[1], d[3]}}
           : rank == 5      ? (imp_shape){.rank = 5, .dim = {d[0], d[1], depth, d[2], d[3]}}
                            : *image;
}

/* Of height and width, or of the depth alone. */
static void spatial(const imp_node *x, const char *name, bool deep, int64_t otherwise, int64_t to[2])
{
    const imp_attr *a = dls_imp_attr_find(x, name);
    const int32_t n = a ? a->n_ints : 0;
    for (int32_t i = 0; i < 2; i++) {
        const int32_t at = deep ? n - 3 - n * i : n - 2 + i;
        to[i] = at >= 0 && n <= 3 ? dls_imp_bounded(a->ints[at]) : otherwise;
    }
}

static imp_window window_of(const imp_node *x, bool deep)
{
    imp_window w = {.channels_first = true, .ceil = dls_imp_attr_i(x, "ceil_mode", 0) != 0};
    const char *automatic = dls_imp_attr_s(x, "auto_pad", "NOTSET");
    const imp_attr *pads = dls_imp_attr_find(x, "pads");
    spatial(x, "strides", deep, 1, w.stride);
    spatial(x, "dilations", deep, 1, w.dilation);
    spatial(x, "kernel_shape", deep, 1, w.kernel);
    w.same = strncmp(automatic, "SAME", 4) == 0;
    const int32_t n = pads ? pads->n_ints / 2 : 0; /* all that lie before, then all behind */
    for (int32_t i = 0; i < (deep ? 1 : 2) && n <= 3; i++) {
        const int32_t at = n - (deep ? 3 : 2) + i;
        w.pad[i][0] = at >= 0 ? dls_imp_bounded(pads->ints[at]) : 0;
        w.pad[i][1] = at >= 0 ? dls_imp_bounded(pads->ints[n + at]) : 0;
    }
    return w;
}

/* Work of images becomes that of volumes. */
static void deepen(imp_node *x, int64_t slices, int64_t kernel)
{
    dls_op_dims *d = &x->dims;
    slices = slices > 0 ? slices : 1;
    kernel = kernel > 0 ? kernel : 1;
    d->batch = dls_imp_mul(d->batch, slices);
    d->m = dls_imp_mul(d->m, slices);
    d->k = dls_imp_mul(d->k, kernel);
    const int64_t high = dls_imp_mul(d->kernel_h, kernel);
    d->kernel_h = high < INT32_MAX ? (int32_t)high : INT32_MAX;
}

/* The depth that comes out of this one. kernel: of the filter; < 1: as the attribute says. */
static int64_t depth_of(imp_node *x, int64_t depth, int64_t kernel)
{
    imp_window w = window_of(x, true);
    w.kernel[0] = kernel > 0 ? kernel : w.kernel[0];
    const imp_shape line = dls_imp_windowed(&(imp_shape){.rank = 4, .dim = {1, 1, depth, 1}}, &w, 1);
    deepen(x, line.dim[2], w.kernel[0]);
    return line.dim[2];
}

/* (image, filter [out][in / groups][h][w], bias) */
void dls_onnx_rule_conv(imp_graph *g, imp_node *x)
{
    const imp_shape given = dls_imp_in(g, x, 0)->shape;
    const imp_shape weight = dls_imp_in(g, x, 1)->shape;
    const imp_shape image = as_image(&given);
    const imp_shape filter = as_image(&weight);
    imp_window w = window_of(x, false);
    imp_shape s = dls_imp_no_shape;
    int64_t depth = -1;
    if (filter.rank == 4 && weight.rank == given.rank) {
        w.kernel[0] = filter.dim[2];
        w.kernel[1] = filter.dim[3];
        s = dls_imp_windowed(&image, &w, filter.dim[0]);
        dls_imp_conv_dims(x, &image, &s, &w, dls_imp_attr_i(x, "group", 1));
        depth = given.rank == 5 ? depth_of(x, given.dim[2], weight.dim[2]) : -1;
    }
    s = from_image(&s, given.rank, depth);
    dls_imp_out1(g, x, &s);
}

/* What windows reach over, if nothing else is said. */
static int64_t reached(int64_t in, const imp_window *w, int32_t i, int64_t more, int64_t said)
{
    const int64_t reach = dls_imp_mul(dls_imp_bounded(w->kernel[i] - 1), w->dilation[i]) + 1;
    return said > 0                ? said
           : w->same && in >= 0 ? dls_imp_mul(in, w->stride[i])
           : in < 1             ? -1
                                : dls_imp_mul(in - 1, w->stride[i]) + reach + more - w->pad[i][0] - w->pad[i][1];
}

/* The depth of which a convolution would make this one. */
static int64_t depth_before(imp_node *x, int64_t depth, int64_t kernel)
{
    imp_window w = window_of(x, true);
    int64_t more[2];
    int64_t said[2];
    spatial(x, "output_padding", true, 0, more);
    spatial(x, "output_shape", true, 0, said);
    w.kernel[0] = kernel;
    deepen(x, depth, kernel);
    return reached(depth, &w, 0, more[0], said[0]);
}

/* The gradient of a convolution by its image: in and out change places. */
void dls_onnx_rule_conv_transpose(imp_graph *g, imp_node *x)
{
    const imp_shape given = dls_imp_in(g, x, 0)->shape;
    const imp_shape weight = dls_imp_in(g, x, 1)->shape; /* [in][out / groups][h][w] */
    const imp_shape in = as_image(&given);
    const imp_shape filter = as_image(&weight);
    const int64_t groups = dls_imp_attr_i(x, "group", 1);
    imp_window w = window_of(x, false);
    int64_t more[2];
    int64_t said[2]; /* the output's size, from which the padding follows */
    imp_shape s = dls_imp_no_shape;
    int64_t depth = -1;
    spatial(x, "output_padding", false, 0, more);
    spatial(x, "output_shape", false, 0, said);
    if (filter.rank == 4 && weight.rank == given.rank) {
        s = (imp_shape){.rank = 4, .dim = {in.dim[0], -1, -1, -1}};
        s.dim[1] = filter.dim[1] < 0 || groups < 1 ? -1 : dls_imp_mul(filter.dim[1], groups);
        for (int32_t i = 0; i < 2; i++) {
            w.kernel[i] = filter.dim[2 + i];
            s.dim[2 + i] = reached(in.dim[2 + i], &w, i, more[i], said[i]);
        }
        s = dls_imp_shape_of(4, s.dim);
        dls_imp_conv_dims(x, &s, &in, &w, groups);
        depth = given.rank == 5 ? depth_before(x, given.dim[2], weight.dim[2]) : -1;
    }
    s = from_image(&s, given.rank, depth);
    s = dls_imp_shape_of(s.rank, s.dim);
    dls_imp_out1(g, x, &s);
}

void dls_onnx_second_output(imp_graph *g, imp_node *x, int32_t bytes)
{
    const imp_shape s = x->n_out == 1 ? x->out->shape : dls_imp_no_shape;
    imp_out *out = x->n_wanted > 1 ? dls_imp_outs(g, x, 2) : NULL;
    if (out) {
        out[0].shape = s;
        out[1] = (imp_out){.shape = s, .bytes = bytes};
    }
}

void dls_onnx_rule_pool(imp_graph *g, imp_node *x)
{
    const imp_shape given = dls_imp_in(g, x, 0)->shape;
    const imp_shape image = as_image(&given);
    const imp_window w = window_of(x, false);
    imp_shape s = dls_imp_pooled(x, &image, &w);
    s = from_image(&s, given.rank, given.rank == 5 ? depth_of(x, given.dim[2], 0) : -1);
    dls_imp_out1(g, x, &s);
    dls_onnx_second_output(g, x, 8);
}
