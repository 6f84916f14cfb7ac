/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Object detection with boxes at many places: SSD (Liu et al., 2016), RetinaNet (Lin et al., 2017b), Faster R-CNN
 * (Ren et al., 2015) and Mask R-CNN (He et al., 2017), the last three on a pyramid of features (Lin et al., 2017a); as
 * torchvision, NVIDIA's and MLPerf's programs have them.
 *
 *      masks               of Mask R-CNN alone
 *      classes=91          of objects and none of them
 *      | blocks=...        the ResNet (zoo_resnet.c) that sees; without it SSD has VGG-16
 *      between=256,...     of SSD: channels of the 1 x 1 convolutions behind it; norms: each of them is normed
 *
 * Losses are counted as cross entropies over what they read. Not here: what matches boxes with objects, and what
 * removes boxes that overlap. R-CNNs look at 512 proposals of an image, as their training draws them, and make masks
 * of 128, the most that are drawn of those with an object; each level of the pyramid has a quarter of them, and
 * bringing a proposal to its size is one reading of what it covers.
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#include <string.h>

#define PYRAMID 256 /* channels */
#define MAX_LEVELS 5

static int32_t classes_of(const char *spec, int32_t otherwise)
{
    return (int32_t)dls_spec_number(spec, "classes", otherwise);
}

static dls_tensor conv_relu(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride)
{
    return dls_block_conv_bias_relu(net, x, out, kernel, stride, kernel > stride ? DLS_PAD_SAME : 0);
}

/* What is said of each of n boxes a place. */
static void said(dls_net *net, dls_tensor x, int32_t n, int32_t of_each, int32_t kernel)
{
    const int64_t boxes = dls_net_dim(net, x, 1) * dls_net_dim(net, x, 2) * n;
    x = dls_block_conv_bias(net, x, n * of_each, kernel, 1, 1);
    dls_net_loss(net, dls_net_reshape(net, x, 3, (int64_t[]){dls_net_dim(net, x, 0), boxes, of_each}));
}

/* ---- SSD ------------------------------------------------------------------------------------- */

#define MAPS 6

/* VGG-16 up to its fourth stage, whose pixels are brought to trained lengths, and all of it with two layers more. */
static void vgg_maps(dls_net *net, dls_tensor map[2])
{
    static const int convs[] = {2, 2, 3, 3, 3};
    static const int32_t width[] = {64, 128, 256, 512, 512};
    dls_tensor x = dls_net_image(net, 300, 300, 3);
    for (int stage = 0; stage < 5; stage++) {
        for (int i = 0; i < convs[stage]; i++) {
            x = conv_relu(net, x, width[stage], 3, 1);
        }
        if (stage == 3) {
            map[0] = dls_net_mul(net, dls_block_unit(net, x), dls_net_numbers(net, width[stage]));
        }
        x = stage < 4 ? dls_net_pool(net, x, DLS_OP_MAX_POOL, 2, 2, DLS_PAD_SAME)
                      : dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 1, DLS_PAD_SAME);
    }
    map[1] = conv_relu(net, conv_relu(net, x, 1024, 3, 1), 1024, 1, 1);
}

/* 1 x 1 to `between` channels, and a smaller map of `out`; without a stride nothing is added around it. */
static dls_tensor smaller(dls_net *net, dls_tensor x, int32_t between, int32_t out, int32_t stride, bool norms)
{
    const dls_conv c = {.out = out,
                        .kernel_h = 3,
                        .kernel_w = 3,
                        .stride = stride,
                        .pad = stride > 1 ? DLS_PAD_SAME : 0,
                        .bias = !norms};
    x = norms ? dls_block_conv_bn_relu(net, x, between, 1, 1) : conv_relu(net, x, between, 1, 1);
    x = dls_net_conv(net, x, c);
    return norms ? dls_block_bn_relu(net, x) : dls_net_relu(net, x);
}

static void ssd(dls_net *net, const char *spec)
{
    static const int32_t boxes[MAPS] = {4, 6, 6, 6, 4, 4}, out[MAPS] = {0, 512, 512, 256, 256, 256};
    const char *trunk = strchr(spec, '|');
    const bool norms = dls_spec_has(spec, "norms");
    double between[MAPS] = {0};
    dls_tensor map[MAPS];
    dls_spec_numbers(spec, "between", between, MAPS);
    if (trunk) {
        map[0] = dls_zoo_residual_trunk(net, trunk + 1);
    } else {
        vgg_maps(net, map);
    }
    for (int i = trunk ? 1 : 2; i < MAPS; i++) {
        map[i] = smaller(net, map[i - 1], (int32_t)between[i], out[i], i < 4 ? 2 : 1, norms);
    }
    for (int i = 0; i < MAPS; i++) {
        said(net, map[i], boxes[i], 4, 3);
        said(net, map[i], boxes[i], classes_of(spec, 81), 3);
    }
}

/* ---- pyramid --------------------------------------------------------------------------------- */

/* From the last of n stages down: all to one width, each with what is above it. */
static void pyramid(dls_net *net, const dls_tensor *stage, int n, dls_tensor *level)
{
    dls_tensor above = -1;
    for (int i = n - 1; i >= 0; i--) {
        dls_tensor x = dls_block_conv_bias(net, stage[i], PYRAMID, 1, 1, 1);
        x = i + 1 < n ? dls_net_add(net, x, dls_block_enlarged(net, above, x)) : x;
        above = x;
        level[i] = dls_block_conv_bias(net, x, PYRAMID, 3, 1, 1);
    }
}

/* ---- RetinaNet ------------------------------------------------------------------------------- */

#define ANCHORS 9
#define TOWER 4

static void of_anchors(dls_net *net, dls_tensor x, int32_t of_each)
{
    for (int i = 0; i < TOWER; i++) {
        x = conv_relu(net, x, PYRAMID, 3, 1);
    }
    said(net, x, ANCHORS, of_each, 3);
}

static void retinanet(dls_net *net, const char *spec)
{
    dls_tensor stage[4], level[MAX_LEVELS];
    (void)dls_zoo_residual_stages(net, strchr(spec, '|') + 1, stage);
    pyramid(net, stage + 1, 3, level);
    level[3] = dls_block_conv_bias(net, level[2], PYRAMID, 3, 2, 1);
    level[4] = dls_block_conv_bias(net, dls_net_relu(net, level[3]), PYRAMID, 3, 2, 1);
    for (int part = 0; part < 2; part++) {
        const int32_t first = dls_net_trained(net);
        for (int i = 0; i < MAX_LEVELS; i++) { /* with the same weights */
            if (i > 0) {
                dls_net_share(net, first);
            }
            of_anchors(net, level[i], part == 0 ? classes_of(spec, 91) : 4);
        }
    }
}

/* ---- R-CNN ----------------------------------------------------------------------------------- */

#define PROPOSALS 512
#define MASKS 128
#define EDGE 7 /* of a proposal as it is looked at; twice as many for its mask */

static void propose(dls_net *net, const dls_tensor *level)
{
    const int32_t first = dls_net_trained(net);
    for (int i = 0; i < MAX_LEVELS; i++) {
        if (i > 0) {
            dls_net_share(net, first);
        }
        const dls_tensor x = conv_relu(net, level[i], PYRAMID, 3, 1);
        said(net, x, 3, 1, 1);
        said(net, x, 3, 4, 1);
    }
}

/* n pieces of each image, shared evenly among four levels: [b n][edge][edge][channels]. */
static dls_tensor pieces(dls_net *net, const dls_tensor *level, int64_t n, int64_t edge)
{
    const int64_t b = dls_net_batch(net), size = edge * edge * PYRAMID;
    dls_tensor part[4];
    for (int i = 0; i < 4; i++) {
        part[i] = dls_net_windows(net, level[i], 2, (int64_t[]){b, n / 4 * size});
    }
    return dls_net_reshape(net, dls_net_concat(net, part, 4), 4, (int64_t[]){b * n, edge, edge, PYRAMID});
}

/* Twice as large: four pixels of each. */
static dls_tensor opened(dls_net *net, dls_tensor x)
{
    const int64_t n = dls_net_dim(net, x, 0), edge = 2 * dls_net_dim(net, x, 1);
    x = dls_block_conv(net, x, 4 * PYRAMID, 1, 1, 1);
    x = dls_net_reshape(net, x, 4, (int64_t[]){n, edge, edge, PYRAMID});
    return dls_net_relu(net, dls_net_offset(net, x));
}

static void rcnn(dls_net *net, const char *spec)
{
    const int32_t classes = classes_of(spec, 91);
    dls_tensor stage[4], level[MAX_LEVELS];
    (void)dls_zoo_residual_stages(net, strchr(spec, '|') + 1, stage);
    pyramid(net, stage, 4, level);
    level[4] = dls_net_pool(net, level[3], DLS_OP_MAX_POOL, 1, 2, 0);
    propose(net, level);
    dls_tensor x = dls_net_flatten(net, pieces(net, level, PROPOSALS, EDGE));
    x = dls_block_mlp(net, x, (const int64_t[]){1024, 1024}, 2);
    dls_net_loss(net, dls_net_dense(net, x, classes, true));
    dls_net_loss(net, dls_net_dense(net, x, 4 * (int64_t)classes, true));
    if (!dls_spec_has(spec, "masks")) {
        return;
    }
    x = pieces(net, level, MASKS, 2 * EDGE);
    for (int i = 0; i < TOWER; i++) {
        x = conv_relu(net, x, PYRAMID, 3, 1);
    }
    x = dls_block_conv_bias(net, opened(net, x), classes, 1, 1, 1);
    dls_net_loss(net, dls_net_channels(net, x, 1)); /* of the object's own class */
}

/* ---- members --------------------------------------------------------------------------------- */

#define BOXES(name_, dataset_, batch_, design_, image_, spec_)                                                         \
    {                                                                                                                  \
        .name = (name_), .family = "boxes", .dataset = (dataset_), .batch = (batch_),                                  \
        .optimiser = DLS_OPTIMISER_MOMENTUM, .decay = true, .design = (design_), .spec = (spec_), .image = (image_)    \
    }
#define R50 " | blocks=3,4,6,3 frozen"

static const dls_zoo_model rows[] = {
    BOXES("ssd300_vgg16", "coco", 32, ssd, 300, "classes=91 between=0,0,256,128,128,128"),
    BOXES("ssd300_resnet34", "coco", 32, ssd, 300, "between=0,256,256,128,128,128 | basic blocks=3,4,6 keep=2"),
    BOXES("ssd300_resnet50", "coco", 32, ssd, 300, "between=0,256,256,128,128,128 norms | blocks=3,4,6 keep=2"),
    BOXES("retinanet_resnet50_fpn", "coco", 4, retinanet, 800, R50),
    BOXES("retinanet_resnext50_fpn", "open_images", 4, retinanet, 800, "classes=264" R50 " groups=32 width=4"),
    BOXES("fasterrcnn_resnet50_fpn", "coco", 2, rcnn, 1024, R50),
    BOXES("maskrcnn_resnet50_fpn", "coco", 2, rcnn, 1024, "masks" R50),
};

const dls_zoo_table dls_zoo_boxes = {rows, sizeof rows / sizeof rows[0]};
