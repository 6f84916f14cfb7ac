/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Convolutional networks: those of plain layers and of inception blocks as texts
 * (graph/layer_text.h), and ResNet. Shapes of the TensorFlow benchmarks (stride of the bottleneck
 * in its first 1x1 convolution) and, as v1.5, of torchvision (in the 3x3 one). What {[..] joins is
 * joined with the other branches around it.
 */
#include "workload/graph/layer_text.h"
#include "workload/operator/layers.h"

#include <string.h>

#define CLASSES 1000
#define IMAGE_SIZE 224

/* ---- texts ----------------------------------------------------------------------------------- */

#define VGG(a, b, c) a "3:64 m2v/2 " a "3:128 m2v/2 " b "3:256 m2v/2 " c "m2v/2 " c "m2v/2"

/* Szegedy et al., 2015, table 1: 1x1; 1x1 and 3x3; 1x1 and 5x5; 1x1 behind the pool */
#define G(a, b, c, d, e, f) "[1:" a " | 1:" b " 3:" c " | 1:" d " 5:" e " | m3 1:" f "] "

/* Szegedy et al., 2016 */
#define A3(pooled) "[1:64 | 1:48 5:64 | 1:64 3:96 3:96 | m3 1:" pooled "] "
#define C3(c)                                                                                      \
    "[1:192 | 1:" c " 1x7:" c " 7x1:192 | 1:" c " 7x1:" c " 1x7:" c " 7x1:" c                      \
    " 1x7:192 | m3 1:192] "
#define FORK "[1x3:384 | 3x1:384] "

/* Without auxiliary heads. */
static const struct {
    const char *name;
    int32_t image;
    bool norm, pooled; /* of convolutions; before the classifier, else two layers of 4096 */
    const char *text;
} texts[] = {
    {"alexnet", 227, false, false, "11v/4:64 m3v/2 5:192 m3v/2 3:384 3:384 3:256 m3v/2"},
    {"vgg11", IMAGE_SIZE, false, false, VGG("", "2*", "2*3:512 ")},
    {"vgg16", IMAGE_SIZE, false, false, VGG("2*", "3*", "3*3:512 ")},
    {"vgg19", IMAGE_SIZE, false, false, VGG("2*", "4*", "4*3:512 ")},
    {"googlenet", IMAGE_SIZE, false, true,
     "7/2:64 m3/2 1:64 3:192 m3/2 " G("64", "96", "128", "16", "32", "32")
         G("128", "128", "192", "32", "96", "64") "m3/2 " G("192", "96", "208", "16", "48", "64")
             G("160", "112", "224", "24", "64", "64") G("128", "128", "256", "24", "64", "64")
                 G("112", "144", "288", "32", "64", "64")
                     G("256", "160", "320", "32", "128", "128") "m3/2 " G("256", "160", "320", "32",
                                                                          "128", "128")
                         G("384", "192", "384", "48", "128", "128")},
    {"inception3", 299, true, true,
     "3v/2:32 3v:32 3:64 m3v/2 1:80 3v:192 m3v/2 " A3("32") A3("64")
         A3("64") "[1:64 3:96 3v/2:96 | 3v/2:384 | m3v/2] " C3("128") C3("160") C3("160")
             C3("192") "[1:192 3v/2:320 | 1:192 1x7:192 7x1:192 3v/2:192 | m3v/2] "
                       "2*[1:320 | 1:384 " FORK "| 1:448 3:384 " FORK "| m3 1:192]"},
    {"inception4", 299, true, true, /* Szegedy et al., 2017 */
     "3v/2:32 3v:32 3:64 [m3v/2 | 3v/2:96] [1:64 3v:96 | 1:64 7x1:64 1x7:64 3v:96] "
     "[m3v/2 | 3v/2:192] 4*[1:96 | 1:64 3:96 | 1:64 3:96 3:96 | m3 1:96] "
     "[1:192 3:224 3v/2:256 | 3v/2:384 | m3v/2] 7*[1:384 | 1:192 1x7:224 7x1:256 | "
     "1:192 1x7:192 7x1:224 1x7:224 7x1:256 | m3 1:128] "
     "[1:192 3v/2:192 | 1:256 1x7:256 7x1:320 3v/2:320 | m3v/2] 3*[1:256 | "
     "1:384 {[1x3:256 | 3x1:256] | 1:384 1x3:448 3x1:512 {[1x3:256 | 3x1:256] | m3 1:256]"},
};

typedef struct reading {
    dls_layers *b;
    int then;
} reading;

static dls_layer_at now(const dls_layers *b)
{
    return (dls_layer_at){{b->at.h, b->at.w, b->at.c}};
}

static dls_layer_at layer(void *user, dls_layer_at at, const dls_layer_word *w)
{
    const reading *r = user;
    const int padding = w->valid ? DLS_VALID : DLS_SAME;
    r->b->at = (dls_shape){at.v[0], at.v[1], at.v[2]};
    if (w->kind == 'c') {
        dls_layers_conv(r->b, w->kernel_h, w->kernel_w, w->stride, w->out, padding, r->then);
    } else {
        dls_layers_pool(r->b, w->kernel_h, w->stride, padding);
    }
    return now(r->b);
}

static dls_layer_at join(void *user, char how, dls_layer_at in, const dls_layer_at *branch, int n)
{
    const reading *r = user;
    int32_t c = 0;
    for (int i = 0; i < n; i++) {
        c += branch[i].v[2];
    }
    if (how == '[') {
        dls_layers_concat(r->b, c);
    }
    r->b->at.c = c;
    return now(r->b);
}

static void dense_relu(dls_layers *b, int32_t out)
{
    dls_layers_dense(b, out);
    dls_layers_relu(b);
}

static void classify(dls_layers *b, int32_t classes)
{
    dls_layers_dense(b, classes);
    dls_layers_loss(b, classes);
}

bool dls_layers_net_text(dls_layers *b, const char *name)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].name, name) == 0) {
            reading r = {b, (texts[i].norm ? DLS_NORM : DLS_BIAS) | DLS_RELU};
            b->at = (dls_shape){texts[i].image, texts[i].image, 3};
            dls_layer_text(&(dls_layer_reader){&r, layer, join}, texts[i].text, now(b));
            if (texts[i].pooled) {
                dls_layers_pool_global(b);
            } else {
                dense_relu(b, 4096);
                dense_relu(b, 4096);
            }
            classify(b, CLASSES);
            return true;
        }
    }
    return false;
}

/* ---- ResNet ---------------------------------------------------------------------------------- */

/* The shortcut of a block whose output has another shape; the main path goes on from `out`. */
static void project(dls_layers *b, dls_shape in, int32_t stride, int32_t c)
{
    const dls_shape out = b->at;
    b->at = in;
    dls_layers_conv(b, 1, 1, stride, c, DLS_SAME, DLS_NORM);
    b->at = out;
}

static void bottleneck(dls_layers *b, int32_t c, int32_t stride, bool v15)
{
    const dls_shape in = b->at;
    dls_layers_conv(b, 1, 1, v15 ? 1 : stride, c, DLS_SAME, DLS_NORM | DLS_RELU);
    dls_layers_conv(b, 3, 3, v15 ? stride : 1, c, DLS_SAME, DLS_NORM | DLS_RELU);
    dls_layers_conv(b, 1, 1, 1, 4 * c, DLS_SAME, DLS_NORM);
    if (in.c != 4 * c) {
        project(b, in, stride, 4 * c);
    }
    dls_layers_residual_add(b);
    dls_layers_relu(b);
}

void dls_layers_net_resnet(dls_layers *b, int depth, bool v15)
{
    const int blocks[] = {3, depth == 152 ? 8 : 4, depth == 50 ? 6 : depth == 101 ? 23 : 36, 3};
    b->at = (dls_shape){IMAGE_SIZE, IMAGE_SIZE, 3};
    dls_layers_conv(b, 7, 7, 2, 64, DLS_SAME, DLS_NORM | DLS_RELU);
    dls_layers_pool(b, 3, 2, DLS_SAME);
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < blocks[stage]; i++) {
            bottleneck(b, 64 << stage, stage > 0 && i == 0 ? 2 : 1, v15);
        }
    }
    dls_layers_pool_global(b);
    classify(b, CLASSES);
}

void dls_layers_net_resnet18_cifar(dls_layers *b)
{
    b->at = (dls_shape){32, 32, 3};
    dls_layers_conv(b, 3, 3, 1, 64, DLS_SAME, DLS_NORM | DLS_RELU);
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < 2; i++) {
            const dls_shape in = b->at;
            const int32_t c = 64 << stage, stride = stage > 0 && i == 0 ? 2 : 1;
            dls_layers_conv(b, 3, 3, stride, c, DLS_SAME, DLS_NORM | DLS_RELU);
            dls_layers_conv(b, 3, 3, 1, c, DLS_SAME, DLS_NORM);
            if (in.c != c) {
                project(b, in, stride, c);
            }
            dls_layers_residual_add(b);
            dls_layers_relu(b);
        }
    }
    dls_layers_pool_global(b);
    classify(b, 10);
}
