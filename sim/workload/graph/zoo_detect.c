/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Object detection: YOLOv3 (Redmon and Farhadi, 2018), DarkNet-53 and a pyramid of three scales, for
 * each of which three boxes a cell are predicted.
 *
 *      classes=80   of objects: COCO's 80, VOC's 20
 *
 * Its loss (boxes' overlap, confidence, classes) is counted as a cross entropy over what it reads.
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define SCALES 3
#define BOXES 3  /* a cell and scale */
#define OF_BOX 5 /* its place, its size, whether there is one; beside the classes */

static dls_tensor conv(dls_net *net, dls_tensor x, int32_t out, int32_t kernel)
{
    return dls_block_conv_bn_relu(net, x, out, kernel, 1);
}

/* 1 x 1 to `out` channels and 3 x 3 to twice as many, twice, then 1 x 1. */
static dls_tensor narrowed(dls_net *net, dls_tensor x, int32_t out)
{
    for (int i = 0; i < 2; i++) {
        x = conv(net, conv(net, x, out, 1), 2 * out, 3);
    }
    return conv(net, x, out, 1);
}

static void yolov3(dls_net *net, const char *spec)
{
    static const int blocks[] = {1, 2, 8, 8, 4};
    const int stages = (int)(sizeof blocks / sizeof *blocks);
    const int32_t classes = (int32_t)dls_spec_number(spec, "classes", 80);
    dls_tensor scale[SCALES]; /* the finest first */
    dls_tensor x = conv(net, dls_net_image(net, 416, 416, 3), 32, 3);
    for (int stage = 0; stage < stages; stage++) {
        x = dls_zoo_csp_stage(net, x, 64 << stage, blocks[stage], stage, "dark");
        if (stage >= stages - SCALES) {
            scale[stage - (stages - SCALES)] = x;
        }
    }
    for (int i = SCALES - 1; i >= 0; i--) {
        const int32_t out = 128 << i;
        x = narrowed(net, x, out);
        const dls_tensor seen = conv(net, x, 2 * out, 3);
        dls_net_loss(net, dls_block_conv_bias(net, seen, BOXES * (OF_BOX + classes), 1, 1, 1));
        if (i > 0) { /* the next finer scale */
            const dls_tensor up = dls_block_enlarged(net, conv(net, x, out / 2, 1), scale[i - 1]);
            x = dls_net_concat(net, (dls_tensor[]){up, scale[i - 1]}, 2);
        }
    }
}

#define YOLO(name_, dataset_, spec_)                                                               \
    {                                                                                              \
        .name = (name_), .family = "yolo", .dataset = (dataset_), .batch = 8,                      \
        .optimiser = DLS_OPTIMISER_MOMENTUM, .decay = true, .design = yolov3, .spec = (spec_),     \
        .image = 416                                                                               \
    }

static const dls_zoo_model rows[] = {
    YOLO("yolov3", "coco", ""),
    YOLO("yolov3_voc", "voc", "classes=20"),
};

const dls_zoo_table dls_zoo_seeing = {rows, sizeof rows / sizeof rows[0]};
