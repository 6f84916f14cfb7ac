/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks of the zoo counted layer by layer: those whose parameters and products nobody publishes, or whose training
 * step is not what is published. [pt], [tv]: test_graph_zoo.c.
 */
#include "support/test.h"
#include "support/zoo.h"
#include "workload/graph/op_kind.h"

#include <math.h>

/* Deep Speech 2 of Pollux's program, layer by layer: 5 s are 250 steps of its GRUs. */
TEST(test_deepspeech2)
{
    const int64_t w = 800, seen = 41 * 32, letters = 29, steps = 250;
    const int64_t first = 32 * 41 * 11, second = 32 * 32 * 21 * 11;
    const int64_t layer = 2 * (3 * w * w + 2 * 3 * w); /* both directions, without their input */
    const int64_t params = first + 32 + second + 32 + 2 * 64 + 5 * layer + 2 * 3 * w * (seen + 4 * w) +
                           5 * 2 * w + w * letters;
    const int64_t macs = first * 81 * steps + second * 41 * steps +
                         steps * (2 * 3 * w * (seen + 4 * w) + 5 * 2 * 3 * w * w + w * letters);
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g =
        build("deepspeech2", 1, DLS_NUMERIC_FP32, DLS_OPTIMISER_MOMENTUM);
    dls_opgraph_totals t;
    dls_opgraph_sum(g, &t);
    assert_int_equal(t.n_params, params);
    assert_int_equal(t.n_params, 41187968);
    assert_true(matrix_flops(g, DLS_PHASE_FORWARD) == 2.0 * (double)macs);
    int64_t steps_back = 0, once = 0;
    for (int32_t v = 0; v < g->n_nodes; v++) {
        const dls_op_node *x = &g->nodes[v];
        const bool product = x->phase == DLS_PHASE_BACKWARD && dls_op_family_of(x->kind) == DLS_FAMILY_MATMUL;
        steps_back += product && x->repeat == steps;
        once += product && x->repeat == 1 && x->dims.k == steps && x->dims.m == w && x->dims.n == 3 * w;
    }
    assert_int_equal(steps_back, 5 * 2); /* of the state; weights' gradients are of all steps */
    assert_int_equal(once, 5 * 2 + 4 * 2);
}

/* RNN-T of MLPerf's reference, layer by layer: 12.3 s are 410 steps and 205 behind the second layer, and 46 of what was
 * said before. PyTorch's LSTMs have two biases for each gate. */
TEST(test_rnnt)
{
    static const struct {
        int64_t in, width, steps;
    } lstm[] = {{240, 1024, 410},  {1024, 1024, 410}, {2048, 1024, 205}, {1024, 1024, 205},
                {1024, 1024, 205}, {512, 512, 46},    {512, 512, 46}};
    int64_t params = 1023 * 512 + (1024 + 1) * 512 + (512 + 1) * 512 + (512 + 1) * 1024;
    int64_t macs = 205 * 1024 * 512 + 46 * 512 * 512 + 205 * 46 * (int64_t)(512 * 1024);
    for (size_t i = 0; i < sizeof lstm / sizeof lstm[0]; i++) {
        params += 4 * lstm[i].width * (lstm[i].in + lstm[i].width + 2);
        macs += lstm[i].steps * 4 * lstm[i].width * (lstm[i].in + lstm[i].width);
    }
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = build("rnnt", 1, DLS_NUMERIC_FP32, DLS_OPTIMISER_ADAM);
    dls_opgraph_totals t;
    dls_opgraph_sum(g, &t);
    assert_int_equal(params, 49006080);
    assert_int_equal(t.n_params, params);
    assert_true(matrix_flops(g, DLS_PHASE_FORWARD) == 2.0 * (double)macs);
}

/* One. */
static dls_opgraph *of_image(const char *name, int32_t image)
{
    const dls_zoo_model *m = dls_zoo_find(name);
    dls_zoo_options o = dls_zoo_defaults(m);
    dls_opgraph *g = NULL;
    o.batch = 1;
    o.image = image;
    assert_int_equal(dls_zoo_build(m, &o, &g, NULL), DLS_OK);
    return g;
}

/* SSD as NVIDIA's and MLPerf's programs have it, layer by layer: a ResNet without its last stage ([pt]), five layers
 * more, and what is said of 8,732 boxes. Mask R-CNN as torchvision runs it: [tv] counts 134.38 G for an image of 800
 * pixels of which it looks at 1,000 proposals, and no masks; a training step looks at 512, and makes 128 masks. */
TEST(test_boxes)
{
    static const struct {
        const char *model;
        int64_t trunk, macs; /* of the trunk, at 300 pixels */
        int32_t seen;
        bool norms;
    } ssds[] = {{"ssd300_resnet34", 8170304, 12906552064, 256, false},
                {"ssd300_resnet50", 8543296, 13517961984, 1024, true}};
    static const int64_t between[] = {256, 256, 128, 128, 128}, out[] = {512, 512, 256, 256, 256};
    static const int64_t edge[] = {38, 19, 10, 5, 3, 1}, boxes[] = {4, 6, 6, 6, 4, 4};
    for (size_t i = 0; i < sizeof ssds / sizeof ssds[0]; i++) {
        int64_t in = ssds[i].seen, params = ssds[i].trunk, macs = ssds[i].macs, n = 0;
        for (int k = 0; k < 6; k++) {
            const int64_t said = boxes[k] * (4 + 81);
            params += said * (9 * in + 1);
            macs += said * 9 * in * edge[k] * edge[k];
            n += boxes[k] * edge[k] * edge[k];
            if (k < 5) {
                params += in * between[k] + 9 * between[k] * out[k];
                params += (ssds[i].norms ? 2 : 1) * (between[k] + out[k]);
                macs += in * between[k] * edge[k] * edge[k] + 9 * between[k] * out[k] * edge[k + 1] * edge[k + 1];
                in = out[k];
            }
        }
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g =
            build(ssds[i].model, 1, DLS_NUMERIC_FP32, DLS_OPTIMISER_MOMENTUM);
        dls_opgraph_totals t;
        dls_opgraph_sum(g, &t);
        assert_int_equal(n, 8732);
        assert_int_equal(t.n_params, params);
        assert_true(matrix_flops(g, DLS_PHASE_FORWARD) == 2.0 * (double)macs);
    }
    const double of_each = 12544.0 * 1024 + 1024 * 1024 + 1024 * 5 * 91;
    const double of_mask = 4 * 196 * 2304.0 * 256 + 196 * 256 * 1024 + 784 * 256 * 91;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = of_image("maskrcnn_resnet50_fpn", 800);
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *faster = of_image("fasterrcnn_resnet50_fpn", 800);
    const double want = 134.38e9 - (1000 - 512) * of_each;
    assert_true(fabs(matrix_flops(faster, DLS_PHASE_FORWARD) / 2 / want - 1) < 0.001);
    assert_true(fabs(matrix_flops(g, DLS_PHASE_FORWARD) / 2 / (want + 128 * of_mask) - 1) < 0.001);
    /* Nothing goes back into the stem and the first stage: 64 channels are seen by no gradient but those of the first
     * stage's last results, of 256. */
    for (int32_t v = 0; v < g->n_nodes; v++) {
        const dls_op_node *x = &g->nodes[v];
        const bool conv = x->phase == DLS_PHASE_BACKWARD && dls_op_family_of(x->kind) == DLS_FAMILY_CONV;
        assert_false(conv && x->dims.in_c <= 64);
    }
}

/* Of a diffusion's image the edge halves three times after eight of its pixels have become one. */
TEST(test_diffusion)
{
    const dls_zoo_model *m = dls_zoo_find("stable_diffusion_1");
    dls_zoo_options o = dls_zoo_defaults(m);
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *usual = of_image(m->name, 512);
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *small = of_image(m->name, 256);
    const double less = matrix_flops(usual, DLS_PHASE_FORWARD) / matrix_flops(small, DLS_PHASE_FORWARD);
    assert_true(less > 4 && less < 16); /* attention's scores are fewer by 16 */
    o.image = 500;
    dls_opgraph *none = NULL;
    assert_int_equal(dls_zoo_build(m, &o, &none, NULL), DLS_EINPUT);
    assert_null(none);
}
