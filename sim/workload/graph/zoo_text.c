/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Language models and translation. Sizes of T5 with its version 1.1 (Raffel et al., 2020), whose
 * relative positions the first layer of a stack has for all, and of ALBERT as in Hugging Face's
 * configurations.
 *
 *      width=768 layers=12 heads=12 inner=3072
 *      words=30522 kinds=2 places=512   of BERT: rows of its tables; word=128: their width, and all
 *                                       layers are one
 *      of_tanh     GELU is spelled out by its tanh
 *      electra     BERT: each layer is its own, and it is fine-tuned alone, by a head with GELU
 *      opt         GPT: OPT's activation and table; word=512: its width, and norms are behind
 *      each=64     of T5, of each head; the heads' sum need not be the width
 *      gated       version 1.1: a gate beside GELU, an output of its own; words=250112: mT5's
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

typedef struct sizes {
    int64_t width, layers, heads, head, inner;
    bool gated;
} sizes;

static sizes sizes_of(const char *spec)
{
    return (sizes){.width = (int64_t)dls_spec_number(spec, "width", 0),
                   .layers = (int64_t)dls_spec_number(spec, "layers", 0),
                   .heads = (int64_t)dls_spec_number(spec, "heads", 0),
                   .head = (int64_t)dls_spec_number(spec, "each", 64),
                   .inner = (int64_t)dls_spec_number(spec, "inner", 0),
                   .gated = dls_spec_has(spec, "gated")};
}

/* All but the last token's logits are copied; back into zeros. */
#define BACK_SHIFT 3

/* ---- recurrent ------------------------------------------------------------------------------- */

/* Sutskever et al., 2014, with the attention of Luong et al., 2015: 2 or 4 layers of 512 or 1024.
 */
void dls_zoo_seq2seq(dls_net *net, const char *spec)
{
    const sizes s = sizes_of(spec);
    const int32_t width = (int32_t)s.width;
    const int64_t vocabulary = 32000;
    const int32_t t = dls_net_sequence(net);
    dls_tensor source = dls_block_embed(net, vocabulary, width, t);
    dls_tensor target = dls_block_embed(net, vocabulary, width, t);
    for (int32_t i = 0; i < s.layers; i++) {
        source = dls_block_lstm(net, dls_net_dropout(net, source), width);
    }
    for (int32_t i = 0; i < s.layers; i++) {
        target = dls_block_lstm(net, dls_net_dropout(net, target), width);
    }
    const dls_tensor query = dls_net_dense(net, target, width, false);
    const dls_tensor context = dls_block_attend(net, query, source, source);
    dls_tensor y = dls_net_concat(net, (dls_tensor[]){context, target}, 2);
    y = dls_net_unary(net, dls_net_dense(net, y, width, false), DLS_OP_TANH);
    dls_net_loss(net, dls_net_dense(net, y, vocabulary, true));
}

/* ---- attention ------------------------------------------------------------------------------- */

/* Vaswani et al., 2017: one table of 37000 byte pairs for source, target and output. */
void dls_zoo_transformer(dls_net *net, const char *spec)
{
    const sizes s = sizes_of(spec);
    const int64_t width = s.width;
    const dls_block_heads b = {.heads = s.heads, .dropout = true};
    const int32_t t = dls_net_sequence(net);
    const dls_embedding table = dls_net_table(net, 37000, width);
    dls_tensor x = dls_net_lookup(net, table, dls_net_indices(net, t));
    dls_tensor y = dls_net_lookup(net, table, dls_net_indices(net, t));
    x = dls_net_dropout(net, dls_net_scale(net, x));
    y = dls_net_dropout(net, dls_net_scale(net, y));
    for (int i = 0; i < 6; i++) {
        x = dls_block_post_norm(net, x, dls_block_attention(net, x, x, b));
        x = dls_block_post_norm(net, x, dls_block_feed_forward(net, x, 4 * width, DLS_OP_RELU, b));
    }
    for (int i = 0; i < 6; i++) {
        y = dls_block_post_norm(net, y, dls_block_attention(net, y, y, b));
        y = dls_block_post_norm(net, y, dls_block_attention(net, y, x, b));
        y = dls_block_post_norm(net, y, dls_block_feed_forward(net, y, 4 * width, DLS_OP_RELU, b));
    }
    dls_net_loss(net, dls_net_tied(net, y, table, false));
}

/* Devlin et al., 2019, fine-tuned: the pooled first token decides between two classes. Where
 * PyTorch's training is asked for, it is pretraining: a word for every token beside. RoBERTa (Liu
 * et al., 2019) and DistilBERT (Sanh et al., 2019) have other tables; all layers of ALBERT (Lan et
 * al., 2020) are one, and its words are narrower. ELECTRA (Clark et al., 2020) is pretrained beside
 * a second network, which is not here: it is fine-tuned always. */
void dls_zoo_bert(dls_net *net, const char *spec)
{
    const sizes s = sizes_of(spec);
    const int64_t word = (int64_t)dls_spec_number(spec, "word", (double)s.width);
    const int64_t n_kinds = (int64_t)dls_spec_number(spec, "kinds", 2);
    const int64_t places = (int64_t)dls_spec_number(spec, "places", 512);
    const dls_block_heads b = {.heads = s.heads,
                               .style = DLS_BLOCK_BERT,
                               .bias = true,
                               .dropout = true,
                               .of_tanh = dls_spec_has(spec, "of_tanh")};
    const bool electra = dls_spec_has(spec, "electra");
    const int32_t t = dls_net_sequence(net);
    const dls_embedding words =
        dls_net_table(net, (int64_t)dls_spec_number(spec, "words", 30522), word);
    /* Variables stand in the order in which each implementation has them. */
    dls_embedding kinds = word < s.width ? dls_net_table(net, n_kinds, word) : -1;
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, t));
    if (n_kinds > 0) {
        kinds = word < s.width ? kinds : dls_net_table(net, n_kinds, word);
        x = dls_net_add(net, x, dls_net_lookup(net, kinds, dls_net_indices(net, t)));
    }
    x = dls_net_add_rows(net, x, dls_net_table(net, places, word));
    x = dls_net_dropout(net, dls_net_layer_norm(net, x));
    x = word < s.width ? dls_net_dense(net, x, s.width, true) : x;
    const int32_t layer = dls_net_trained(net);
    for (int64_t i = 0; i < s.layers; i++) {
        if (i > 0 && word < s.width && !electra) {
            dls_net_share(net, layer);
        }
        x = dls_block_post_norm(net, x, dls_block_attention(net, x, x, b));
        x = dls_block_post_norm(net, x,
                                dls_block_feed_forward(net, x, 4 * s.width, DLS_OP_GELU, b));
    }
    if (dls_net_trains_eagerly(net) && !electra) {
        dls_tensor y = dls_net_unary(net, dls_net_dense(net, x, word, true), DLS_OP_GELU);
        dls_net_loss(net, dls_net_tied(net, dls_net_layer_norm(net, y), words, true));
    }
    x = dls_net_dense(net, dls_net_first_token(net, x), s.width, true);
    x = dls_net_dropout(net, dls_net_unary(net, x, electra ? DLS_OP_GELU : DLS_OP_TANH));
    dls_net_loss(net, dls_net_dense(net, x, 2, true));
}

/* Radford et al., 2019: norm first, output tied to the table of words. Sizes of GPT-2, of GPT-3
 * (Brown et al., 2020, all attention dense) and of OPT (Zhang et al., 2022). The paper's row
 * of GPT-3 XL contradicts itself: a width of 2048 (1.3B parameters), 24 heads of 128, which are
 * 3072. The name XL is for the heads. OPT-350M alone has norms behind, and words of half its width. */
void dls_zoo_gpt(dls_net *net, const char *spec)
{
    const sizes s = sizes_of(spec);
    const int64_t width = s.width;
    const int32_t t = dls_net_sequence(net);
    const bool opt = dls_spec_has(spec, "opt");
    const dls_op_kind activation = opt ? DLS_OP_RELU : DLS_OP_GELU;
    const dls_block_heads b = {.heads = s.heads,
                               .style = opt ? DLS_BLOCK_OPT : DLS_BLOCK_GPT,
                               .bias = true,
                               .dropout = true};
    const int64_t word = (int64_t)dls_spec_number(spec, "word", (double)width);
    const bool behind = word < width;
    const dls_embedding words = dls_net_table(net, dls_net_part(net, opt ? 50272 : 50257), word);
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, t));
    x = behind ? dls_net_dense(net, x, width, false) : x;
    x = dls_net_add_rows(net, x, dls_net_table(net, t > 1024 ? t : 1024, width));
    x = opt && dls_net_eager(net) ? x : dls_net_dropout(net, x);
    for (int i = 0; i < s.layers; i++) {
        dls_tensor y = behind ? x : dls_net_layer_norm(net, x);
        x = dls_net_add(net, x, dls_block_attention(net, y, y, b));
        x = behind ? dls_net_layer_norm(net, x) : x;
        y = behind ? x : dls_net_layer_norm(net, x);
        x = dls_net_add(net, x, dls_block_feed_forward(net, y, 4 * width, activation, b));
        x = behind ? dls_net_layer_norm(net, x) : x;
    }
    x = behind ? dls_net_dense(net, x, word, false) : dls_net_layer_norm(net, x);
    x = dls_net_tied(net, x, words, false);
    if (dls_net_trains_eagerly(net)) {
        x = dls_net_pass(net, x, DLS_OP_SLICE, BACK_SHIFT);
    }
    dls_net_loss(net, x);
}

/* PyTorch's word_language_model on WikiText-2 with its defaults, Gavel's "LM": two layers of 200.
 */
void dls_zoo_lstm_lm(dls_net *net, const char *spec)
{
    const int64_t vocabulary = 33278;
    dls_tensor x = dls_block_embed(net, vocabulary, 200, dls_net_sequence(net));
    for (int i = 0; i < 2; i++) {
        x = dls_block_lstm(net, dls_net_dropout(net, x), 200);
    }
    dls_net_loss(net, dls_net_dense(net, dls_net_dropout(net, x), vocabulary, true));
}

/* Fedus et al., 2022, as Hugging Face runs it (T5's encoder and decoder): every second layer has 4
 * experts, of which a token passes one and each takes 64 tokens of a sequence; the rest pass by.
 * Sizes as NeuSight measured. The router shares the tokens evenly here. */
enum { SWITCH_WIDTH = 1024, SWITCH_INNER = 16384, SWITCH_LAYERS = 24 };
enum { SWITCH_EXPERTS = 4, SWITCH_ROOM = 64, SWITCH_BUCKETS = 32, SWITCH_HEADS = 32 };

static dls_tensor switch_expert(dls_net *net, dls_tensor x)
{
    const dls_tensor y = dls_net_relu(net, dls_net_dense(net, x, SWITCH_INNER, false));
    return dls_net_dense(net, dls_net_dropout(net, y), SWITCH_WIDTH, false);
}

/* Tokens are brought together for their experts, and back. */
static dls_tensor switch_experts(dls_net *net, dls_tensor x)
{
    const int64_t b = dls_net_batch(net);
    const int64_t t = dls_net_dim(net, x, 1);
    const int64_t each = t < SWITCH_EXPERTS * SWITCH_ROOM ? t / SWITCH_EXPERTS : SWITCH_ROOM;
    const int64_t rest = t - SWITCH_EXPERTS * each;
    dls_tensor share[SWITCH_EXPERTS], y[SWITCH_EXPERTS + 1];
    dls_net_split(net, dls_net_softmax(net, dls_net_dense(net, x, SWITCH_EXPERTS, false)),
                  SWITCH_EXPERTS, share);
    for (int i = 0; i < SWITCH_EXPERTS && each > 0; i++) {
        y[i] = dls_net_flatten(net, switch_expert(net, dls_net_tokens(net, x, each)));
    }
    if (rest > 0) {
        y[each > 0 ? SWITCH_EXPERTS : 0] = dls_net_flatten(net, dls_net_tokens(net, x, rest));
    }
    const int n = (each > 0 ? SWITCH_EXPERTS : 0) + (rest > 0);
    const dls_tensor all =
        dls_net_reshape(net, dls_net_concat(net, y, n), 3, (int64_t[]){b, t, SWITCH_WIDTH});
    return dls_net_mul(net, all, share[0]);
}

/* One of the two stacks; the decoder's also attends to what the encoder said. */
static dls_tensor switch_stack(dls_net *net, dls_embedding words, const dls_tensor *encoded)
{
    const int64_t b = dls_net_batch(net);
    const int32_t t = dls_net_sequence(net);
    const dls_embedding buckets = dls_net_table(net, SWITCH_BUCKETS, SWITCH_HEADS);
    dls_tensor offset = dls_net_lookup(net, buckets, dls_net_indices(net, t * t));
    offset =
        dls_net_reshape(net, dls_net_transpose(net, offset), 4, (int64_t[]){b, SWITCH_HEADS, t, t});
    const dls_block_heads cross = {
        .heads = SWITCH_HEADS, .depth = 128, .style = DLS_BLOCK_T5, .dropout = true};
    dls_block_heads own = cross;
    own.offset = &offset;
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, t));
    x = dls_net_dropout(net, x);
    for (int i = 0; i < SWITCH_LAYERS; i++) {
        dls_tensor y = dls_net_rms_norm(net, x);
        x = dls_net_add(net, x, dls_block_attention(net, y, y, own));
        if (encoded) {
            y = dls_net_rms_norm(net, x);
            x = dls_net_add(net, x, dls_block_attention(net, y, *encoded, cross));
        }
        y = dls_net_rms_norm(net, x);
        y = i % 2 == 1 ? switch_experts(net, y) : switch_expert(net, y);
        x = dls_net_add(net, x, dls_net_dropout(net, y));
    }
    return dls_net_dropout(net, dls_net_rms_norm(net, x));
}

void dls_zoo_switch(dls_net *net, const char *spec)
{
    const dls_embedding words = dls_net_table(net, 32128, SWITCH_WIDTH);
    const dls_tensor encoded = switch_stack(net, words, NULL);
    const dls_tensor y = dls_net_scale(net, switch_stack(net, words, &encoded));
    dls_net_loss(net, dls_net_tied(net, y, words, false));
}

/* ---- T5 -------------------------------------------------------------------------------------- */

#define T5_DISTANCES 32 /* that are told apart, for each head */

/* No biases, and scores are scaled by 1 where that is a kernel; places: added to them, -1: none are, but zeros
 * where that is a kernel. */
static dls_tensor attention(dls_net *net, dls_tensor x, dls_tensor y, const sizes *s,
                            dls_tensor places)
{
    dls_tensor part[3]; /* queries, keys, values */
    for (int i = 0; i < 3; i++) {
        part[i] = dls_net_dense(net, i == 0 ? x : y, s->heads * s->head, false);
        part[i] = dls_net_split_heads(net, part[i], s->heads);
    }
    dls_tensor a = dls_net_batch_matmul(net, part[0], part[1], true);
    const bool eager = dls_net_eager(net);
    a = eager ? dls_net_scale(net, a) : a;
    a = places >= 0 ? dls_net_add(net, a, places) : eager ? dls_net_pass_wide(net, a, DLS_OP_ADD, 0) : a;
    a = dls_net_dropout(net, dls_net_softmax(net, a));
    a = dls_net_merge_heads(net, dls_net_batch_matmul(net, a, part[2], false));
    return dls_net_dropout(net, dls_net_dense(net, a, s->width, false));
}

static dls_tensor feed_forward(dls_net *net, dls_tensor x, const sizes *s)
{
    dls_tensor y = dls_net_unary(net, dls_net_dense(net, x, s->inner, false),
                                 s->gated ? DLS_OP_GELU : DLS_OP_RELU);
    y = s->gated ? dls_net_mul(net, y, dls_net_dense(net, x, s->inner, false)) : y;
    y = dls_net_wide(net, dls_net_dropout(net, y)); /* to what the weights are kept in */
    return dls_net_dropout(net, dls_net_dense(net, y, s->width, false));
}

/* memory: what the encoder says, -1 in the encoder itself. */
static dls_tensor stack(dls_net *net, dls_tensor x, dls_tensor memory, const sizes *s)
{
    const dls_tensor places = dls_net_numbers(net, T5_DISTANCES * s->heads);
    x = dls_net_dropout(net, x);
    for (int64_t i = 0; i < s->layers; i++) {
        dls_tensor y = dls_net_rms_norm(net, x);
        x = dls_net_add(net, x, attention(net, y, y, s, places));
        if (memory >= 0) {
            y = dls_net_rms_norm(net, x);
            x = dls_net_add(net, x, attention(net, y, memory, s, -1));
        }
        x = dls_net_add(net, x, feed_forward(net, dls_net_rms_norm(net, x), s));
    }
    return dls_net_dropout(net, dls_net_rms_norm(net, x));
}

/* As many tokens out as in. */
static void t5(dls_net *net, const char *spec)
{
    const sizes s = sizes_of(spec);
    const int32_t t = dls_net_sequence(net);
    const int64_t n_words = (int64_t)dls_spec_number(spec, "words", 32128);
    const dls_embedding words = dls_net_table(net, n_words, s.width);
    const dls_tensor in = dls_net_lookup(net, words, dls_net_indices(net, t));
    const dls_tensor out = dls_net_lookup(net, words, dls_net_indices(net, t));
    const dls_tensor y = stack(net, out, stack(net, in, -1, &s), &s);
    dls_net_loss(net, s.gated ? dls_net_dense(net, y, n_words, false)
                              : dls_net_tied(net, dls_net_scale(net, y), words, false));
}

/* ---- members --------------------------------------------------------------------------------- */

#define ALBERT(name, batch, spec)                                                                  \
    DLS_ZOO_TEXTS("albert_" name, "albert", "squad", batch, 128, dls_zoo_bert, ALBERT_WORDS spec)
#define ALBERT_WORDS "word=128 words=30000 of_tanh "
#define BERT(name, batch, spec) DLS_ZOO_TEXTS(name, "bert", "squad", batch, 128, dls_zoo_bert, spec)
#define GPT(name, family, batch, sequence, spec)                                                   \
    DLS_ZOO_TEXTS(name, family, "openwebtext", batch, sequence, dls_zoo_gpt, spec)
#define MT5(name, batch, spec) T5(name, batch, spec " gated words=250112")
#define T5(name, batch, spec) DLS_ZOO_TEXTS(name, "t5", "c4", batch, 512, t5, spec)

static const dls_zoo_model rows[] = {
    ALBERT("base", 32, "width=768 layers=12 heads=12"),
    ALBERT("large", 16, "width=1024 layers=24 heads=16"),
    ALBERT("xlarge", 8, "width=2048 layers=24 heads=16"),
    ALBERT("xxlarge", 4, "width=4096 layers=12 heads=64"),
    BERT("distilroberta_base", 32, "width=768 layers=6 heads=12 kinds=1 places=514 words=50265"),
    BERT("xlm_roberta_base", 32, "width=768 layers=12 heads=12 kinds=1 places=514 words=250002"),
    BERT("xlm_roberta_large", 16, "width=1024 layers=24 heads=16 kinds=1 places=514 words=250002"),
    BERT("camembert_base", 32, "width=768 layers=12 heads=12 kinds=1 places=514 words=32005"),
    BERT("bert_base_multilingual", 32, "width=768 layers=12 heads=12 words=119547"),
    BERT("bert_base_chinese", 32, "width=768 layers=12 heads=12 words=21128"),
    BERT("bert_base_cased", 32, "width=768 layers=12 heads=12 words=28996"),
    BERT("bert_large_cased", 16, "width=1024 layers=24 heads=16 words=28996"),
    BERT("distilbert_base_cased", 32, "width=768 layers=6 heads=12 kinds=0 words=28996"),
    BERT("electra_small", 64, "width=256 layers=12 heads=4 word=128 electra"),
    BERT("electra_base", 32, "width=768 layers=12 heads=12 electra"),
    BERT("electra_large", 16, "width=1024 layers=24 heads=16 electra"),
    BERT("bert_tiny", 128, "width=128 layers=2 heads=2"),
    BERT("bert_mini", 128, "width=256 layers=4 heads=4"),
    BERT("bert_small", 64, "width=512 layers=4 heads=8"),
    BERT("bert_medium", 64, "width=512 layers=8 heads=8"),
    BERT("minilm_l6", 64, "width=384 layers=6 heads=12"),
    BERT("minilm_l12", 64, "width=384 layers=12 heads=12"),
    GPT("distilgpt2", "gpt2", 8, 1024, "width=768 layers=6 heads=12"),
    GPT("opt_350m", "opt", 4, 2048, "width=1024 layers=24 heads=16 word=512 opt"),
    GPT("opt_13_0b", "opt", 1, 2048, "width=5120 layers=40 heads=40 opt"),
    GPT("opt_30b", "opt", 1, 2048, "width=7168 layers=48 heads=56 opt"),
    GPT("opt_66b", "opt", 1, 2048, "width=9216 layers=64 heads=72 opt"),
    GPT("opt_175b", "opt", 1, 2048, "width=12288 layers=96 heads=96 opt"),
    GPT("gpt3_13_0b", "gpt3", 1, 2048, "width=5120 layers=40 heads=40"),
    GPT("gpt3_175b", "gpt3", 1, 2048, "width=12288 layers=96 heads=96"),
    GPT("gpt3_125m", "gpt3", 8, 2048, "width=768 layers=12 heads=12"),
    GPT("gpt3_350m", "gpt3", 4, 2048, "width=1024 layers=24 heads=16"),
    GPT("gpt3_760m", "gpt3", 2, 2048, "width=1536 layers=24 heads=16"),
    T5("t5_small", 16, "width=512 layers=6 heads=8 inner=2048"),
    T5("t5_base", 8, "width=768 layers=12 heads=12 inner=3072"),
    T5("t5_large", 4, "width=1024 layers=24 heads=16 inner=4096"),
    T5("t5_3b", 1, "width=1024 layers=24 heads=32 each=128 inner=16384"),
    T5("t5_11b", 1, "width=1024 layers=24 heads=128 each=128 inner=65536"),
    T5("t5_v1_1_small", 16, "width=512 layers=8 heads=6 inner=1024 gated"),
    T5("t5_v1_1_base", 8, "width=768 layers=12 heads=12 inner=2048 gated"),
    T5("t5_v1_1_large", 4, "width=1024 layers=24 heads=16 inner=2816 gated"),
    T5("t5_v1_1_xl", 1, "width=2048 layers=24 heads=32 inner=5120 gated"),
    T5("t5_v1_1_xxl", 1, "width=4096 layers=24 heads=64 inner=10240 gated"),
    MT5("mt5_small", 16, "width=512 layers=8 heads=6 inner=1024"),
    MT5("mt5_base", 8, "width=768 layers=12 heads=12 inner=2048"),
    MT5("mt5_large", 4, "width=1024 layers=24 heads=16 inner=2816"),
    MT5("mt5_xl", 1, "width=2048 layers=24 heads=32 inner=5120"),
    MT5("mt5_xxl", 1, "width=4096 layers=24 heads=64 inner=10240"),
};

const dls_zoo_table dls_zoo_shared = {rows, sizeof rows / sizeof rows[0]};
