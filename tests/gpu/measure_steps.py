#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times whole training steps on this GPU with PyTorch (timm, torchvision, transformers): rows of the CSV that
`dlsim evaluate --measured` reads (docs/measured.md).

    python3 tests/gpu/measure_steps.py --out=steps.csv [--seconds=500] [--benchmark] [--only=NAME]

Rows that the file has are not measured again. step_ms: median between events; host_ms: what the host takes to enqueue a step that finds the GPU idle; busy_ms, kernels, by:
by the profiler, the sum of kernel times, their number, and both by kind. Eager, random inputs, cross entropy; SGD with
momentum for networks of images, AdamW for transformers (eager attention, or --attention=sdpa).
"""
import argparse
import csv
import gc
import itertools
import os
import statistics
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

DEVICE = "cuda"
ATTENTION = "eager"
ALL = [("bf16", ""), ("fp32", ""), ("tf32", ""), ("amp", "")]
THREE = ALL[:3]
TWO = [("bf16", ""), ("tf32", "")]
IMAGES = [("bf16", "nhwc"), ("tf32", "nchw"), ("fp32", "nchw")]
TOKENS = [(precision, "nchw") for precision, _ in THREE]  # transformers and mixers
MORE_IMAGES = IMAGES + [("amp", "nhwc"), ("amp", "nchw")]
HOST_BOUND = IMAGES[:1]  # at 8 samples: what the host can feed

# (network, pixels of an edge, batch, precisions and layouts); of timm, or of torchvision where it says so.
IMAGE_NETWORKS = [(name, 224, batch, IMAGES[:2]) for name, batch in [
    ("regnetx_032", 128), ("mobilenetv3_large_100", 256), ("resnest50d", 128), ("vgg19_bn", 128), ("mnasnet_100", 256),
    ("resnetv2_50", 128), ("poolformer_s12", 128), ("cspdarknet53", 128), ("res2net50_26w_4s", 128), ("torchvision/squeezenet1_1", 512),
    ("torchvision/shufflenet_v2_x1_0", 512), ("repvgg_b1", 128), ("dpn92", 128), ("visformer_small", 128), ("rexnet_100", 256),
    ("mixnet_m", 128)]]
IMAGE_NETWORKS += [(name, 224, batch, TOKENS[::2]) for name, batch in [
    ("vit_large_patch16_224", 64), ("xcit_small_12_p16_224", 128), ("twins_svt_small", 128), ("levit_256", 256),
    ("cait_s24_224", 64), ("beit_base_patch16_224", 128)]]
IMAGE_NETWORKS += [(name, pixels, batch, formats)
                   for name, pixels, usual in [("resnet50", 224, 64), ("vgg16", 224, 64), ("torchvision/alexnet", 224, 256),
                                               ("inception_v3", 299, 64), ("resnet18", 224, 128), ("resnet152", 224, 64),
                                               ("inception_v4", 299, 64), ("densenet121", 224, 64)]
                   for batch, formats in [(usual, MORE_IMAGES), (8, HOST_BOUND)]]
IMAGE_NETWORKS += [(name, 224, 128, TOKENS) for name in ("vit_base_patch16_224", "swin_tiny_patch4_window7_224", "mixer_b16_224")]
IMAGE_NETWORKS += [(name, 224, batch, IMAGES) for name, batch in [
    ("resnet50", 256), ("mobilenetv2_100", 256), ("convnext_tiny", 128), ("resnet50_gn", 128), ("efficientnet_b0", 256),
    ("resnext50_32x4d", 128), ("densenet121", 128), ("regnety_032", 128), ("seresnet50", 128), ("torchvision/googlenet", 256),
    ("wide_resnet50_2", 128), ("vgg11", 128), ("resnet101", 128), ("dla60", 128), ("hrnet_w18", 64), ("ghostnet_100", 256)]]
IMAGE_NETWORKS += [("deit3_small_patch16_224", 224, 256, TOKENS), ("xception41", 299, 64, IMAGES)]


def decoder(width, layers, heads, words, **more):
    return {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads, "vocab_size": words, **more}


def llama(width, inner, layers, heads, keys, words, tied, **more):
    return decoder(width, layers, heads, words, intermediate_size=inner, num_key_value_heads=keys, tie_word_embeddings=tied, **more)


# (network, class and configuration of transformers, sizes, tokens, batch, precisions).
TEXT_NETWORKS = [
    ("llama3_2_1b", "LlamaForCausalLM", "LlamaConfig", llama(2048, 8192, 16, 32, 8, 128256, True), 1024, 4, TWO),
    ("tinyllama_1b", "LlamaForCausalLM", "LlamaConfig", llama(2048, 5632, 22, 32, 4, 32000, False), 2048, 2, TWO),
    ("qwen2_0_5b", "Qwen2ForCausalLM", "Qwen2Config", llama(896, 4864, 24, 14, 2, 151936, True), 1024, 8, TWO),
    ("qwen3_0_6b", "Qwen3ForCausalLM", "Qwen3Config", llama(1024, 3072, 28, 16, 8, 151936, True, head_dim=128), 1024, 8, TWO),
    ("gemma_2b", "GemmaForCausalLM", "GemmaConfig", llama(2048, 16384, 18, 8, 1, 256000, True, head_dim=256), 1024, 4, TWO),
    ("gemma2_2b", "Gemma2ForCausalLM", "Gemma2Config", llama(2304, 9216, 26, 8, 4, 256000, True, head_dim=256), 1024, 2, TWO),
    ("phi1_5", "PhiForCausalLM", "PhiConfig", decoder(2048, 24, 32, 51200, intermediate_size=8192), 1024, 4, TWO),
    ("pythia_410m", "GPTNeoXForCausalLM", "GPTNeoXConfig", decoder(1024, 24, 16, 50304, intermediate_size=4096), 1024, 8, TWO),
    ("bloom_560m", "BloomForCausalLM", "BloomConfig",
     {"hidden_size": 1024, "n_layer": 24, "n_head": 16, "vocab_size": 250880}, 1024, 4, TWO),
    ("opt_350m", "OPTForCausalLM", "OPTConfig",
     {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "ffn_dim": 4096, "word_embed_proj_dim": 512,
      "do_layer_norm_before": False}, 1024, 8, TWO),
    ("t5_large", "T5ForConditionalGeneration", "T5Config",
     {"d_model": 1024, "d_ff": 4096, "num_layers": 24, "num_heads": 16, "decoder_start_token_id": 0}, 512, 8, TWO),
    ("xlm_roberta_base", "XLMRobertaForMaskedLM", "XLMRobertaConfig",
     {"vocab_size": 250002, "max_position_embeddings": 514, "type_vocab_size": 1}, 512, 16, TWO),
    ("smollm2_360m", "LlamaForCausalLM", "LlamaConfig", llama(960, 2560, 32, 15, 5, 49152, True), 1024, 8, TWO),
    ("distilgpt2", "GPT2LMHeadModel", "GPT2Config", {"n_layer": 6}, 1024, 16, TWO),
]
TEXT_NETWORKS += [
    ("bert_base", "BertForMaskedLM", "BertConfig", {}, 128, 64, ALL),
    ("bert_large", "BertForMaskedLM", "BertConfig",
     {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}, 512, 8, ALL),
    ("gpt2_small", "GPT2LMHeadModel", "GPT2Config", {}, 1024, 8, ALL),
    ("gpt2_large", "GPT2LMHeadModel", "GPT2Config", {"n_embd": 1280, "n_layer": 36, "n_head": 20}, 1024, 4, ALL),
    ("opt_125m", "OPTForCausalLM", "OPTConfig", {}, 1024, 8, ALL),
    ("distilbert_base", "DistilBertForMaskedLM", "DistilBertConfig", {}, 512, 16, THREE),
    ("t5_base", "T5ForConditionalGeneration", "T5Config",
     {"d_model": 768, "d_ff": 3072, "num_layers": 12, "num_heads": 12, "decoder_start_token_id": 0}, 512, 16, THREE),
    ("gpt2_medium", "GPT2LMHeadModel", "GPT2Config", {"n_embd": 1024, "n_layer": 24, "n_head": 16}, 1024, 4, THREE),
    ("opt_13b", "OPTForCausalLM", "OPTConfig",
     {"hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32, "ffn_dim": 8192, "word_embed_proj_dim": 2048},
     1024, 2, THREE),
    ("roberta_base", "RobertaForMaskedLM", "RobertaConfig",
     {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1}, 512, 16, THREE),
    ("albert_base", "AlbertForMaskedLM", "AlbertConfig",
     {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}, 512, 16, THREE),
]

# What dlsim calls networks of timm that it knows by another name.
NAMES = {"resnet18": "resnet18_imagenet", "resnet50": "resnet50_v15", "resnet101": "resnet101_v15", "resnet152": "resnet152_v15"}

# By words of a kernel's name, the first that fits.
KINDS = [("gemm", ("gemm", "nvjet", "cutlass", "splitk", "gemv")),
         ("conv", ("conv", "winograd", "fft", "implicit", "dgrad", "wgrad", "fprop", "xmma")),
         ("norm", ("norm", "bn_")), ("softmax", ("softmax",)), ("pool", ("pool",)), ("layout", ("nchw", "nhwc", "transpose")),
         ("copy", ("memcpy", "memset", "copy")), ("update", ("multi_tensor", "foreach", "adam")), ("reduce", ("reduce",)),
         ("dropout", ("dropout", "distribution")), ("embedding", ("embedding", "index")), ("elements", ("elementwise", "pointwise"))]

WHICH = ["model", "precision", "layout", "cudnn", "batch"]
FIELDS = ["gpu", *WHICH, "image", "sequence", "optimiser_used", "step_ms", "forward_ms", "spread",
          "host_ms", "kernels", "busy_ms", "peak_mib", "reserved_mib", "memory_mib", "framework", "attention", "by"]


def dlsim_name(name):
    return NAMES.get(name, name.rpartition("/")[2])


class ImageNetwork:
    def __init__(self, name, pixels):
        torch.manual_seed(0)
        self.pixels = pixels
        library, _, of_library = name.rpartition("/")
        self.name = dlsim_name(name)
        with torch.device(DEVICE):  # numbers are drawn there
            if library:
                import torchvision
                sizes = {"aux_logits": False, "init_weights": False} if of_library == "googlenet" else {}
                self.net = getattr(torchvision.models, of_library)(weights=None, **sizes)
            else:
                import timm
                from timm.layers import set_fused_attn
                set_fused_attn(ATTENTION == "sdpa")
                self.net = timm.create_model(name, pretrained=False)
        self.net.to(DEVICE).train()

    columns = property(lambda self: {"image": self.pixels, "optimiser_used": "momentum"})

    def optimiser(self):
        return torch.optim.SGD(self.net.parameters(), lr=1e-4, momentum=0.9)

    def loss(self, batch, layout):
        """A function that computes the loss of one batch."""
        form = torch.channels_last if layout == "nhwc" else torch.contiguous_format
        self.net.to(memory_format=form)
        x = torch.randn(batch, 3, self.pixels, self.pixels, device=DEVICE).contiguous(memory_format=form)
        y = torch.randint(0, 1000, (batch,), device=DEVICE)

        def loss():
            out = self.net(x)
            out = getattr(out, "logits", out)
            return torch.nn.functional.cross_entropy(out[0] if isinstance(out, (tuple, list)) else out, y)
        return loss


class TextNetwork:
    def __init__(self, name, network, configuration, sizes, tokens):
        import transformers
        transformers.logging.set_verbosity_error()
        torch.manual_seed(0)
        self.name, self.tokens = name, tokens
        config = getattr(transformers, configuration)(**sizes)
        config.use_cache = False
        self.words = config.vocab_size
        with torch.device(DEVICE):
            self.net = getattr(transformers, network)._from_config(config, attn_implementation=ATTENTION).to(DEVICE).train()

    columns = property(lambda self: {"sequence": self.tokens, "optimiser_used": "adamw"})

    def optimiser(self):
        return torch.optim.AdamW(self.net.parameters(), lr=1e-5)

    def loss(self, batch, _layout):
        x = torch.randint(5, self.words, (batch, self.tokens), device=DEVICE)
        return lambda: self.net(input_ids=x, labels=x).loss


def stepper(network, precision, layout, batch):
    """A function that makes one training step; an event that it is given is recorded between forward and backward."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    loss = network.loss(batch, layout)
    optimiser = network.optimiser()
    numeric = {"amp": torch.float16, "bf16": torch.bfloat16}.get(precision)
    scaler = torch.amp.GradScaler(DEVICE, enabled=precision == "amp")

    def step(forward_done=None):
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, dtype=numeric, enabled=numeric is not None):
            value = loss()
        if forward_done:
            forward_done.record()
        scaler.scale(value).backward()
        scaler.step(optimiser)
        scaler.update()
    return step


def seconds_of(step):
    torch.cuda.synchronize()
    begin = time.monotonic()
    step()
    return time.monotonic() - begin


def kernels_of(step):
    """The kernels of one step, by the profiler."""
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        step()
        torch.cuda.synchronize()
    kernels = [e for e in profiler.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    by = {}
    for kernel in kernels:
        kind = next((kind for kind, words in KINDS if any(word in kernel.name.lower() for word in words)), "other")
        number, ms = by.get(kind, (0, 0.0))
        by[kind] = number + 1, ms + kernel.device_time_total / 1e3
    largest_first = sorted(by.items(), key=lambda item: -item[1][1])
    return {"kernels": len(kernels), "busy_ms": f"{sum(ms for _, ms in by.values()):.4f}",
            "by": ";".join(f"{kind}:{number}:{ms:.3f}" for kind, (number, ms) in largest_first)}


def measure(network, precision, layout, batch):
    """The columns of a row that are measured."""
    step = stepper(network, precision, layout, batch)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    step()  # chooses its algorithms
    step()
    usual = seconds_of(lambda: (step(), torch.cuda.synchronize()))
    step()
    torch.cuda.synchronize()
    repeats = max(5, min(20, int(0.8 / max(usual, 1e-4))))
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2 * repeats + 1)]
    events[0].record()
    for i in range(repeats):
        step(events[2 * i + 1])
        events[2 * i + 2].record()
    torch.cuda.synchronize()
    steps = [events[2 * i].elapsed_time(events[2 * i + 2]) for i in range(repeats)]
    forward = [events[2 * i].elapsed_time(events[2 * i + 1]) for i in range(repeats)]
    median = statistics.median(steps)
    host = min(seconds_of(step) for _ in range(3))
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return {"step_ms": f"{median:.4f}", "forward_ms": f"{statistics.median(forward):.4f}",
            "spread": f"{(max(steps) - min(steps)) / median:.3f}", "host_ms": f"{1e3 * host:.3f}",
            "peak_mib": torch.cuda.max_memory_allocated() >> 20, "reserved_mib": torch.cuda.max_memory_reserved() >> 20,
            "memory_mib": (total - free) >> 20, **kernels_of(step)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="a CSV file")
    parser.add_argument("--seconds", type=float, default=500, help="no row is begun after them")
    parser.add_argument("--benchmark", action="store_true", help="cudnn.benchmark")
    parser.add_argument("--only", help="this network alone")
    parser.add_argument("--attention", default=ATTENTION, choices=["eager", "sdpa"], help="sdpa: in one kernel")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("measure_steps.py: PyTorch sees no GPU")
    globals()["ATTENTION"] = options.attention
    torch.backends.cudnn.benchmark = options.benchmark
    of_all = {"gpu": torch.cuda.get_device_name(), "framework": "pytorch-" + torch.__version__.split("+")[0],
              "cudnn": "benchmark" if options.benchmark else "", "attention": options.attention}
    images = [(name, lambda name=name, pixels=pixels: ImageNetwork(name, pixels), batch, formats)
              for name, pixels, batch, formats in IMAGE_NETWORKS]
    texts = [(name, lambda name=name, rest=rest: TextNetwork(name, *rest), batch, formats)
             for name, *rest, batch, formats in TEXT_NETWORKS]
    work = [entry for both in itertools.zip_longest(texts, images) for entry in both if entry]
    there = os.path.exists(options.out)
    with open(options.out, newline="") if there else open(os.devnull) as file:
        done = {tuple(row[key] for key in WHICH) for row in csv.DictReader(file)}
    begin = time.monotonic()
    with open(options.out, "a", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        if not there:
            table.writeheader()
        for name, build, batch, formats in work:
            formats = [(precision, layout) for precision, layout in formats
                       if (dlsim_name(name), precision, layout, of_all["cudnn"], str(batch)) not in done]
            if options.only not in (None, name) or not formats or time.monotonic() - begin > options.seconds:
                continue
            try:
                network = build()
            except Exception as error:  # one that these versions of the libraries lack costs its own rows only
                print(f"{name}: {str(error)[:200]}", flush=True)
                continue
            for precision, layout in formats:
                if time.monotonic() - begin > options.seconds:
                    break
                try:
                    row = measure(network, precision, layout, batch)
                except RuntimeError as error:  # no memory, mostly
                    print(f"{name} {precision} {batch}: {str(error)[:200]}", flush=True)
                    torch.cuda.empty_cache()
                    continue
                row.update(of_all, **network.columns, model=network.name, precision=precision, layout=layout, batch=batch)
                table.writerow(row)
                file.flush()
                print(f"{time.monotonic() - begin:.0f} s: {name} {precision} {layout} {batch}: {row['step_ms']} ms", flush=True)
            del network
            gc.collect()
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
