/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The words and their spellings. "mixed" without a format is fp16, as torch.autocast has it on GPUs.
 */
#include "predictor/measured/words.h"

#include "workload/kinds.h"

#include <string.h>

const dls_word dls_word_precisions[] = {
    {"fp32", "fp32|float32|float|single|full|f32|32|32true|torchfloat32"},
    {"tf32", "tf32|tensorfloat32|fp32tf32|float32withtf32|fp32withtf32"},
    {"fp16", "fp16|float16|half|f16|16|16true|torchfloat16|amp|mixed|mixedprecision|fp16mixed|mixedfp16|"
             "16mixed|ampfp16|fp16amp|ampfloat16|mixedfloat16"},
    {"bf16", "bf16|bfloat16|torchbfloat16|bf16true|bf16mixed|mixedbf16|ampbf16|bf16amp|ampbfloat16|"
             "mixedbfloat16"},
    {0},
};

const dls_word dls_word_modes[] = {
    {"training", "training|train"},
    {"forward", "forward|forwardonly|fwd|inf|infer|inference|eval|evaluation|predict"},
    {0},
};

const dls_word dls_word_flags[] = {
    {"0", "0|false|no|n|f|off"},
    {"1", "1|true|yes|y|t|on"},
    {0},
};

const dls_word dls_word_layouts[] = {
    {"nchw", "nchw|channelsfirst|contiguous|contiguousformat|torchcontiguousformat"},
    {"nhwc", "nhwc|channelslast|torchchannelslast"},
    {0},
};

/* FlashAttention 3 has other kernels. */
const dls_word dls_word_attentions[] = {
    {"eager", "eager|math|plain|naive"},
    {"fused", "fused|flash|flashattention|flashattention2|fa2|sdpa|scaleddotproductattention"},
    {0},
};

const dls_word dls_word_exchanges[] = {
    {"allreduce", "allreduce|ringallreduce|nccl|ddp|horovod"},
    {"one", "one|none"},
    {"ps-sync", "pssync|syncps"},
    {"ps-async", "psasync|asyncps"},
    {0},
};

const dls_word dls_word_dividing[] = {
    {"dp", "dp|ddp|data|dataparallel|dataparallelism|distributeddataparallel|none|horovod"},
    {0},
};

const dls_word dls_word_optimisers[] = {
    {"none", "none|no|0|false|off|without"},
    {0},
};

bool dls_word_is_one_of(const char *list, const char *word, size_t length)
{
    for (const char *p = list; *p; p += strcspn(p, "|"), p += *p == '|') {
        if (strcspn(p, "|") == length && strncmp(p, word, length) == 0) {
            return true;
        }
    }
    return false;
}

bool dls_word_is(const char *spelled, const char *text)
{
    char key[DLS_MODEL_KEY];
    dls_model_key(text, key);
    return dls_word_is_one_of(spelled, key, strlen(key));
}

const char *dls_word_find(const dls_word *words, const char *text)
{
    while (words->is && !dls_word_is(words->spelled, text)) {
        words++;
    }
    return words->is;
}
