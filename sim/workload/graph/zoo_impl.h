/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the zoo: models that came out of files (zoo_file.c), and families whose members a text
 * describes: one file each, with the table of its members.
 */
#ifndef DLS_GRAPH_ZOO_IMPL_H
#define DLS_GRAPH_ZOO_IMPL_H

#include "workload/graph/blocks.h"
#include "workload/graph/zoo.h"

/* false: the model is none of a file. Else *status is what became of it. */
bool dls_zoo_build_file(const dls_zoo_model *model, const dls_zoo_options *options,
                        dls_opgraph **out, dls_status *status, dls_error *err);

typedef struct dls_zoo_table {
    const dls_zoo_model *row;
    size_t n;
} dls_zoo_table;

extern const dls_zoo_table dls_zoo_resnets, dls_zoo_regnets, dls_zoo_mobiles, dls_zoo_patches,
    dls_zoo_windows, dls_zoo_classes, dls_zoo_plain, dls_zoo_shared, dls_zoo_decoders, dls_zoo_shuffles,
    dls_zoo_normfree, dls_zoo_csp, dls_zoo_multi, dls_zoo_stages, dls_zoo_separable,
    dls_zoo_pyramids, dls_zoo_paths, dls_zoo_seeing, dls_zoo_hearing,
    dls_zoo_scales, dls_zoo_levits, dls_zoo_cells, dls_zoo_maxvits, dls_zoo_relatives, dls_zoo_encdecs,
    dls_zoo_clips, dls_zoo_clicks, dls_zoo_boxes, dls_zoo_diffusions, dls_zoo_mixtures;

/* A row of a family's table: a model of ImageNet's 1000 classes, its design and its usual image. */
#define DLS_ZOO_IMAGES(name_, family_, image_, design_, spec_)                                     \
    {                                                                                              \
        .name = (name_), .family = (family_), .dataset = "imagenet", .batch = 64,                  \
        .optimiser = DLS_OPTIMISER_MOMENTUM, .decay = true, .design = (design_), .spec = (spec_),  \
        .image = (image_)                                                                          \
    }

/* The same of tokens. */
#define DLS_ZOO_TEXTS(name_, family_, dataset_, batch_, sequence_, design_, spec_)                 \
    {                                                                                              \
        .name = (name_), .family = (family_), .dataset = (dataset_), .batch = (batch_),            \
        .sequence = (sequence_), .optimiser = DLS_OPTIMISER_ADAM, .design = (design_),             \
        .spec = (spec_)                                                                            \
    }

/* A specification is words with blanks between them, "deep 3,4,6,3 groups=32": is the word there;
 * the number behind "key=", else `otherwise`; the numbers of "key=a,b,c", how many. */
bool dls_spec_has(const char *spec, const char *word);
/* The numbers that stand at `at`, a ',' or '=' before each; how many, at most max. */
int dls_spec_list(const char *at, double *out, int max);
double dls_spec_number(const char *spec, const char *key, double otherwise);
int dls_spec_numbers(const char *spec, const char *key, double *out, int max);
/* Which of the norms that have their activation in them a word names: evos, evob or frn. */
dls_block_norm dls_spec_norm(const char *spec);
/* The nearest multiple of `of` that is not below it and is not less than that share of the channels. */
int32_t dls_zoo_round_within(double channels, int32_t of, double share);
int32_t dls_zoo_round(double channels, int32_t of); /* 0.9 of them */
/* Designs that rows of the first table have; "" is for those without members.
 * inception's is the name of one. */
dls_zoo_design dls_zoo_lenet, dls_zoo_alexnet, dls_zoo_resnet_cifar, dls_zoo_densenet_cifar,
    dls_zoo_mobilenet, dls_zoo_inception, dls_zoo_seq2seq, dls_zoo_transformer, dls_zoo_bert,
    dls_zoo_lstm_lm, dls_zoo_autoencoder, dls_zoo_llama, dls_zoo_switch, dls_zoo_ncf, dls_zoo_dlrm,
    dls_zoo_vgg, dls_zoo_densenet, dls_zoo_residual, dls_zoo_inverted;
dls_tensor dls_zoo_residual_trunk(dls_net *net, const char *spec); /* all but the classifier */
/* The same, and what each stage makes. */
dls_tensor dls_zoo_residual_stages(dls_net *net, const char *spec, dls_tensor of[4]);
/* The convolution of a residual block as more than one, out channels, with norm and activation;
 * first: of its stage; -1: the spec says nothing of that kind (zoo_split.c). */
dls_tensor dls_zoo_split_conv(dls_net *net, dls_tensor x, int32_t out, int32_t stride,
                              int32_t groups, bool first, const char *spec);
/* One stage of CSPNet or DarkNet, n blocks, spec as in zoo_csp.c; stages count from 0. */
dls_tensor dls_zoo_csp_stage(dls_net *net, dls_tensor x, int32_t out, int n, int stage,
                             const char *spec);
/* Specs of inverted: */
#define DLS_ZOO_MOBILENET2                                                                         \
    "relu6 @d,1,3,1,1,16 @i,2,3,2,6,24 @i,3,3,2,6,32 @i,4,3,2,6,64 @i,3,3,1,6,96 @i,3,3,2,6,160 "  \
    "@i,1,3,1,6,320"
#define DLS_ZOO_MBCONV(excite)                                                                     \
    " @d,1,3,1,1,16," excite " @i,2,3,2,6,24," excite " @i,2,5,2,6,40," excite                     \
    " @i,3,3,2,6,80," excite " @i,3,5,1,6,112," excite " @i,4,5,2,6,192," excite                   \
    " @i,1,3,1,6,320," excite
#define DLS_ZOO_EFFICIENTNET DLS_ZOO_MBCONV("4")
/* Mean over the image, one product to 1000 classes, loss. */
void dls_zoo_classify(dls_net *net, dls_tensor x);

#endif
