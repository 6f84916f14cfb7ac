/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Language models that are one stack of decoder layers with positions in their attention: LLaMA
 * (Touvron et al., 2023) and its successors, and those that go back to GPT-J and GPT-NeoX. Sizes as
 * in Hugging Face's configurations. Products of one input that a program makes one are apart here.
 *
 *      width=4096 inner=14336 layers=32 heads=32 words=32000
 *      kv=8        heads of keys and values (Ainslie et al., 2023)
 *      each=128    of each head; the heads' sum need not be the width
 *      tied        the output is the table of words
 *      biased      queries, keys and values are
 *
 * Of LLaMA's kind (root-mean-square norms, gated feed-forward, no other biases):
 *      experts=8   Mixtral (Jiang et al., 2024): feed-forwards, of which a token passes two
 *      level       Qwen3 (Yang et al., 2025): queries and keys of a head are normed
 *      gemma       Gemma (Mesnard et al., 2024): words are scaled, the gate is GELU's
 *      behind      a norm behind each part of a layer, too: Gemma 3 (Kamath et al., 2025), the
 *                  network of its texts; windows that attention sees are masks
 *      capped      Gemma 2 (Riviere et al., 2024): the same; scores and output pass a tanh
 *
 * Of GPT-J's kind (layer norms; feed-forward with GELU, both parts of a layer side by side):
 *      turned=64   of a head's numbers, that have rotary positions; 0: the head's
 *      norms=2     one for each part of a layer
 *      bare        products have no biases
 *      last        the output has one
 *      alibi       one part after the other; BLOOM (Le Scao et al., 2022): distances are added to
 *                  scores (Press et al., 2022)
 *      first       a norm behind the words
 *      of_tanh     GELU is spelled out by its tanh
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define MAX_EXPERTS 8

static int64_t whole(const char *spec, const char *key, double otherwise)
{
    return (int64_t)dls_spec_number(spec, key, otherwise);
}

static dls_block_heads heads_of(const char *spec)
{
    return (dls_block_heads){.heads = whole(spec, "heads", 0),
                             .style = DLS_BLOCK_LLAMA,
                             .key_heads = whole(spec, "kv", 0),
                             .depth = whole(spec, "each", 0),
                             .turned = whole(spec, "turned", 0),
                             .first_bias = dls_spec_has(spec, "biased"),
                             .level = dls_spec_has(spec, "level"),
                             .capped = dls_spec_has(spec, "capped"),
                             .rotary = !dls_spec_has(spec, "alibi")};
}

static void output(dls_net *net, dls_tensor x, dls_embedding words, int64_t n_words,
                   const char *spec)
{
    x = dls_spec_has(spec, "tied") ? dls_net_tied(net, x, words, false)
                                   : dls_net_dense(net, x, n_words, dls_spec_has(spec, "last"));
    dls_net_loss(net, dls_spec_has(spec, "capped") ? dls_block_capped(net, x) : x);
}

/* ---- LLaMA's kind ---------------------------------------------------------------------------- */

static dls_tensor gated(dls_net *net, dls_tensor x, const char *spec)
{
    const int64_t inner = whole(spec, "inner", 0), width = whole(spec, "width", 0);
    const dls_op_kind gate = dls_spec_has(spec, "gemma") ? DLS_OP_GELU : DLS_OP_SWISH;
    const dls_tensor y = dls_net_unary(net, dls_net_dense(net, x, inner, false), gate);
    return dls_net_dense(net, dls_net_mul(net, y, dls_net_dense(net, x, inner, false)), width,
                         false);
}

/* A token passes two experts, weighed by the router, which shares the tokens evenly here (rounded
 * up): their rows are brought together for each expert, and what the experts say is added up for
 * each token. */
static dls_tensor experts(dls_net *net, dls_tensor x, int64_t n, const char *spec)
{
    const int64_t b = dls_net_batch(net), t = dls_net_dim(net, x, 1), w = dls_net_dim(net, x, 2);
    const int64_t each = (2 * t + n - 1) / n;
    const dls_tensor weight = dls_net_softmax(net, dls_net_dense(net, x, n, false));
    dls_tensor y[MAX_EXPERTS];
    for (int64_t i = 0; i < n; i++) {
        const dls_tensor rows = dls_net_windows(net, x, 3, (int64_t[]){b, each, w});
        y[i] = dls_net_flatten(net, gated(net, rows, spec));
    }
    const dls_tensor all =
        dls_net_reshape(net, dls_net_concat(net, y, (int)n), 3, (int64_t[]){b, n * each, w});
    const dls_tensor own = dls_net_windows(net, weight, 3, (int64_t[]){b, n * each, 1});
    return dls_net_windows(net, dls_net_mul(net, all, own), 3, (int64_t[]){b, t, w});
}

void dls_zoo_llama(dls_net *net, const char *spec)
{
    const dls_block_heads b = heads_of(spec);
    const int64_t n_words = whole(spec, "words", 32000), n_experts = whole(spec, "experts", 0);
    const bool behind = b.capped || dls_spec_has(spec, "behind");
    const dls_embedding words = dls_net_table(net, n_words, whole(spec, "width", 0));
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, dls_net_sequence(net)));
    x = dls_spec_has(spec, "gemma") ? dls_net_scale(net, x) : x;
    for (int64_t i = 0; i < whole(spec, "layers", 0); i++) {
        const dls_tensor y = dls_net_rms_norm(net, x);
        dls_tensor part = dls_block_attention(net, y, y, b);
        x = dls_net_add(net, x, behind ? dls_net_rms_norm(net, part) : part);
        const dls_tensor z = dls_net_rms_norm(net, x);
        part = n_experts > 0 ? experts(net, z, n_experts, spec) : gated(net, z, spec);
        x = dls_net_add(net, x, behind ? dls_net_rms_norm(net, part) : part);
    }
    output(net, dls_net_rms_norm(net, x), words, n_words, spec);
}

/* ---- GPT-J's kind ---------------------------------------------------------------------------- */

/* GPT-J (Wang and Komatsuzaki, 2021), GPT-NeoX (Black et al., 2022) and Pythia (Biderman et al.,
 * 2023), Falcon (Almazrouei et al., 2023), Phi-1 to 2 (Li et al., 2023), BLOOM. */
static void gpt_j(dls_net *net, const char *spec)
{
    dls_block_heads b = heads_of(spec);
    const int32_t t = dls_net_sequence(net);
    const int64_t width = whole(spec, "width", 0), n_words = whole(spec, "words", 0);
    const bool alibi = !b.rotary, bias = !dls_spec_has(spec, "bare");
    const bool norms = alibi || whole(spec, "norms", 1) > 1;
    const dls_embedding words = dls_net_table(net, n_words, width);
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, t)), distance;
    x = dls_spec_has(spec, "first") ? dls_net_layer_norm(net, x) : x;
    b.last_bias = b.first_bias;
    if (alibi) {
        distance = dls_net_reshape(net, dls_net_dense_input(net, (int32_t)b.heads * t), 4,
                                   (int64_t[]){dls_net_batch(net), b.heads, 1, t});
        b.offset = &distance;
    }
    for (int64_t i = 0; i < whole(spec, "layers", 0); i++) {
        dls_tensor y = dls_net_layer_norm(net, x);
        const dls_tensor a = dls_block_attention(net, y, y, b);
        x = alibi ? dls_net_add(net, x, a) : x;
        y = norms ? dls_net_layer_norm(net, x) : y;
        y = dls_net_dense(net, y, 4 * width, bias);
        y = alibi                            ? dls_block_gelu_of_bloom(net, y)
            : dls_spec_has(spec, "of_tanh") ? dls_block_gelu_of_tanh(net, y)
                                             : dls_net_unary(net, y, DLS_OP_GELU);
        y = dls_net_dense(net, y, width, bias);
        x = dls_net_add(net, x, alibi ? y : dls_net_add(net, a, y));
    }
    output(net, dls_net_layer_norm(net, x), words, n_words, spec);
}

/* ---- members --------------------------------------------------------------------------------- */

#define LLAMA(name, sequence, spec)                                                                \
    DLS_ZOO_TEXTS(name, "llama", "c4", 1, sequence, dls_zoo_llama, spec)
#define LLAMA3(name, spec) LLAMA(name, 8192, spec " kv=8 words=128256")
#define QWEN(name, spec) LLAMA(name, 4096, spec " biased words=152064")
#define QWEN_TIED(name, spec) LLAMA(name, 4096, spec " biased tied words=151936")
#define QWEN3(name, spec) LLAMA(name, 4096, spec " level each=128 kv=8 words=151936")
#define GEMMA(name, spec) LLAMA(name, 8192, spec " gemma tied words=256000")
#define GEMMA3(name, spec) LLAMA(name, 8192, spec " gemma level behind tied")
#define CODER(name, spec) LLAMA(name, 4096, spec " words=32256")
#define GPT_J(name, family, sequence, spec)                                                        \
    DLS_ZOO_TEXTS(name, family, "pile", 1, sequence, gpt_j, spec)
#define PYTHIA(name, spec) GPT_J(name, "gpt_neox", 2048, spec " norms=2 biased")
#define FALCON(name, spec) GPT_J(name, "falcon", 2048, spec " each=64 bare tied words=65024")
#define BLOOM(name, spec) GPT_J(name, "bloom", 2048, spec " alibi first biased tied words=250880")

static const dls_zoo_model rows[] = {
    LLAMA("llama2_70b", 4096, "width=8192 inner=28672 layers=80 heads=64 kv=8"),
    LLAMA("codellama_34b", 4096, "width=8192 inner=22016 layers=48 heads=64 kv=8"),
    LLAMA3("llama3_8b", "width=4096 inner=14336 layers=32 heads=32"),
    LLAMA3("llama3_70b", "width=8192 inner=28672 layers=80 heads=64"),
    LLAMA3("llama3_405b", "width=16384 inner=53248 layers=126 heads=128"),
    LLAMA3("llama3_2_1b", "width=2048 inner=8192 layers=16 heads=32 tied"),
    LLAMA3("llama3_2_3b", "width=3072 inner=8192 layers=28 heads=24 tied"),
    LLAMA("mistral_7b", 4096, "width=4096 inner=14336 layers=32 heads=32 kv=8"),
    LLAMA("mistral_7b_v3", 4096, "width=4096 inner=14336 layers=32 heads=32 kv=8 words=32768"),
    LLAMA("tinyllama_1b", 2048, "width=2048 inner=5632 layers=22 heads=32 kv=4"),
    QWEN_TIED("qwen2_0_5b", "width=896 inner=4864 layers=24 heads=14 kv=2"),
    QWEN_TIED("qwen2_1_5b", "width=1536 inner=8960 layers=28 heads=12 kv=2"),
    QWEN_TIED("qwen2_3b", "width=2048 inner=11008 layers=36 heads=16 kv=2"),
    QWEN("qwen2_7b", "width=3584 inner=18944 layers=28 heads=28 kv=4"),
    QWEN("qwen2_14b", "width=5120 inner=13824 layers=48 heads=40 kv=8"),
    QWEN("qwen2_32b", "width=5120 inner=27648 layers=64 heads=40 kv=8"),
    QWEN("qwen2_72b", "width=8192 inner=29568 layers=80 heads=64 kv=8"),
    LLAMA("codellama_7b", 4096, "width=4096 inner=11008 layers=32 heads=32 words=32016"),
    LLAMA("codellama_13b", 4096, "width=5120 inner=13824 layers=40 heads=40 words=32016"),
    LLAMA("mistral_nemo", 4096,
          "width=5120 inner=14336 layers=40 heads=32 kv=8 each=128 words=131072"),
    LLAMA("mistral_small_24b", 4096,
          "width=5120 inner=32768 layers=40 heads=32 kv=8 each=128 words=131072"),
    LLAMA("mixtral_8x7b", 4096, "width=4096 inner=14336 layers=32 heads=32 kv=8 experts=8"),
    LLAMA("mixtral_8x22b", 4096, "width=6144 inner=16384 layers=56 heads=48 kv=8 experts=8"),
    QWEN3("qwen3_0_6b", "width=1024 inner=3072 layers=28 heads=16 tied"),
    QWEN3("qwen3_1_7b", "width=2048 inner=6144 layers=28 heads=16 tied"),
    QWEN3("qwen3_4b", "width=2560 inner=9728 layers=36 heads=32 tied"),
    QWEN3("qwen3_8b", "width=4096 inner=12288 layers=36 heads=32"),
    QWEN3("qwen3_14b", "width=5120 inner=17408 layers=40 heads=40"),
    QWEN3("qwen3_32b", "width=5120 inner=25600 layers=64 heads=64"),
    GEMMA("gemma_2b", "width=2048 inner=16384 layers=18 heads=8 kv=1 each=256"),
    GEMMA("gemma_7b", "width=3072 inner=24576 layers=28 heads=16 each=256"),
    GEMMA("gemma2_2b", "width=2304 inner=9216 layers=26 heads=8 kv=4 each=256 capped"),
    GEMMA("gemma2_9b", "width=3584 inner=14336 layers=42 heads=16 kv=8 each=256 capped"),
    GEMMA("gemma2_27b", "width=4608 inner=36864 layers=46 heads=32 kv=16 each=128 capped"),
    GEMMA3("gemma3_270m", "width=640 inner=2048 layers=18 heads=4 kv=1 each=256 words=262144"),
    GEMMA3("gemma3_1b", "width=1152 inner=6912 layers=26 heads=4 kv=1 each=256 words=262144"),
    GEMMA3("gemma3_4b", "width=2560 inner=10240 layers=34 heads=8 kv=4 each=256 words=262208"),
    GEMMA3("gemma3_12b", "width=3840 inner=15360 layers=48 heads=16 kv=8 each=256 words=262208"),
    GEMMA3("gemma3_27b", "width=5376 inner=21504 layers=62 heads=32 kv=16 each=128 words=262208"),
    LLAMA("phi3_mini", 4096, "width=3072 inner=8192 layers=32 heads=32 words=32064"),
    LLAMA("phi3_medium", 4096, "width=5120 inner=17920 layers=40 heads=40 kv=10 words=32064"),
    LLAMA("phi4", 4096, "width=5120 inner=17920 layers=40 heads=40 kv=10 words=100352"),
    LLAMA("deepseek_7b", 4096, "width=4096 inner=11008 layers=30 heads=32 words=102400"),
    LLAMA("deepseek_67b", 4096, "width=8192 inner=22016 layers=95 heads=64 kv=8 words=102400"),
    CODER("deepseek_coder_1_3b", "width=2048 inner=5504 layers=24 heads=16"),
    CODER("deepseek_coder_6_7b", "width=4096 inner=11008 layers=32 heads=32"),
    CODER("deepseek_coder_33b", "width=7168 inner=19200 layers=62 heads=56 kv=8"),
    LLAMA("yi_6b", 4096, "width=4096 inner=11008 layers=32 heads=32 kv=4 words=64000"),
    LLAMA("yi_34b", 4096, "width=7168 inner=20480 layers=60 heads=56 kv=8 words=64000"),
    LLAMA("yi_9b", 4096, "width=4096 inner=11008 layers=48 heads=32 kv=4 words=64000"),
    LLAMA("codellama_70b", 4096, "width=8192 inner=28672 layers=80 heads=64 kv=8 words=32016"),
    LLAMA("open_llama_3b", 2048, "width=3200 inner=8640 layers=26 heads=32"),
    LLAMA("smollm2_135m", 2048, "width=576 inner=1536 layers=30 heads=9 kv=3 tied words=49152"),
    LLAMA("smollm2_360m", 2048, "width=960 inner=2560 layers=32 heads=15 kv=5 tied words=49152"),
    LLAMA("smollm2_1_7b", 2048, "width=2048 inner=8192 layers=24 heads=32 tied words=49152"),
    GPT_J("gptj_6b", "gptj", 2048, "width=4096 layers=28 heads=16 turned=64 last of_tanh words=50400"),
    PYTHIA("gpt_neox_20b", "width=6144 layers=44 heads=64 turned=24 words=50432"),
    PYTHIA("pythia_70m", "width=512 layers=6 heads=8 turned=16 words=50304"),
    PYTHIA("pythia_160m", "width=768 layers=12 heads=12 turned=16 words=50304"),
    PYTHIA("pythia_410m", "width=1024 layers=24 heads=16 turned=16 words=50304"),
    PYTHIA("pythia_1b", "width=2048 layers=16 heads=8 turned=64 words=50304"),
    PYTHIA("pythia_1_4b", "width=2048 layers=24 heads=16 turned=32 words=50304"),
    PYTHIA("pythia_2_8b", "width=2560 layers=32 heads=32 turned=20 words=50304"),
    PYTHIA("pythia_6_9b", "width=4096 layers=32 heads=32 turned=32 words=50432"),
    PYTHIA("pythia_12b", "width=5120 layers=36 heads=40 turned=32 words=50688"),
    FALCON("falcon_7b", "width=4544 layers=32 heads=71 kv=1"),
    FALCON("falcon_40b", "width=8192 layers=60 heads=128 kv=8 norms=2"),
    FALCON("falcon_180b", "width=14848 layers=80 heads=232 kv=8 norms=2"),
    GPT_J("phi1", "phi", 2048, "width=2048 layers=24 heads=32 turned=32 biased last of_tanh words=51200"),
    GPT_J("phi1_5", "phi", 2048, "width=2048 layers=24 heads=32 turned=32 biased last of_tanh words=51200"),
    GPT_J("phi2", "phi", 2048, "width=2560 layers=32 heads=32 turned=32 biased last of_tanh words=51200"),
    BLOOM("bloom_560m", "width=1024 layers=24 heads=16"),
    BLOOM("bloom_1b1", "width=1536 layers=24 heads=16"),
    BLOOM("bloom_1b7", "width=2048 layers=24 heads=16"),
    BLOOM("bloom_3b", "width=2560 layers=30 heads=32"),
    BLOOM("bloom_7b1", "width=4096 layers=30 heads=32"),
    BLOOM("bloom_176b", "width=14336 layers=70 heads=112"),
};

const dls_zoo_table dls_zoo_decoders = {rows, sizeof rows / sizeof rows[0]};
