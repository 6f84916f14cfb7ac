/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks of inverted residuals: MobileNet V2 and V3 (Sandler et al., 2018; Howard et al., 2019),
 * MnasNet (Tan et al., 2019), EfficientNet and its second version (Tan and Le, 2019, 2021), FBNet
 * (Wu et al., 2019; Dai et al., 2021), HardCoRe-NAS (Nayman et al., 2021), TinyNet (Han et al.,
 * 2020), LCNet (Cui et al., 2021), names as timm spells them.
 *
 * A word @TYPE,n,kernel,stride,expansion,channels,excite is n equal blocks: d depthwise and then
 * 1 x 1, i expanded before, e expanded by the kernel itself, c one convolution. excite: what the
 * block reads over the channels between; below 0 what is expanded, in multiples of 8. p: expanded to
 * so many channels (0: not), excite is the channels between (pruned ones). Kernels of
 * several sizes, each over a part of the channels, are one number, 1 is 11: 357 (MixNet, Tan and
 * Le, 2019). Two more numbers: into how many groups the products before and behind are cut. One more:
 * how many weights there are of each convolution, which each image mixes for itself (CondConv, Yang
 * et al., 2019).
 *
 *      width=1.2 depth=1.4   channels and blocks times as many; ends: not the first and last block
 *      nearest               blocks are rounded, else up
 *      below                 channels are rounded to the nearest multiple of 8, however far below
 *      divisor=16            of channels, of which there is a multiple (8)
 *      stem=32 head=1280     channels; stem: and head: do not grow with the width
 *      late                  the head's channels come behind the mean
 *      unbiased              those have no bias
 *      rounded               what excites has a multiple of 8 channels, at least 0.95 of what it would have
 *      least                 the head has 1280 channels at least
 *      alone                 a d block has no shortcut
 *      behind                it has one more activation, behind the product
 *      edge                  the first block expands what it gives, not what it gets
 *      relu relu6            in the place of swish
 *      relus=40              in blocks of up to so many channels, swish in all others, whatever the ends have
 *      context               global context for what excites
 *      layer group=8         norms of groups of channels; what is depthwise sees so many
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#include <math.h>
#include <string.h>

typedef struct mobile {
    double width, depth, relus;
    dls_op_kind kind; /* of activations */
    bool ends, nearest, below, alone, behind, edge, layer, context, rounded;
    int32_t group, divisor;
} mobile;

typedef struct stage {
    char type;
    int32_t n, kernel, stride, out, before, behind, experts;
    double expansion, excite;
    bool relu;
} stage;

static dls_tensor act(dls_net *net, dls_tensor x, const mobile *m)
{
    return dls_net_in_place(net, x, m->kind);
}

#define KERNELS 5

/* n parts of the channels; the first has what does not divide. */
static void parts_of(dls_net *net, dls_tensor x, int32_t n, dls_tensor *part)
{
    const int64_t c = dls_net_dim(net, x, 3), each = c / n;
    if (c % n == 0 && n > 1) {
        dls_net_split(net, x, n, part);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        part[i] = n > 1 ? dls_net_channels(net, x, i ? each : c - each * (n - 1)) : x;
    }
}

static dls_tensor norm(dls_net *net, dls_tensor x, const mobile *m)
{
    return m->layer ? dls_net_group_norm(net, x) : dls_net_batch_norm(net, x);
}

/* 1 x 1, each of n parts by itself. */
static dls_tensor product(dls_net *net, dls_tensor x, int32_t out, int32_t n, const mobile *m)
{
    dls_tensor part[KERNELS];
    n = n > 1 ? n : 1;
    parts_of(net, x, n, part);
    for (int32_t i = 0; i < n; i++) {
        part[i] = dls_block_conv(net, part[i], out / n, 1, 1, 1);
    }
    return norm(net, n > 1 ? dls_net_concat(net, part, n) : part[0], m);
}

/* One filter for each channel, of as many sizes as the number `kernel` has digits. */
static dls_tensor depthwise(dls_net *net, dls_tensor x, int32_t kernel, int32_t stride,
                            const mobile *m)
{
    const int32_t c = (int32_t)dls_net_dim(net, x, 3);
    int32_t size[KERNELS], n = 0;
    dls_tensor part[KERNELS];
    if (m->group) {
        return norm(net, dls_block_conv(net, x, c, kernel, stride, c / m->group), m);
    }
    for (; kernel > 0 && n < KERNELS; kernel /= 10) {
        size[n++] = kernel % 10 == 1 ? 11 : kernel % 10;
    }
    parts_of(net, x, n, part);
    for (int32_t i = 0; i < n; i++) {
        part[i] = dls_block_depthwise(net, part[i], size[n - 1 - i], stride, false);
    }
    return norm(net, n > 1 ? dls_net_concat(net, part, n) : part[0], m);
}

static dls_tensor excite(dls_net *net, dls_tensor x, int32_t in, const stage *s, const mobile *m)
{
    const double mid = (double)dls_net_dim(net, x, 3);
    if (!(fabs(s->excite) > 0)) {
        return x;
    }
    const int32_t inner = s->type == 'p'   ? (int32_t)s->excite
                          : s->excite <= 0 ? dls_zoo_round(mid / -s->excite, 8)
                          : m->rounded     ? dls_zoo_round_within(in / s->excite, 8, 0.95)
                                           : (int32_t)(in / s->excite);
    return m->context ? dls_block_context(net, x, inner, true)
                      : dls_block_squeeze_excite(net, x, inner);
}

/* Weights [b][..] are each image's own: PyTorch's program has one convolution over the channels of all
 * images; else a product is a product of each image. */
static dls_tensor mixed(dls_net *net, dls_tensor x, dls_tensor route, dls_conv c, const mobile *m)
{
    const int64_t b = dls_net_batch(net), in = dls_net_dim(net, x, 3);
    const int64_t out = c.depthwise ? in : c.out;
    const int64_t size = out * (c.depthwise ? 1 : in) * c.kernel_h * c.kernel_h;
    const dls_tensor weights = dls_net_dense(net, route, size, false);
    const int64_t h = dls_net_dim(net, x, 1), w = dls_net_dim(net, x, 2);
    if (!dls_net_eager(net) && !c.depthwise) {
        x = dls_net_batch_matmul(net, dls_block_tokens(net, x),
                                 dls_net_reshape(net, weights, 3, (int64_t[]){b, in, out}), false);
        return norm(net, dls_block_pixels(net, x, h, w), m);
    }
    c.kernel_w = c.kernel_h;
    c.pad = DLS_PAD_SAME;
    c.weights = &weights;
    c.out = (int32_t)(b * out);
    c.groups = c.depthwise ? 0 : (int32_t)b;
    x = dls_net_conv(net, dls_net_reshape(net, x, 4, (int64_t[]){1, h, w, b * in}), c);
    x = dls_net_reshape(net, x, 4, (int64_t[]){b, dls_net_dim(net, x, 1), dls_net_dim(net, x, 2), out});
    return norm(net, x, m);
}

static dls_tensor conditional(dls_net *net, dls_tensor x, const stage *s, int32_t stride, int32_t mid,
                              const mobile *m)
{
    const int32_t in = (int32_t)dls_net_dim(net, x, 3);
    const dls_tensor shortcut = x, seen = dls_net_dense(net, dls_net_global_mean(net, x), s->experts, true);
    const dls_tensor route = dls_net_unary(net, seen, DLS_OP_SIGMOID);
    dls_conv c = {.out = mid, .kernel_h = 1, .stride = 1};
    const dls_conv across = {.kernel_h = s->kernel, .stride = stride, .depthwise = true};
    x = act(net, mixed(net, x, route, c, m), m);
    x = act(net, mixed(net, x, route, across, m), m);
    x = excite(net, x, in, s, m);
    c.out = s->out;
    x = mixed(net, x, route, c, m);
    return stride == 1 && in == s->out ? dls_net_add(net, x, shortcut) : x;
}

static dls_tensor block(dls_net *net, dls_tensor x, const stage *s, int32_t stride, const mobile *m)
{
    const int32_t in = (int32_t)dls_net_dim(net, x, 3);
    const int32_t from = s->type == 'e' && m->edge && s->out < in ? s->out : in;
    const int32_t mid = s->type == 'p' ? (int32_t)s->expansion : dls_zoo_round(s->expansion * from, 8);
    const bool kept = stride == 1 && in == s->out && !(s->type == 'd' && m->alone);
    const dls_tensor shortcut = x;
    if (s->type == 'c') {
        x = act(net, norm(net, dls_block_conv(net, x, s->out, s->kernel, stride, 1), m), m);
        return kept && s->kernel > 1 ? dls_net_add(net, x, shortcut) : x;
    }
    if (s->experts) {
        return conditional(net, x, s, stride, mid, m);
    }
    if (s->type == 'e') {
        x = act(net, norm(net, dls_block_conv(net, x, mid, s->kernel, stride, 1), m), m);
    } else {
        if (s->type == 'i' || (s->type == 'p' && mid > 0)) {
            x = act(net, product(net, x, mid, s->before, m), m);
        }
        x = act(net, depthwise(net, x, s->kernel, stride, m), m);
    }
    x = product(net, excite(net, x, in, s, m), s->out, s->behind, m);
    x = s->type == 'd' && m->behind ? act(net, x, m) : x;
    return kept ? dls_net_add(net, x, shortcut) : x;
}

/* The stage that stands at `at`, past its '@'. */
static stage stage_at(const char *at, bool inner, const mobile *m)
{
    double v[9] = {0};
    dls_spec_list(at + 1, v, 9);
    const double n = inner || !m->ends ? m->depth * v[0] : v[0];
    return (stage){.type = *at,
                   .n = (int32_t)(m->nearest ? fmax(1, rint(n)) : ceil(n - 1e-9)),
                   .kernel = (int32_t)v[1],
                   .stride = (int32_t)v[2],
                   .expansion = v[3],
                   .out = m->below ? (int32_t)(v[4] * m->width + 4) / 8 * 8
                                   : dls_zoo_round(v[4] * m->width, m->divisor),
                   .excite = v[5],
                   .relu = v[4] <= m->relus,
                   .before = (int32_t)v[6],
                   .behind = (int32_t)v[7],
                   .experts = (int32_t)v[8]};
}

static dls_tensor head(dls_net *net, dls_tensor x, const char *spec, const mobile *m)
{
    const double grown = 1280 * m->width;
    const int32_t fixed = (int32_t)dls_spec_number(spec, "head", 0);
    const int32_t out =
        fixed ? fixed : dls_zoo_round(fmax(grown, dls_spec_has(spec, "least") ? 1280 : 0), 8);
    if (!dls_spec_has(spec, "late")) {
        return dls_net_global_mean(net, act(net, product(net, x, out, 1, m), m));
    }
    return act(net, dls_net_dense(net, dls_net_global_mean(net, x), out, !dls_spec_has(spec, "unbiased")),
               m);
}

void dls_zoo_inverted(dls_net *net, const char *spec)
{
    const mobile m = {.width = dls_spec_number(spec, "width", 1),
                      .depth = dls_spec_number(spec, "depth", 1),
                      .kind = dls_spec_has(spec, "relu6")  ? DLS_OP_RELU6
                              : dls_spec_has(spec, "relu") ? DLS_OP_RELU
                                                           : DLS_OP_SWISH,
                      .relus = dls_spec_number(spec, "relus", 0),
                      .ends = dls_spec_has(spec, "ends"),
                      .nearest = dls_spec_has(spec, "nearest"),
                      .below = dls_spec_has(spec, "below"),
                      .alone = dls_spec_has(spec, "alone"),
                      .behind = dls_spec_has(spec, "behind"),
                      .edge = dls_spec_has(spec, "edge"),
                      .layer = dls_spec_has(spec, "layer"),
                      .context = dls_spec_has(spec, "context"),
                      .rounded = dls_spec_has(spec, "rounded"),
                      .group = (int32_t)dls_spec_number(spec, "group", 0),
                      .divisor = (int32_t)dls_spec_number(spec, "divisor", 8)};
    const int32_t fixed = (int32_t)dls_spec_number(spec, "stem", 0);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    const int32_t grown = dls_zoo_round(dls_spec_number(spec, "grows", 32) * m.width, m.divisor);
    x = act(net, norm(net, dls_block_conv(net, x, fixed ? fixed : grown, 3, 2, 1), &m), &m);
    const char *first = strchr(spec, '@'), *last = strrchr(spec, '@');
    for (const char *at = first; at; at = strchr(at + 1, '@')) {
        const stage s = stage_at(at + 1, at != first && at != last, &m);
        mobile inner = m;
        inner.kind = s.relu ? DLS_OP_RELU : m.relus > 0 ? DLS_OP_SWISH : m.kind;
        for (int32_t i = 0; i < s.n; i++) {
            x = block(net, x, &s, i == 0 ? s.stride : 1, &inner);
        }
    }
    dls_net_loss(net, dls_net_dense(net, head(net, x, spec, &m), 1000, true));
}

/* ---- members --------------------------------------------------------------------------------- */

#define B DLS_ZOO_MBCONV
#define EDGE                                                                                       \
    "relu edge @e,1,3,1,4,24 @e,2,3,2,8,32 @e,4,3,2,8,48 @i,5,5,2,8,96 @i,4,5,1,8,144 "            \
    "@i,2,5,2,8,192"
#define CC(n)                                                                                      \
    " @d,1,3,1,1,16,4 @i,2,3,2,6,24,4 @i,2,5,2,6,40,4 @i,3,3,2,6,80,4 @i,3,5,1,6,112,4,0,0," n     \
    " @i,4,5,2,6,192,4,0,0," n " @i,1,3,1,6,320,4,0,0," n
#define V2B                                                                                        \
    " below @c,1,3,1,1,16 @e,2,3,2,4,32 @e,2,3,2,4,48 @i,3,3,2,4,96,4 @i,5,3,1,6,112,4 "           \
    "@i,8,3,2,6,192,4"
#define V2S                                                                                        \
    " @c,2,3,1,1,24 @e,4,3,2,4,48 @e,4,3,2,4,64 @i,6,3,2,4,128,4 @i,9,3,1,6,160,4 "                \
    "@i,15,3,2,6,256,4"
#define M2 " " DLS_ZOO_MOBILENET2
#define M3                                                                                         \
    " relus=40 late stem=16 head=1280 @d,1,3,1,1,16 @i,1,3,2,4,24 @i,1,3,1,3,24 @i,3,5,2,3,40,-4 "          \
    "@i,1,3,2,6,80 @i,1,3,1,2.5,80 @i,2,3,1,2.3,80 @i,2,3,1,6,112,-4 @i,3,5,2,6,160,-4 "           \
    "@c,1,1,1,1,960"
#define M3_PLAIN                                                                                   \
    " relu late stem=16 head=1280 @d,1,3,1,1,16 @i,1,3,2,4,24 @i,1,3,1,3,24 @i,3,3,2,3,40 "        \
    "@i,1,3,2,6,80 @i,1,3,1,2.5,80 @i,2,3,1,2.3,80 @i,2,3,1,6,112 @i,3,3,2,6,160 @c,1,1,1,1,960"
#define M3_SMALL                                                                                   \
    " relus=24 late stem=16 head=1024 @d,1,3,2,1,16,-4 @i,1,3,2,4.5,24 @i,1,3,1,3.67,24 @i,1,5,2,4,40,-4 "  \
    "@i,2,5,1,6,40,-4 @i,2,5,1,3,48,-4 @i,3,5,2,6,96,-4 @c,1,1,1,1,576"
#define M3_SMALL_PLAIN                                                                             \
    " relu late stem=16 head=1024 @d,1,3,2,1,16 @i,1,3,2,4.5,24 @i,1,3,1,3.67,24 @i,1,3,2,4,40 "   \
    "@i,2,3,1,6,40 @i,2,3,1,3,48 @i,3,3,2,6,96 @c,1,1,1,1,576"
#define MNAS_A                                                                                     \
    " relu head=1280 @d,1,3,1,1,16 @i,2,3,2,6,24 @i,3,5,2,3,40,4 @i,4,3,2,6,80 @i,2,3,1,6,112,4 "  \
    "@i,3,5,2,6,160,4 @i,1,3,1,6,320"
#define MNAS_B                                                                                     \
    " relu head=1280 @d,1,3,1,1,16 @i,3,3,2,3,24 @i,3,5,2,3,40 @i,3,5,2,6,80 @i,2,3,1,6,96 "       \
    "@i,4,5,2,6,192 @i,1,3,1,6,320"
#define MNAS_SMALL                                                                                 \
    " relu stem=8 head=1280 @d,1,3,1,1,8 @i,1,3,2,3,16 @i,2,3,2,6,16 @i,4,5,2,6,32,4 "             \
    "@i,3,3,1,6,32,4 @i,3,5,2,6,88,4 @i,1,3,1,6,144"
#define MIX_S                                                                                      \
    "relu relus=32 grows=16 head=1536 @d,1,3,1,1,16 @i,1,3,2,6,24,0,2,2 @i,1,3,1,3,24,0,2,2 "                    \
    "@i,1,357,2,6,40,2 @i,3,35,1,6,40,2,2,2 @i,1,357,2,6,80,4,1,2 @i,2,35,1,6,80,4,1,2 "           \
    "@i,1,357,1,6,120,2,2,2 @i,2,3579,1,3,120,2,2,2 @i,1,35791,2,6,200,2 "                         \
    "@i,2,3579,1,6,200,2,1,2"
#define MIX_M(few, many)                                                                           \
    " relu relus=32 grows=24 head=1536 @d,1,3,1,1,24 @i,1,357,2,6,32,0,2,2 @i," few ",3,1,3,32,0,2,2 "           \
    "@i,1,3579,2,6,40,2 @i," many ",35,1,6,40,2,2,2 @i,1,357,2,6,80,4 "                            \
    "@i," many ",3579,1,6,80,4,2,2 @i,1,3,1,6,120,2 @i," many ",3579,1,3,120,2,2,2 "               \
    "@i,1,3579,2,6,200,2 @i," many ",3579,1,6,200,2,1,2"
#define FBNET_C                                                                                    \
    "relu stem=16 head=1984 @i,1,3,1,1,16 @i,1,3,2,6,24 @i,2,3,1,1,24 @i,1,5,2,6,32 "              \
    "@i,1,5,1,3,32 "                                                                               \
    "@i,1,5,1,6,32 @i,1,3,1,6,32 @i,1,5,2,6,64 @i,1,5,1,3,64 @i,2,5,1,6,64 @i,3,5,1,6,112 "        \
    "@i,1,5,1,3,112 @i,4,5,2,6,184 @i,1,3,1,6,352"
#define SPNAS                                                                                      \
    "relu head=1280 @d,1,3,1,1,16 @i,3,3,2,3,24 @i,1,5,2,6,40 @i,3,3,1,3,40 @i,1,5,2,6,80 "        \
    "@i,3,3,1,3,80 @i,1,5,1,6,96 @i,3,5,1,3,96 @i,4,5,2,6,192 @i,1,3,1,6,320"
#define FBNET_B                                                                                    \
    "late unbiased rounded stem=16 head=1984 @d,2,3,1,1,16 @i,1,5,2,4,24 @i,3,5,1,2,24 @i,1,5,2,5,40,4 " \
    "@i,4,5,1,3,40,4 @i,1,5,2,5,72 @i,4,3,1,3,72 @i,1,3,1,5,120,4 @i,5,5,1,3,120,4 "               \
    "@i,1,3,2,6,184,4 @i,5,5,1,4,184,4 @i,1,5,1,6,224,4 @c,1,1,1,1,1344"
#define FBNET_D                                                                                    \
    "late unbiased rounded stem=24 head=1984 @d,2,3,1,1,16 @i,1,3,2,5,24 @i,5,3,1,2,24 @i,1,5,2,4,40,4 " \
    "@i,4,3,1,3,40,4 @i,1,3,2,5,72 @i,4,3,1,3,72 @i,1,3,1,5,128,4 @i,6,5,1,3,128,4 "               \
    "@i,1,3,2,6,208,4 @i,5,5,1,5,208,4 @i,1,5,1,6,240,4 @c,1,1,1,1,1440"
#define FBNET_G                                                                                    \
    "late unbiased rounded stem=32 head=1984 @d,3,3,1,1,24 @i,1,5,2,4,40 @i,4,5,1,2,40 @i,1,5,2,4,56,4 " \
    "@i,4,5,1,3,56,4 @i,1,5,2,5,104 @i,4,3,1,3,104 @i,1,3,1,5,160,4 @i,8,5,1,3,160,4 "             \
    "@i,1,3,2,6,264,4 @i,6,5,1,5,264,4 @i,2,5,1,6,288,4 @c,1,1,1,1,1728"
#define LC                                                                                         \
    " alone behind late grows=16 head=1280 @d,1,3,1,1,32 @d,2,3,2,1,64 @d,2,3,2,1,128 @d,1,3,2,1,256 "          \
    "@d,5,5,1,1,256 @d,2,5,2,1,512,-4"
#define TINY " nearest stem=32 least" B("4")
#define HARD "relus=40 late stem=32 head=1280 @d,1,3,1,1,16 "
#define ROW(name, family, image, spec) DLS_ZOO_IMAGES(name, family, image, dls_zoo_inverted, spec)
#define EN(name, image, spec) ROW("efficientnet" name, "efficientnet", image, spec)
#define MN(name, spec) ROW(name, "mobilenet", 224, spec)

static const dls_zoo_model rows[] = {
    EN("_b5", 456, "width=1.6 depth=2.2" B("4")),
    EN("_b6", 528, "width=1.8 depth=2.6" B("4")),
    EN("_b7", 600, "width=2 depth=3.1" B("4")),
    EN("_b8", 672, "width=2.2 depth=3.6" B("4")),
    EN("_l2", 800, "width=4.3 depth=5.3" B("4")),
    EN("_lite0", 224, "relu6 stem=32 head=1280 ends" B("0")),
    EN("_lite1", 240, "relu6 stem=32 head=1280 ends depth=1.1" B("0")),
    EN("_lite2", 260, "relu6 stem=32 head=1280 ends width=1.1 depth=1.2" B("0")),
    EN("_lite3", 300, "relu6 stem=32 head=1280 ends width=1.2 depth=1.4" B("0")),
    EN("_lite4", 380, "relu6 stem=32 head=1280 ends width=1.4 depth=1.8" B("0")),
    EN("_es", 224, EDGE),
    EN("_em", 240, "depth=1.1 " EDGE),
    EN("_el", 300, "width=1.2 depth=1.4 " EDGE),
    EN("v2_b0", 192, V2B),
    EN("v2_b1", 192, "depth=1.1" V2B),
    EN("v2_b2", 208, "width=1.1 depth=1.2" V2B),
    EN("v2_b3", 240, "width=1.2 depth=1.4" V2B),
    EN("v2_s", 288, "stem=24 head=1280" V2S),
    EN("v2_rw_t", 224, "grows=24 width=0.8 depth=0.9 head=1024" V2S),
    ROW("gc_efficientnetv2_rw_t", "efficientnet", 224,
        "context grows=24 width=0.8 depth=0.9 head=1024" V2S),
    EN("v2_rw_s", 288,
       "stem=24 head=1792 @e,2,3,1,1,24 @e,4,3,2,4,48 @e,4,3,2,4,64 @i,6,3,2,4,128,4 "
       "@i,9,3,1,6,160,4 @i,15,3,2,6,272,4"),
    EN("v2_rw_m", 320,
       "stem=32 head=2152 @e,3,3,1,1,32 @e,5,3,2,4,56 @e,5,3,2,4,80 @i,8,3,2,4,152,4 "
       "@i,15,3,1,6,192,4 @i,24,3,2,6,328,4"),
    EN("v2_m", 320,
       "stem=24 head=1280 @c,3,3,1,1,24 @e,5,3,2,4,48 @e,5,3,2,4,80 @i,7,3,2,4,160,4 "
       "@i,14,3,1,6,176,4 @i,18,3,2,6,304,4 @i,5,3,1,6,512,4"),
    EN("v2_l", 384,
       "stem=32 head=1280 @c,4,3,1,1,32 @e,7,3,2,4,64 @e,7,3,2,4,96 @i,10,3,2,4,192,4 "
       "@i,19,3,1,6,224,4 @i,25,3,2,6,384,4 @i,7,3,1,6,640,4"),
    EN("v2_xl", 384,
       "stem=32 head=1280 @c,4,3,1,1,32 @e,8,3,2,4,64 @e,8,3,2,4,96 @i,16,3,2,4,192,4 "
       "@i,24,3,1,6,256,4 @i,32,3,2,6,512,4 @i,8,3,1,6,640,4"),
    EN("_b1_pruned", 240,
       "divisor=1 stem=32 head=1280 @p,1,3,1,0,16,8 @p,1,3,1,0,16,4 @p,1,3,2,48,12,4 "
       "@p,1,3,1,62,12,6 @p,1,3,1,48,12,6 @p,1,5,2,70,35,6 @p,1,5,1,61,35,10 @p,1,5,1,51,35,10 "
       "@p,1,3,2,175,74,10 @p,1,3,1,188,74,20 @p,1,3,1,137,74,20 @p,1,3,1,164,74,20 "
       "@p,1,5,1,399,67,20 @p,1,5,1,201,67,28 @p,1,5,1,160,67,28 @p,1,5,1,213,67,28 "
       "@p,1,5,2,637,192,27 @p,1,5,1,806,192,48 @p,1,5,1,798,192,48 @p,1,5,1,891,192,48 "
       "@p,1,5,1,990,192,48 @p,1,3,1,1152,320,48 @p,1,3,1,1912,320,80"),
    EN("_b2_pruned", 260,
       "divisor=1 stem=32 head=1408 @p,1,3,1,0,16,8 @p,1,3,1,0,16,4 @p,1,3,2,54,17,4 "
       "@p,1,3,1,69,17,6 @p,1,3,1,61,17,6 @p,1,5,2,86,42,6 @p,1,5,1,72,42,12 @p,1,5,1,98,42,12 "
       "@p,1,3,2,245,85,12 @p,1,3,1,274,85,22 @p,1,3,1,254,85,22 @p,1,3,1,292,85,22 "
       "@p,1,5,1,502,116,22 @p,1,5,1,315,116,30 @p,1,5,1,354,116,30 @p,1,5,1,443,116,30 "
       "@p,1,5,2,719,208,30 @p,1,5,1,1148,208,52 @p,1,5,1,1160,208,52 @p,1,5,1,1182,208,52 "
       "@p,1,5,1,1228,208,52 @p,1,3,1,1248,352,52 @p,1,3,1,2112,352,88"),
    EN("_b3_pruned", 300,
       "divisor=1 stem=40 head=1536 @p,1,3,1,0,24,10 @p,1,3,1,0,24,6 @p,1,3,2,27,12,6 "
       "@p,1,3,1,49,12,8 @p,1,3,1,48,12,8 @p,1,5,2,83,40,8 @p,1,5,1,90,40,12 @p,1,5,1,85,40,12 "
       "@p,1,3,2,215,93,12 @p,1,3,1,261,93,24 @p,1,3,1,219,93,24 @p,1,3,1,254,93,24 "
       "@p,1,3,1,236,93,24 @p,1,5,1,480,120,24 @p,1,5,1,235,120,34 @p,1,5,1,217,120,34 "
       "@p,1,5,1,226,120,33 @p,1,5,1,340,120,34 @p,1,5,2,802,232,34 @p,1,5,1,1030,232,58 "
       "@p,1,5,1,924,232,58 @p,1,5,1,1016,232,58 @p,1,5,1,1130,232,58 @p,1,5,1,1266,232,58 "
       "@p,1,3,1,1392,384,58 @p,1,3,1,2301,384,96"),
    EN("_cc_b0_4e", 224, "depth=1" CC("4")),
    EN("_cc_b0_8e", 224, "depth=1" CC("8")),
    EN("_cc_b1_8e", 240, "depth=1.1" CC("8")),
    EN("_b0_gn", 224, "width=1 depth=1 layer" DLS_ZOO_EFFICIENTNET),
    EN("_b0_g8_gn", 224, "width=1 depth=1 layer group=8" DLS_ZOO_EFFICIENTNET),
    EN("_b0_g16_evos", 224, "width=1 depth=1 divisor=16 group=16" DLS_ZOO_EFFICIENTNET),
    EN("_b3_gn", 288, "width=1.2 depth=1.4 divisor=16 layer" DLS_ZOO_EFFICIENTNET),
    EN("_b3_g8_gn", 288, "width=1.2 depth=1.4 divisor=16 layer group=8" DLS_ZOO_EFFICIENTNET),
    ROW("tinynet_a", "efficientnet", 192, "width=1 depth=1.2" TINY),
    ROW("tinynet_b", "efficientnet", 188, "width=0.75 depth=1.1" TINY),
    ROW("tinynet_c", "efficientnet", 184, "width=0.54 depth=0.85" TINY),
    ROW("tinynet_d", "efficientnet", 152, "width=0.54 depth=0.695" TINY),
    ROW("tinynet_e", "efficientnet", 106, "width=0.51 depth=0.6" TINY),
    MN("mobilenetv2_035", "width=0.35 least" M2),
    MN("mobilenetv2_050", "width=0.5 least" M2),
    MN("mobilenetv2_075", "width=0.75 least" M2),
    MN("mobilenetv2_140", "width=1.4" M2),
    MN("mobilenetv2_110d", "width=1.1 depth=1.2 ends stem=32 head=1280" M2),
    MN("mobilenetv2_120d", "width=1.2 depth=1.4 ends stem=32 head=1280" M2),
    MN("mobilenetv3_large_075", "width=0.75" M3),
    MN("mobilenetv3_large_100", "width=1" M3),
    MN("mobilenetv3_rw", "width=1 alone" M3),
    MN("mobilenetv3_large_minimal_100", M3_PLAIN),
    MN("mobilenetv3_small_050", "width=0.5" M3_SMALL),
    MN("mobilenetv3_small_075", "width=0.75" M3_SMALL),
    MN("mobilenetv3_small_100", "width=1" M3_SMALL),
    MN("mobilenetv3_small_minimal_100", M3_SMALL_PLAIN),
    MN("semnasnet_050", "width=0.5" MNAS_A),
    MN("semnasnet_075", "width=0.75" MNAS_A),
    MN("semnasnet_100", "width=1" MNAS_A),
    MN("semnasnet_140", "width=1.4" MNAS_A),
    MN("mnasnet_050", "width=0.5" MNAS_B),
    MN("mnasnet_075", "width=0.75" MNAS_B),
    MN("mnasnet_100", "width=1" MNAS_B),
    MN("mnasnet_130", "width=1.3" MNAS_B),
    MN("mnasnet_140", "width=1.4" MNAS_B),
    MN("mnasnet_small", MNAS_SMALL),
    MN("mixnet_s", MIX_S),
    MN("mixnet_m", "width=1" MIX_M("1", "3")),
    MN("mixnet_l", "width=1.3" MIX_M("1", "3")),
    MN("mixnet_xl", "width=1.6" MIX_M("1", "4")),
    MN("mixnet_xxl", "width=2.4" MIX_M("2", "4")),
    MN("fbnetc_100", FBNET_C),
    MN("spnasnet_100", SPNAS),
    MN("fbnetv3_b", FBNET_B),
    MN("fbnetv3_d", FBNET_D),
    MN("fbnetv3_g", FBNET_G),
    MN("lcnet_035", "width=0.35" LC),
    MN("lcnet_050", "width=0.5" LC),
    MN("lcnet_075", "width=0.75" LC),
    MN("lcnet_100", "width=1" LC),
    MN("lcnet_150", "width=1.5" LC),
    MN("hardcorenas_a", HARD
       "@i,1,5,2,3,24 @i,1,5,1,3,24,-4 @i,1,5,2,3,40 @i,1,5,1,6,40,-4 @i,1,5,2,6,80,-4 "
       "@i,1,5,1,6,80,-4 @i,2,5,1,6,112,-4 @i,1,5,2,6,192,-4 @i,1,5,1,6,192,-4 @c,1,1,1,1,960"),
    MN("hardcorenas_b", HARD
       "@i,1,5,2,3,24 @i,1,5,1,3,24,-4 @i,1,3,1,3,24 @i,1,5,2,3,40 @i,2,5,1,3,40 @i,1,5,2,3,80 "
       "@i,1,5,1,3,80 @i,2,3,1,3,80 @i,1,5,1,3,112 @i,3,3,1,3,112 @i,1,5,2,6,192,-4 "
       "@i,1,5,1,6,192,-4 @i,1,3,1,3,192,-4 @c,1,1,1,1,960"),
    MN("hardcorenas_c",
       HARD "@i,1,5,2,3,24 @i,1,5,1,3,24,-4 @i,1,5,2,3,40 @i,3,5,1,3,40 @i,1,5,2,4,80 "
            "@i,1,5,1,6,80,-4 @i,2,3,1,3,80 @i,1,5,1,6,112,-4 @i,3,3,1,3,112 @i,1,5,2,6,192,-4 "
            "@i,1,5,1,6,192,-4 @i,1,3,1,3,192,-4 @c,1,1,1,1,960"),
    MN("hardcorenas_d", HARD
       "@i,1,5,2,3,24,-4 @i,1,5,1,3,24,-4 @i,1,5,2,3,40,-4 @i,1,5,1,4,40,-4 @i,1,3,1,3,40,-4 "
       "@i,1,5,2,4,80,-4 @i,3,3,1,3,80,-4 @i,1,3,1,4,112,-4 @i,1,5,1,4,112,-4 @i,1,3,1,3,112,-4 "
       "@i,1,5,1,3,112,-4 @i,1,5,2,6,192,-4 @i,2,5,1,6,192,-4 @i,1,3,1,6,192,-4 @c,1,1,1,1,960"),
    MN("hardcorenas_e", HARD
       "@i,1,5,2,3,24,-4 @i,1,5,1,3,24,-4 @i,1,5,2,6,40,-4 @i,2,5,1,4,40,-4 @i,1,3,1,3,40,-4 "
       "@i,1,5,2,4,80,-4 @i,1,3,1,6,80,-4 @i,3,5,1,6,112,-4 @i,1,5,1,3,112,-4 @i,1,5,2,6,192,-4 "
       "@i,2,5,1,6,192,-4 @i,1,3,1,6,192,-4 @c,1,1,1,1,960"),
    MN("hardcorenas_f", HARD
       "@i,1,5,2,3,24,-4 @i,1,5,1,3,24,-4 @i,1,5,2,6,40,-4 @i,1,5,1,6,40,-4 @i,1,5,2,6,80,-4 "
       "@i,1,5,1,6,80,-4 @i,2,3,1,3,80,-4 @i,1,3,1,6,112,-4 @i,2,5,1,6,112,-4 @i,1,3,1,3,112,-4 "
       "@i,1,5,2,6,192,-4 @i,1,5,1,6,192,-4 @i,2,3,1,6,192,-4 @c,1,1,1,1,960"),
};

const dls_zoo_table dls_zoo_mobiles = {rows, sizeof rows / sizeof rows[0]};
