/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks of inception blocks as texts (layer_text.h), batch norm after every convolution, without
 * auxiliary classifiers. What +[ and ~[ join goes through one product back to the width, scaled,
 * and is added to what the branches read; + has an activation behind.
 */
#include "workload/graph/blocks.h"
#include "workload/graph/layer_text.h"
#include "workload/graph/zoo_impl.h"

#include <string.h>

/* Szegedy et al., 2015; 3 x 3 in place of 5 x 5 and batch norm, as torchvision has it. */
#define G(a, b, c, d, e, f) "[1:" a " | 1:" b " 3:" c " | 1:" d " 3:" e " | m3 1:" f "] "
static const char googlenet[] =
    "7/2:64 m3/2 1:64 3:192 m3/2 " G("64", "96", "128", "16", "32", "32")
        G("128", "128", "192", "32", "96", "64") "m3/2 " G("192", "96", "208", "16", "48", "64")
            G("160", "112", "224", "24", "64", "64") G("128", "128", "256", "24", "64", "64")
                G("112", "144", "288", "32", "64", "64")
                    G("256", "160", "320", "32", "128", "128") "m2/2 " G("256", "160", "320", "32",
                                                                         "128", "128")
                        G("384", "192", "384", "48", "128", "128");

/* Szegedy et al., 2016 */
#define STEM "3v/2:32 3v:32 3:64 m3v/2 1:80 3v:192 m3v/2 "
#define A3(pooled) "[1:64 | 1:48 5:64 | 1:64 3:96 3:96 | a3 1:" pooled "] "
#define C3(c)                                                                                      \
    "[1:" c " 1x7:" c " 7x1:192 | 1:" c " 7x1:" c " 1x7:" c " 7x1:" c " 1x7:192 | ^1:192 | "       \
    "a3 1:192] "
#define FORK(c) " [1x3:" c " | 3x1:" c "] "
static const char inception3[] = STEM A3("32") A3("64")
    A3("64") "[3v/2:384 | 1:64 3:96 3v/2:96 | m3v/2] " C3("128") C3("160") C3("160")
        C3("192") "[1:192 3v/2:320 | 1:192 1x7:192 7x1:192 3v/2:192 | m3v/2] "
                  "2*[1:384" FORK("384") "| 1:448 3:384" FORK("384") "| ^1:320 | a3 1:192]";

/* Szegedy et al., 2017, as the next */
static const char inception4[] =
    "3v/2:32 3v:32 3:64 [m3v/2 | 3v/2:96] [1:64 3v:96 | 1:64 1x7:64 7x1:64 3v:96] "
    "[3v/2:192 | m3v/2] 4*[1:96 | 1:64 3:96 | 1:64 3:96 3:96 | a3 1:96] "
    "[3v/2:384 | 1:192 3:224 3v/2:256 | m3v/2] 7*[1:192 1x7:224 7x1:256 | "
    "1:192 7x1:192 1x7:224 7x1:224 1x7:256 | ^1:384 | a3 1:128] "
    "[1:192 3v/2:192 | 1:256 1x7:256 7x1:320 3v/2:320 | m3v/2] "
    "3*[1:384" FORK("256") "| 1:384 3x1:448 1x3:512" FORK("256") "| ^1:256 | a3 1:256]";

#define LAST "[1:192 | 1:192 1x3:224 3x1:256] "
static const char inception_resnet2[] = STEM
    "[1:48 5:64 | 1:64 3:96 3:96 | a3 1:64 | ^1:96] "
    "10*+[1:32 | 1:32 3:32 | 1:32 3:48 3:64] [3v/2:384 | 1:256 3:256 3v/2:384 | m3v/2] "
    "20*+[1:192 | 1:128 1x7:160 7x1:192] "
    "[1:256 3v/2:384 | 1:256 3v/2:288 | 1:256 3:288 3v/2:320 | m3v/2] 9*+" LAST "~" LAST "1:1536";

static dls_layer_at layer(void *user, dls_layer_at at, const dls_layer_word *w)
{
    dls_net *net = user;
    const int32_t pad = w->valid ? 0 : DLS_PAD_SAME;
    dls_tensor x = at.v[0];
    if (w->kind == 'c') {
        x = dls_net_conv(net, x,
                         (dls_conv){.out = w->out,
                                    .kernel_h = w->kernel_h,
                                    .kernel_w = w->kernel_w,
                                    .stride = w->stride,
                                    .pad = pad});
        x = dls_block_bn_relu(net, x);
    } else {
        x = dls_net_pool(net, x, w->kind == 'm' ? DLS_OP_MAX_POOL : DLS_OP_AVG_POOL, w->kernel_h,
                         w->stride, pad);
    }
    return (dls_layer_at){{x}};
}

static dls_layer_at join(void *user, char how, dls_layer_at in, const dls_layer_at *branch, int n)
{
    dls_net *net = user;
    dls_tensor part[DLS_LAYER_BRANCHES];
    for (int i = 0; i < n; i++) {
        part[i] = branch[i].v[0];
    }
    dls_tensor x = dls_net_concat(net, part, n);
    if (how != '[') {
        x = dls_block_conv_bias(net, x, (int32_t)dls_net_dim(net, in.v[0], 3), 1, 1, 1);
        x = dls_net_add(net, in.v[0], dls_net_scale(net, x));
    }
    return (dls_layer_at){{how == '+' ? dls_net_relu(net, x) : x}};
}

void dls_zoo_inception(dls_net *net, const char *spec)
{
    static const struct {
        const char *name, *text;
    } texts[] = {{"googlenet", googlenet},
                 {"inception3", inception3},
                 {"inception4", inception4},
                 {"inception_resnet2", inception_resnet2}};
    const dls_layer_reader reader = {net, layer, join};
    dls_layer_at at = {{dls_net_image(net, 224, 224, 3)}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        at = strcmp(texts[i].name, spec) == 0 ? dls_layer_text(&reader, texts[i].text, at) : at;
    }
    const dls_tensor x = dls_net_dropout(net, dls_net_global_mean(net, at.v[0]));
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}
