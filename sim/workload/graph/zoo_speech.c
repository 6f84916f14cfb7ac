/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Speech recognition: Deep Speech 2 (Amodei et al., 2016) as PyTorch's usual implementation has it
 * (deepspeech.pytorch, which Pollux trains with 5 layers of 800): two convolutions over a
 * spectrogram, layers of bidirectional GRUs whose directions are added, letters. A spectrogram has
 * 161 frequencies (20 ms of 16 kHz) and a frame for each 10 ms: a sequence's tokens are frames.
 *
 * Frames behind a sound's end are masked after each of the convolutions' six parts. The loss (CTC)
 * is counted as a cross entropy over the letters of all frames.
 *
 * RNN-T (Graves, 2012) as MLPerf Training 1.0 to 2.1 has it: layers of LSTMs that hear, layers of LSTMs that have read
 * what was said, and a network that holds each step of the first against each of the second. How many pieces of words a
 * sound has is taken from its length: one for each 270 ms, as LibriSpeech has about. Its loss is counted as a cross
 * entropy over the pieces of all pairs of steps.
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define FREQUENCIES 161
#define LETTERS 29
#define GATES 3 /* of a GRU */
#define COPIED 2 /* passes of a copy: read here, written there */

/* A copy, and zeros where nothing is heard; back the same. */
static dls_tensor masked(dls_net *net, dls_tensor x)
{
    for (int i = 0; i < 2; i++) {
        x = dls_net_pass(net, x, DLS_OP_SELECT, COPIED);
    }
    return x;
}

static dls_tensor heard(dls_net *net, dls_tensor x, int32_t kernel_h, int32_t stride_w)
{
    x = masked(net, dls_net_conv(net, x,
                                 (dls_conv){.out = 32,
                                            .kernel_h = kernel_h,
                                            .kernel_w = 11,
                                            .stride = 2,
                                            .stride_w = stride_w,
                                            .pad = DLS_PAD_SAME,
                                            .bias = true}));
    x = masked(net, dls_net_batch_norm(net, x));
    return masked(net, dls_net_relu(net, x));
}

/* Both directions of a layer, added; sounds of unequal length are packed for it and unpacked. */
static dls_tensor bidirectional(dls_net *net, dls_tensor x, int64_t width)
{
    dls_tensor way[2];
    x = dls_net_pass(net, x, DLS_OP_TRANSPOSE, COPIED);
    for (int i = 0; i < 2; i++) {
        way[i] = dls_net_recurrence(net, dls_net_dense(net, x, GATES * width, true), width);
        way[i] = dls_net_pass(net, way[i], DLS_OP_TRANSPOSE, COPIED);
    }
    return dls_net_add(net, way[0], way[1]);
}

static void deepspeech2(dls_net *net, const char *spec)
{
    const int64_t width = (int64_t)dls_spec_number(spec, "width", 800);
    const int layers = (int)dls_spec_number(spec, "layers", 5);
    dls_tensor x = dls_net_image(net, FREQUENCIES, dls_net_sequence(net), 1);
    x = heard(net, heard(net, x, 41, 2), 21, 1);
    x = dls_net_transpose(net, x); /* frame by frame */
    x = dls_net_reshape(net, x, 3,
                        (int64_t[]){dls_net_dim(net, x, 0), dls_net_dim(net, x, 1),
                                    dls_net_dim(net, x, 2) * dls_net_dim(net, x, 3)});
    for (int i = 0; i < layers; i++) {
        x = bidirectional(net, i > 0 ? dls_net_batch_norm(net, x) : x, width);
    }
    x = dls_net_dense(net, dls_net_batch_norm(net, x), LETTERS, false);
    dls_net_loss(net, x);
}

/* ---- RNN-T ----------------------------------------------------------------------------------- */

#define LSTM_GATES 4
#define HEARD (3 * 80) /* frequencies of three frames, which are one step */
#define STACKED 2      /* steps that are one behind the second layer */
#define A_PIECE 27     /* frames of a piece of a word */
#define PIECES 1024    /* with that of nothing said */
#define WIDTH 1024
#define NARROW 512 /* of what reads, and of both together */

static dls_tensor lstms(dls_net *net, dls_tensor x, int n, int64_t width)
{
    for (int i = 0; i < n; i++) {
        x = dls_net_recurrence(net, dls_net_dense(net, x, LSTM_GATES * width, true), width);
        x = dls_net_dropout(net, x);
    }
    return x;
}

static void rnnt(dls_net *net, const char *spec)
{
    const int64_t b = dls_net_batch(net), frames = dls_net_sequence(net);
    const int64_t steps = (frames + 3 * STACKED - 1) / (3 * STACKED), pieces = 1 + frames / A_PIECE;
    dls_tensor x = dls_net_dense_input(net, (int32_t)(steps * STACKED * HEARD));
    x = lstms(net, dls_net_reshape(net, x, 3, (int64_t[]){b, steps * STACKED, HEARD}), 2, WIDTH);
    x = lstms(net, dls_net_reshape(net, x, 3, (int64_t[]){b, steps, STACKED * WIDTH}), 3, WIDTH);
    x = dls_net_dense(net, x, NARROW, true);
    dls_tensor y = lstms(net, dls_block_embed(net, PIECES - 1, NARROW, (int32_t)pieces), 2, NARROW);
    y = dls_net_reshape(net, dls_net_dense(net, y, NARROW, true), 4, (int64_t[]){b, 1, pieces, NARROW});
    x = dls_net_windows(net, x, 4, (int64_t[]){b, steps, pieces, NARROW});
    x = dls_net_dropout(net, dls_net_relu(net, dls_net_add(net, x, y)));
    dls_net_loss(net, dls_net_dense(net, x, PIECES, true));
}

/* The sounds of CMU ARCTIC, that of Pollux's runs, are of 3 s in the mean; the longest of a batch
 * of 20, to which the others are filled up, of 5. */
static const dls_zoo_model rows[] = {
    {.name = "deepspeech2",
     .family = "deepspeech",
     .dataset = "cmu_arctic",
     .batch = 20,
     .sequence = 500,
     .optimiser = DLS_OPTIMISER_MOMENTUM,
     .design = deepspeech2,
     .spec = "layers=5 width=800"},
    /* LibriSpeech's 281,241 sounds are of 12.3 s in the mean. */
    {.name = "rnnt",
     .family = "rnnt",
     .dataset = "librispeech",
     .batch = 32,
     .sequence = 1230,
     .optimiser = DLS_OPTIMISER_ADAM,
     .design = rnnt,
     .spec = ""},
};

const dls_zoo_table dls_zoo_hearing = {rows, sizeof rows / sizeof rows[0]};
