/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Kinds of a trace: what the names of public traces mean, grouping by model and batch per GPU.
 */
#include "base/alloc.h"
#include "support/must.h"
#include "support/refuse.h"
#include "support/trace_of.h"
#include "workload/graph/zoo.h"
#include "workload/kinds.h"
#include "workload/operator/from_graph.h"
#include "workload/operator/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(test_names)
{
    static const struct {
        const char *name, *zoo, *layers;
        dls_model_match match;
    } want[] = {
        {"vgg16", "vgg16", "vgg16", DLS_MODEL_KNOWN},
        {"VGG-16", "vgg16", "vgg16", DLS_MODEL_KNOWN},
        {"ResNet-50 (batch size 64)", "resnet50", "resnet50", DLS_MODEL_KNOWN},
        {"ResNet-18 (batch size 16)", "resnet18_cifar", "resnet18_cifar", DLS_MODEL_KNOWN},
        {"LM (batch size 80)", "lstm_lm", NULL, DLS_MODEL_KNOWN},
        {"Recommendation", "autoencoder", NULL, DLS_MODEL_KNOWN},
        {"gpt3_27", "gpt3_27b", NULL, DLS_MODEL_KNOWN},
        {"vit_base_patch16_224", "vit_base", NULL, DLS_MODEL_KNOWN},
        {"inception_v3", "inception3", "inception3", DLS_MODEL_KNOWN},
        {"imagenet", "resnet50", "resnet50", DLS_MODEL_KNOWN},
        {"Transformer", "transformer_base", NULL, DLS_MODEL_KNOWN},
        {"bert_base", "bert_base", "bert_base_128", DLS_MODEL_KNOWN},
        {"tf_efficientnet_b5_ns", "efficientnet_b5", NULL, DLS_MODEL_KNOWN},
        {"gluon_resnet101_v1d", "resnet101d", NULL, DLS_MODEL_KNOWN},
        {"gluon_resnet50_v1b", "resnet50", "resnet50", DLS_MODEL_KNOWN},
        {"resnet50.a1_in1k", "resnet50", "resnet50", DLS_MODEL_KNOWN},
        {"tf_mobilenetv3_large_075", "mobilenetv3_large_075", NULL, DLS_MODEL_KNOWN},
        {"bert-base-uncased", "bert_base", "bert_base_128", DLS_MODEL_KNOWN},
        {"facebook/opt-1.3b", "opt_13b", NULL, DLS_MODEL_KNOWN},
        {"meta-llama/Llama-2-70b-chat-hf", "llama2_70b", NULL, DLS_MODEL_KNOWN},
        {"meta-llama/Meta-Llama-3-8B", "llama3_8b", NULL, DLS_MODEL_KNOWN},
        {"meta-llama/Llama-3.1-8B-Instruct", "llama3_8b", NULL, DLS_MODEL_KNOWN},
        {"meta-llama/Llama-3.1-405B", "llama3_405b", NULL, DLS_MODEL_KNOWN},
        {"meta-llama/Llama-3.2-1B", "llama3_2_1b", NULL, DLS_MODEL_KNOWN},
        {"mistralai/Mistral-7B-v0.1", "mistral_7b", NULL, DLS_MODEL_KNOWN},
        {"mistralai/Mistral-7B-Instruct-v0.3", "mistral_7b_v3", NULL, DLS_MODEL_KNOWN},
        {"TinyLlama/TinyLlama-1.1B-Chat-v1.0", "tinyllama_1b", NULL, DLS_MODEL_KNOWN},
        {"Qwen/Qwen2-7B", "qwen2_7b", NULL, DLS_MODEL_KNOWN},
        {"Qwen/Qwen2.5-0.5B-Instruct", "qwen2_0_5b", NULL, DLS_MODEL_KNOWN},
        {"Qwen/Qwen2.5-72B", "qwen2_72b", NULL, DLS_MODEL_KNOWN},
        {"codellama/CodeLlama-34b-hf", "codellama_34b", NULL, DLS_MODEL_KNOWN},
        {"Qwen/Qwen2-57B-A14B", "resnet50", "resnet50", DLS_MODEL_UNKNOWN},
        {"facebook/opt-13b", "opt_13_0b", NULL, DLS_MODEL_KNOWN},
        {"opt_13b", "opt_13b", NULL, DLS_MODEL_KNOWN},
        {"gpt3-2.7b", "gpt3_27b", NULL, DLS_MODEL_KNOWN},
        {"GPT-3 13B", "gpt3_13_0b", NULL, DLS_MODEL_KNOWN},
        {"regnet_x_1_6gf", "regnetx_016", NULL, DLS_MODEL_KNOWN},
        {"regnet_y_16gf", "regnety_160", NULL, DLS_MODEL_KNOWN},
        {"regnet_x_400mf", "regnetx_004_tv", NULL, DLS_MODEL_KNOWN}, /* rounded in another way than timm's */
        {"regnet_y_800mf", "regnety_008_tv", NULL, DLS_MODEL_KNOWN},
        {"regnet_y_8gf", "regnety_080_tv", NULL, DLS_MODEL_KNOWN},
        {"regnet_y_128gf", "regnety_1280", NULL, DLS_MODEL_KNOWN},
        {"maxvit_t", "maxvit_tiny_tf", NULL, DLS_MODEL_KNOWN},
        {"swin_v2_t", "swinv2_tiny_window8", NULL, DLS_MODEL_KNOWN},
        {"ResNet-18", "resnet18_cifar", "resnet18_cifar", DLS_MODEL_KNOWN},
        {"gluon_resnet18_v1b", "resnet18_imagenet", NULL, DLS_MODEL_KNOWN},
        {"resnet18.a1_in1k", "resnet18_imagenet", NULL, DLS_MODEL_KNOWN},
        {"xlm-roberta-base", "xlm_roberta_base", NULL, DLS_MODEL_KNOWN},
        {"meta-llama/Llama-2-7b-hf", "llama_7b", NULL, DLS_MODEL_KNOWN},
        {"distilbert-base-uncased", "distilbert_base", NULL, DLS_MODEL_KNOWN},
        {"resnet50_256", "resnet50", "resnet50", DLS_MODEL_UNKNOWN}, /* a batch? */
        {"bert_base_384", "resnet50", "resnet50", DLS_MODEL_UNKNOWN},
        {"resnet50_400", "resnet50", NULL, DLS_MODEL_KNOWN},
        {"gpt2.5", "resnet50", "resnet50", DLS_MODEL_UNKNOWN}, /* a version, no weights of GPT-2 */
        {"tf_", "resnet50", "resnet50", DLS_MODEL_UNKNOWN},
        {"_224", "resnet50", "resnet50", DLS_MODEL_UNKNOWN},
        {"google/flan-t5-base", "t5_v1_1_base", NULL, DLS_MODEL_KNOWN},
        {"albert-base-v2", "albert_base", NULL, DLS_MODEL_KNOWN},
        {"shufflenet_v2_x1_0", "shufflenet_v2_x1_0", NULL, DLS_MODEL_KNOWN},
        {"deepspeech2", "deepspeech2", NULL, DLS_MODEL_KNOWN},
        {"RNN-T", "rnnt", NULL, DLS_MODEL_KNOWN},
        {"DeepSpeech 2", "deepspeech2", NULL, DLS_MODEL_KNOWN},
        {"YOLOv3", "yolov3", NULL, DLS_MODEL_KNOWN},
        {"A3C", "resnet50", "resnet50", DLS_MODEL_UNKNOWN},
        {"", "resnet50", "resnet50", DLS_MODEL_UNKNOWN},
        {"my-own-net", "resnet50", "resnet50", DLS_MODEL_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const dls_model_names n = dls_model_lookup(want[i].name);
        assert_string_equal(n.zoo->name, want[i].zoo);
        assert_int_equal(n.match, want[i].match);
        assert_true((n.layers == NULL) == (want[i].layers == NULL));
        if (n.layers) {
            assert_string_equal(n.layers, want[i].layers);
        }
    }
    assert_int_equal(dls_model_lookup(NULL).match, DLS_MODEL_UNKNOWN);
    /* The edge of images is a part of such names; the usual one is 0. */
    assert_int_equal(dls_model_lookup("vit_base_patch16_384").image, 384);
    assert_int_equal(dls_model_lookup("vit_base_patch16_224").image, 0);
    assert_int_equal(dls_model_lookup("convnext_base.fb_in22k_ft_in1k_384").image, 384);
    assert_int_equal(dls_model_lookup("convnext_base.fb_in22k_ft_in1k").image, 0);
    assert_int_equal(dls_model_lookup("swinv2_tiny_window8_256").image, 0);
    assert_int_equal(dls_model_lookup("convnext_tiny_384_in22ft1k").image, 384);
    assert_string_equal(dls_model_lookup("convnext_tiny_hnfd").zoo->name, "convnext_tiny_hnf");
    /* Equal names are one pointer. */
    assert_ptr_equal(dls_model_lookup("imagenet").zoo, dls_model_lookup("resnet50").zoo);
    assert_ptr_equal(dls_model_lookup("").layers, dls_model_lookup("ResNet-50").layers);
    assert_ptr_equal(dls_model_lookup("bert").zoo, dls_zoo_find("bert_base"));
    /* Every model of the zoo is found by its own name. */
    for (size_t i = 0; i < dls_zoo_size(); i++) {
        const dls_model_names n = dls_model_lookup(dls_zoo_at(i)->name);
        assert_string_equal(n.zoo->name, dls_zoo_at(i)->name);
        assert_int_equal(n.match, DLS_MODEL_KNOWN);
    }
}

/* Identifiers of Hugging Face, and near ones of other networks, for which NULL stands. */
TEST(test_hugging_face)
{
    static const char *const want[][2] = {
        {"mistralai/Mixtral-8x7B-v0.1", "mixtral_8x7b"},
        {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral_8x7b"},
        {"mistralai/Mixtral-8x22B-v0.1", "mixtral_8x22b"},
        {"mistralai/Mixtral-8x22B-Instruct-v0.1", NULL}, /* more words */
        {"mistralai/Mistral-Nemo-Base-2407", "mistral_nemo"},
        {"mistralai/Mistral-Small-24B-Base-2501", "mistral_small_24b"},
        {"mistralai/Mistral-Large-Instruct-2407", NULL},
        {"google/gemma-2b", "gemma_2b"},
        {"google/gemma-7b-it", "gemma_7b"},
        {"google/gemma-2-2b", "gemma2_2b"},
        {"google/gemma-2-9b-it", "gemma2_9b"},
        {"google/gemma-2-27b", "gemma2_27b"},
        {"google/gemma-3-27b-it", "gemma3_27b"}, /* the network of its texts */
        {"google/gemma-3-4b-it", "gemma3_4b"},
        {"google/gemma-3-1b-pt", "gemma3_1b"},
        {"google/gemma-3-270m", "gemma3_270m"},
        {"google/gemma-3n-E4B-it", NULL},
        {"google/recurrentgemma-2b", NULL},
        {"microsoft/phi-1", "phi1"},
        {"microsoft/phi-1_5", "phi1_5"},
        {"microsoft/phi-2", "phi2"},
        {"microsoft/Phi-3-mini-4k-instruct", "phi3_mini"},
        {"microsoft/Phi-3.5-mini-instruct", "phi3_mini"},
        {"microsoft/Phi-3-medium-128k-instruct", "phi3_medium"},
        {"microsoft/Phi-3-small-8k-instruct", NULL},
        {"microsoft/Phi-3.5-MoE-instruct", NULL},
        {"microsoft/phi-4", "phi4"},
        {"microsoft/Phi-4-mini-instruct", NULL},
        {"Qwen/Qwen2-0.5B", "qwen2_0_5b"},
        {"Qwen/Qwen2-1.5B-Instruct", "qwen2_1_5b"},
        {"Qwen/Qwen3-0.6B", "qwen3_0_6b"},
        {"Qwen/Qwen3-30B-A3B", "qwen3_30b_a3b"},
        {"Qwen/Qwen3-235B-A22B", "qwen3_235b_a22b"},
        {"deepseek-ai/DeepSeek-V3", "deepseek_v3"},
        {"deepseek-ai/DeepSeek-R1", "deepseek_v3"},
        {"deepseek-ai/DeepSeek-V2-Lite", "deepseek_v2_lite"},
        {"DLRM-DCNv2", "dlrm_dcnv2"},
        {"Qwen/Qwen2.5-Coder-7B-Instruct", "qwen2_7b"},
        {"Qwen/Qwen2.5-Coder-0.5B", "qwen2_0_5b"},
        {"Qwen/Qwen2.5-Coder-1.5B", "qwen2_1_5b"},
        {"Qwen/Qwen2.5-Coder-3B-Instruct", "qwen2_3b"},
        {"Qwen/Qwen3-1.7B-Base", "qwen3_1_7b"},
        {"Qwen/Qwen3-32B", "qwen3_32b"},
        {"Qwen/Qwen-7B", NULL},
        {"Qwen/Qwen1.5-7B", NULL},
        {"deepseek-ai/deepseek-llm-7b-base", "deepseek_7b"},
        {"deepseek-ai/deepseek-llm-67b-chat", "deepseek_67b"},
        {"deepseek-ai/deepseek-coder-6.7b-instruct", "deepseek_coder_6_7b"},
        {"deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "qwen2_7b"},
        {"deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", NULL}, /* its words are not tied */
        {"deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "llama3_8b"},
        {"Qwen/QwQ-32B", "qwen2_32b"},
        {"HuggingFaceH4/zephyr-7b-beta", "mistral_7b"},
        {"openlm-research/open_llama_3b", "open_llama_3b"},
        {"codellama/CodeLlama-70b-hf", "codellama_70b"},
        {"01-ai/Yi-9B", "yi_9b"},
        {"01-ai/Yi-1.5-34B-Chat", "yi_34b"},
        {"HuggingFaceTB/SmolLM-1.7B", "smollm2_1_7b"},
        {"albert/albert-base-v1", "albert_base"},
        {"EleutherAI/gpt-neo-125m", "gpt3_125m"},
        {"01-ai/Yi-6B", "yi_6b"},
        {"01-ai/Yi-34B-Chat", "yi_34b"},
        {"HuggingFaceTB/SmolLM2-1.7B-Instruct", "smollm2_1_7b"},
        {"EleutherAI/gpt-j-6b", "gptj_6b"},
        {"EleutherAI/gpt-neox-20b", "gpt_neox_20b"},
        {"EleutherAI/pythia-70m", "pythia_70m"},
        {"EleutherAI/pythia-1.4b", "pythia_1_4b"},
        {"EleutherAI/pythia-6.9b-deduped", "pythia_6_9b"},
        {"EleutherAI/pythia-14m", NULL},
        {"tiiuae/falcon-7b-instruct", "falcon_7b"},
        {"tiiuae/falcon-40b", "falcon_40b"},
        {"tiiuae/falcon-180B", "falcon_180b"},
        {"tiiuae/falcon-rw-7b", NULL},
        {"tiiuae/Falcon3-7B-Base", NULL},
        {"tiiuae/falcon-mamba-7b", NULL},
        {"bigscience/bloom", "bloom_176b"},
        {"bigscience/bloom-1b7", "bloom_1b7"},
        {"bigscience/bloomz-7b1", "bloom_7b1"},
        {"codellama/CodeLlama-7b-Instruct-hf", "codellama_7b"},
        {"codellama/CodeLlama-7b-Python-hf", NULL}, /* fewer words */
        {"lmsys/vicuna-7b-v1.5", "llama_7b"},
        {"lmsys/vicuna-33b-v1.3", NULL},
        {"google/mt5-base", "mt5_base"},
        {"google/umt5-base", NULL},
        {"facebook/opt-350m", "opt_350m"},
        {"google/electra-base-discriminator", "electra_base"},
        {"google/electra-base-generator", NULL},
        {"google-bert/bert-base-cased", "bert_base_cased"},
        {"bert-large-cased", "bert_large_cased"},
        {"google-bert/bert-base-multilingual-cased", "bert_base_multilingual"},
        {"distilbert/distilbert-base-cased", "distilbert_base_cased"},
        {"microsoft/deberta-v3-base", "deberta_v3_base"},
        {"microsoft/deberta-v3-large", "deberta_v3_large"},
        {"microsoft/deberta-base", NULL},
        {"microsoft/deberta-v2-xlarge", NULL},
        {"facebook/bart-large", "bart_large"},
        {"facebook/bart-large-cnn", "bart_large_cnn"},
        {"facebook/bart-large-xsum", "bart_large_cnn"},
        {"facebook/mbart-large-50", NULL},
        {"openai/whisper-large-v3", "whisper_large_v3"},
        {"whisper-large-v3", "whisper_large_v3"},
        {"openai/whisper-large-v3-turbo", "whisper_large_v3_turbo"},
        {"openai/whisper-large-v2", "whisper_large"},
        {"openai/whisper-tiny.en", "whisper_tiny_en"},
        {"openai/whisper-tiny", "whisper_tiny"},
        {"openai/clip-vit-base-patch32", "clip_vit_base_patch32"},
        {"openai/clip-vit-large-patch14-336", "clip_vit_large_patch14_336"},
        {"CLIP ViT-B/32", "clip_vit_base_patch32"},
        {"stable-diffusion-v1-5", "stable_diffusion_1"},
        {"runwayml/stable-diffusion-v1-5", "stable_diffusion_1"},
        {"CompVis/stable-diffusion-v1-4", "stable_diffusion_1"},
        {"stabilityai/stable-diffusion-2", "stable_diffusion_2"},
        {"stabilityai/stable-diffusion-2-1-base", "stable_diffusion_2_base"},
        {"stabilityai/stable-diffusion-xl-base-1.0", NULL},
        {"stable-diffusion", NULL}, /* which? */
        {"Mask R-CNN", "maskrcnn_resnet50_fpn"},
        {"maskrcnn_resnet50_fpn_v2", NULL},
        {"SSD300", "ssd300_vgg16"},
        {"ssd", NULL}, /* of 300 pixels, MLPerf's? */
        {"ssd-resnet34", "ssd300_resnet34"},
        {"RetinaNet", "retinanet_resnet50_fpn"},
        {"retinanet_r50_fpn", "retinanet_resnet50_fpn"},
        {"fasterrcnn_resnet50_fpn", "fasterrcnn_resnet50_fpn"},
        {"fasterrcnn_mobilenet_v3_large_fpn", NULL},
        {"my-vit-base", NULL},
        {"ViT-B/16", "vit_base"},
        {"ViT-L/32", "vit_large_patch32"},
        {"mine/16", NULL},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const dls_model_names n = dls_model_lookup(want[i][0]);
        const bool known = n.match == DLS_MODEL_KNOWN;
        if (known != (want[i][1] != NULL) || (known && strcmp(n.zoo->name, want[i][1]) != 0)) {
            fail_msg("%s: %s", want[i][0], known ? n.zoo->name : "unknown");
        }
    }
}

/* Who stands in for whom is said by the configuration, and for unknown models alone. */
TEST(test_stand_ins)
{
    static const char table[] = "CycleGAN = inception4;a3c=lenet; vgg16=lenet ;";
    dls_model_names n;
    dls_error err;
    assert_int_equal(dls_model_lookup_among("CycleGAN (batch size 1)", table, NULL, &n, &err), DLS_OK);
    assert_string_equal(n.zoo->name, "inception4");
    assert_int_equal(n.match, DLS_MODEL_STAND_IN);
    assert_int_equal(dls_model_lookup_among("vgg16", table, NULL, &n, &err), DLS_OK);
    assert_string_equal(n.zoo->name, "vgg16");
    assert_int_equal(n.match, DLS_MODEL_KNOWN);
    assert_int_equal(dls_model_lookup_among("", table, NULL, &n, &err), DLS_OK);
    assert_int_equal(n.match, DLS_MODEL_UNKNOWN);
    static const char *const bad[] = {"a3c", "=lenet", "a3c=nonesuch", "a3c=lenet;b=c"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        MUST_FAIL(DLS_ECONFIG, "NAME=MODEL", dls_model_lookup_among("vgg16", bad[i], NULL, &n, &e));
    }
}

/* The file of a graph is the model itself: ours of one batch, an ONNX of any. */
TEST(test_files)
{
    char table[8192], ours[] = "/tmp/dlsim-kinds-XXXXXX.h5", path[DLS_MODEL_PATH];
    const char *source = getenv("DLSIM_SOURCE");
    const dls_zoo_model *vgg = dls_zoo_find("vgg16");
    const dls_zoo_options options = dls_zoo_defaults(vgg);
    struct dls_zoo_file *files = NULL;
    dls_model_names n;
    dls_error err = {0};
    dls_opgraph *g;
    dls_workload a, b, c;
    close(mkstemps(ours, 3));
    assert_int_equal(dls_zoo_build(vgg, &options, &g, &err), DLS_OK);
    assert_int_equal(dls_opgraph_save(g, ours, &err), DLS_OK);
    dls_opgraph_destroy(g);
    snprintf(table, sizeof table,
             "mine = %s ;net=%s/predictor/measure/data/networks/alexnet-0.onnx; x=opt-1.3b", ours,
             source ? source : ".");
    const char *left = dls_model_next_file(table, path);
    assert_string_equal(path, ours);
    left = dls_model_next_file(left, path);
    assert_non_null(strstr(path, "alexnet-0.onnx"));
    assert_null(dls_model_next_file(left, path)); /* a point is in names of models, too */
    assert_int_equal(dls_model_lookup_among("net", table, &files, &n, &err), DLS_OK);
    assert_int_equal(n.match, DLS_MODEL_KNOWN);
    assert_int_equal(dls_zoo_only_batch(n.zoo), 0);
    assert_int_equal(dls_model_workload(&n, DLS_NUMERIC_FP32, &c, &err), DLS_OK);
    assert_true(c.params > 1e5 && c.params < 1e6); /* 355,594 in labels.csv */
    dls_workload_fini(&c);
    assert_int_equal(dls_model_lookup_among("Mine", table, &files, &n, &err), DLS_OK);
    assert_int_equal(n.match, DLS_MODEL_KNOWN);
    assert_string_equal(n.zoo->name, ours);
    assert_null(dls_zoo_find(ours)); /* nobody else's */
    assert_int_equal(dls_zoo_only_batch(n.zoo), options.batch);
    const dls_zoo_model *mine = n.zoo;
    assert_int_equal(dls_model_lookup_among("Mine", table, &files, &n, &err), DLS_OK);
    assert_ptr_equal(n.zoo, mine);
    assert_int_equal(dls_model_workload(&n, DLS_NUMERIC_FP32, &a, &err), DLS_OK);
    n = (dls_model_names){.zoo = vgg};
    assert_int_equal(dls_model_workload(&n, DLS_NUMERIC_FP32, &b, &err), DLS_OK);
    assert_true(a.params == b.params && a.n_kernels == b.n_kernels && a.n_tensors == b.n_tensors);
    dls_workload_fini(&a);
    dls_workload_fini(&b);
    /* Another batch than the file's is refused by who builds the graph itself. */
    dls_zoo_options twice = dls_zoo_defaults(mine);
    twice.batch *= 2;
    MUST_FAIL(DLS_EINPUT, "the graph is of a batch of", dls_zoo_build(mine, &twice, &g, &e));
    unlink(ours);
    static const char *const bad[] = {"a3c=/nonesuch/net.onnx", "a3c=/nonesuch/net.h5",
                                      "a3c=/dev/null/x.pb"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(dls_model_lookup_among("vgg16", bad[i], &files, &n, &err), DLS_EINPUT);
        assert_non_null(strstr(err.where, "/"));
    }
    dls_zoo_files_free(files);
}

/* A size of its own makes a model another workload; the usual one does not. */
TEST(test_sizes)
{
    dls_model_names n = dls_model_lookup("resnet50");
    dls_workload small, usual;
    dls_model_resize(&n, 224, 0);
    assert_non_null(n.layers);
    n = dls_model_lookup("resnet101");
    dls_model_resize(&n, 112, 0);
    assert_null(n.layers);
    assert_int_equal(dls_model_workload(&n, DLS_NUMERIC_FP32, &small, NULL), DLS_OK);
    n.image = 0;
    assert_int_equal(dls_model_workload(&n, DLS_NUMERIC_FP32, &usual, NULL), DLS_OK);
    const double ratio = small.forward_macs / usual.forward_macs;
    assert_true(ratio > 0.24 && ratio < 0.28);
    dls_workload_fini(&small);
    dls_workload_fini(&usual);
    n = dls_model_lookup("bert_large");
    dls_model_resize(&n, 0, 512);
    assert_int_equal(dls_model_workload(&n, DLS_NUMERIC_FP32, &usual, NULL), DLS_OK);
    assert_true(usual.forward_macs > 4 * 39e9); /* four times those of 128 tokens, and more */
    dls_workload_fini(&usual);
    n = dls_model_lookup("bert_base");
    dls_model_resize(&n, 0, 384);
    assert_string_equal(n.layers, "bert_base");
    n = dls_model_lookup("resnet18");
    dls_model_resize(&n, 224, 0);
    assert_string_equal(n.zoo->name, "resnet18_imagenet");
    n = dls_model_lookup("vgg16");
    dls_model_resize(&n, 0, 128); /* it has no tokens */
    assert_int_equal(dls_model_workload(&n, DLS_NUMERIC_FP32, &usual, NULL), DLS_EINPUT);
}

/* Of tables of which a step touches few rows all rows lie in memory: MLPerf's DLRM has 96 GB of them. */
TEST(test_tables)
{
    static const struct {
        const char *model;
        double params;
    } of[] = {{"dlrm", 540e6}, {"dlrm_mlperf", 24036595969.0}, {"vgg16", 138357544}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        const dls_model_names n = dls_model_lookup(of[i].model);
        dls_workload w;
        assert_int_equal(dls_model_workload(&n, DLS_NUMERIC_FP32, &w, NULL), DLS_OK);
        assert_true(fabs((w.held + w.params) / of[i].params - 1) < 0.005);
        assert_true(i < 2 ? w.held > 0.9 * of[i].params : w.held == 0);
        const double whole = dls_whole_memory_bytes(&w, DLS_NUMERIC_FP32, 1, 2);
        const double step = dls_words_memory_bytes(&w, DLS_NUMERIC_FP32, 1, 2);
        assert_true(whole - step == 4 * w.held);
        dls_workload_fini(&w);
    }
}

/* A step changes and exchanges the rows that its samples look up, one of each of 26 tables a sample, whatever the usual
 * batch is; the usual one if nobody says. */
TEST(test_rows_of_tables)
{
    static const int64_t batch[] = {8192, 1, 1000, 40000};
    double dense = 0;
    for (int i = 0; i < 5; i++) {
        dls_model_names n = dls_model_lookup("dlrm_mlperf");
        if (i < 4) {
            dls_model_touch(&n, batch[i]);
        }
        dls_workload w;
        assert_int_equal(dls_model_workload(&n, DLS_NUMERIC_FP32, &w, NULL), DLS_OK);
        double sum = 0;
        for (size_t k = 0; k < w.n_tensors; k++) {
            sum += w.tensor[k];
        }
        assert_true(sum == w.params);
        dense = i == 0 ? w.params - 8192.0 * 26 * 128 : dense;
        assert_true(w.params - dense == (i < 4 ? (double)batch[i] : 8192) * 26 * 128);
        dls_workload_fini(&w);
    }
    assert_true(dense == 2368897);
    dls_model_names n = dls_model_lookup("dlrm_dcnv2"); /* 214 rows a sample */
    dls_model_touch(&n, 100);
    dls_workload w;
    assert_int_equal(dls_model_workload(&n, DLS_NUMERIC_FP32, &w, NULL), DLS_OK);
    assert_true(w.params == 100 * 214 * 128 + 16044545);
    dls_workload_fini(&w);
    n = dls_model_lookup("vgg16");
    const dls_model_names same = n;
    dls_model_touch(&n, 7);
    assert_true(dls_model_same(&n, &same));
}

static dls_trace *sample(void)
{
    static const struct {
        const char *model;
        int32_t gpus;
        int64_t batch;
    } jobs[] = {{"vgg16", 1, 32},    {"resnet50", 2, 64}, {"vgg16", 4, 128}, {"vgg16", 1, 64},
                {"resnet50", 1, 32}, {NULL, 1, -1},       {"oddity", 2, 3},  {"lm", 8, -1}};
    dls_trace *trace;
    char id[8];
    EACH_JOB(job, sizeof jobs / sizeof jobs[0], &trace) {
        snprintf(id, sizeof id, "%d", job.i);
        job.rec.id = id;
        job.rec.submit_us = job.i;
        job.rec.duration_us = 1;
        job.rec.gpus_milli = 1000 * (int64_t)jobs[job.i].gpus;
        job.rec.model = jobs[job.i].model;
        job.rec.batch = jobs[job.i].batch;
    }
    return trace;
}

TEST(test_grouping)
{
    static const int32_t want[] = {0, 1, 0, 2, 1, 3, 4, 5};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = sample();
    DLS_OWN(dls_kinds_fini) dls_kinds kinds = {0};
    assert_int_equal(dls_kinds_of_trace(trace, NULL, NULL, &kinds, NULL), DLS_OK);
    assert_int_equal(kinds.n, 6);
    assert_memory_equal(kinds.of, want, sizeof want);
    assert_int_equal(kinds.unknown_jobs, 2);
    assert_int_equal(kinds.stand_in_jobs, 0);
    assert_int_equal(kinds.kind[0].batch, 32);
    assert_int_equal(kinds.kind[4].batch_per_gpu, 2); /* 3 over two GPUs, rounded */
    assert_int_equal(kinds.kind[5].batch_per_gpu, DLS_ABSENT);
    assert_int_equal(kinds.kind[5].batch, dls_zoo_find("lstm_lm")->batch);
    assert_int_equal(kinds.kind[3].first_job, 5);
    /* The largest tensor of VGG-16 is its first dense layer's: 25088 x 4096 of 138.36 million. */
    assert_true(fabs(kinds.kind[0].tensor_skew - 25088.0 * 4096 / 138357544) < 1e-3);
    assert_true(kinds.kind[0].tensor_skew == kinds.kind[2].tensor_skew);
    assert_true(kinds.kind[1].tensor_skew < 0.14);
    assert_true(isnan(kinds.kind[3].tensor_skew));
}

/* A server has the rows of tables that the job's own batch touches: of 26 tables in MLPerf's DLRM. */
TEST(test_skew_of_tables)
{
    static const int32_t batch[] = {16, 8192, 32768};
    static const double largest[] = {1024.0 * 1024, 1024.0 * 1024, 32768.0 * 128};
    dls_trace *trace;
    char id[8];
    EACH_JOB(job, 3, &trace) {
        snprintf(id, sizeof id, "%d", job.i);
        job.rec.id = id;
        job.rec.submit_us = job.i;
        job.rec.duration_us = 1;
        job.rec.gpus_milli = 1000;
        job.rec.model = "dlrm_mlperf";
        job.rec.batch = batch[job.i];
    }
    DLS_HOLD(dls_trace_destroy) dls_trace *held = trace;
    DLS_OWN(dls_kinds_fini) dls_kinds kinds = {0};
    assert_int_equal(dls_kinds_of_trace(held, NULL, NULL, &kinds, NULL), DLS_OK);
    assert_int_equal(kinds.n, 3);
    for (int i = 0; i < 3; i++) {
        const double params = 2368897 + 26 * 128.0 * batch[i];
        assert_true(fabs(kinds.kind[i].tensor_skew - largest[i] / params) < 1e-12);
    }
}

/* A workload out of graphs holds for every batch: as a graph of that very batch. */
TEST(test_any_batch)
{
    static const char *const models[] = {"gpt2", "transformer", "densenet121", "ncf",
                                         "mobilenet_v2"};
    static const int32_t batches[] = {1, 3, 8, 300};
    for (size_t m = 0; m < 5; m++) {
        const dls_model_names names = dls_model_lookup(models[m]);
        dls_workload any, one;
        assert_null(names.layers);
        assert_int_equal(dls_model_workload(&names, DLS_NUMERIC_FP32, &any, NULL), DLS_OK);
        for (size_t b = 0; b < 4; b++) {
            dls_zoo_options options = dls_zoo_defaults(names.zoo);
            DLS_HOLD(dls_opgraph_destroy) dls_opgraph *graph = NULL;
            options.batch = batches[b];
            assert_int_equal(dls_zoo_build(names.zoo, &options, &graph, NULL), DLS_OK);
            assert_int_equal(dls_workload_from_graph(graph, &one, NULL), DLS_OK);
            assert_int_equal(any.n_kernels, one.n_kernels);
            double moved[2] = {0, 0}, flops[2] = {0, 0};
            for (size_t i = 0; i < one.n_kernels; i++) {
                const double batch = batches[b];
                moved[0] += any.kernel[i].moved * batch + any.kernel[i].moved_once;
                moved[1] += one.kernel[i].moved * batch + one.kernel[i].moved_once;
                flops[0] += any.kernel[i].flops * batch;
                flops[1] += one.kernel[i].flops * batch;
            }
            if (fabs(moved[0] / moved[1] - 1) > 1e-3 || fabs(flops[0] / flops[1] - 1) > 1e-3 ||
                fabs(any.activations / one.activations - 1) > 0.02) {
                fail_msg("%s at %d: traffic %g, operations %g, activations %g of the graph's",
                         models[m], (int)batches[b], moved[0] / moved[1], flops[0] / flops[1],
                         any.activations / one.activations);
            }
            dls_workload_fini(&one);
        }
        dls_workload_fini(&any);
    }
}

static dls_status work_of(const dls_model_names *names, int32_t batch, dls_numeric numeric,
                          dls_workload *w)
{
    return batch ? dls_model_at_batch(names, batch, numeric, w, NULL)
                 : dls_model_workload(names, numeric, w, NULL);
}

/* What a memo gives is what is built; it is asked when it has something, and mistakes no size, precision,
 * runner or batch for another. */
TEST(test_memo)
{
    static const char *const models[] = {"vit_base", "vit_base_patch16_384", "densenet121", "gpt2"};
    DLS_HOLD(dls_memo_destroy) dls_memo *memo = dls_memo_create();
    assert_non_null(memo);
    for (size_t i = 0; i < 2 * 4 * 8; i++) {
        dls_model_names names = dls_model_lookup(models[i % 4]);
        const dls_numeric numeric = i / 4 % 2 ? DLS_NUMERIC_FP16 : DLS_NUMERIC_FP32;
        const int32_t batch = i / 8 % 2 ? 15 : 0;
        DLS_OWN(dls_workload_fini) dls_workload built = {0}, kept = {0};
        dls_status status;
        names.runner = i / 16 % 2 ? DLS_RUN_EAGER : DLS_RUN_GRAPH;
        assert_int_equal(work_of(&names, batch, numeric, &built), DLS_OK);
        names.memo = memo;
        if (i < 4 * 8) {
            assert_int_equal(work_of(&names, batch, numeric, &kept), DLS_OK);
        } else { /* no copies, and no graph */
            REFUSED(status, 0, work_of(&names, batch, numeric, &kept));
            assert_int_equal(status, DLS_OK);
        }
        assert_int_equal(kept.n_kernels, built.n_kernels);
        assert_int_equal(kept.n_tensors, built.n_tensors);
        assert_memory_equal(kept.tensor, built.tensor, built.n_tensors * sizeof *built.tensor);
        assert_true(kept.kept == built.kept && kept.params == built.params &&
                    kept.activations == built.activations && kept.process == built.process);
        for (size_t k = 0; k < built.n_kernels; k++) {
            const dls_kernel *a = &kept.kernel[k], *b = &built.kernel[k];
            assert_true(a->flops == b->flops && a->moved == b->moved && a->family == b->family &&
                        a->moved_once == b->moved_once && a->layout == b->layout);
        }
    }
}

TEST(test_no_memory)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = sample();
    dls_status status = DLS_ENOMEM;
    for (int n = 0; status != DLS_OK; n += n < 8 ? 1 : 97) {
        dls_kinds kinds;
        REFUSED(status, n, dls_kinds_of_trace(trace, NULL, NULL, &kinds, NULL));
        assert_true(status == DLS_OK || status == DLS_ENOMEM);
        if (status == DLS_OK) {
            assert_true(n > 3);
            dls_kinds_fini(&kinds);
        }
    }
}
