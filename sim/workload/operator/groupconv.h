/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Convolutions of groups as PyTorch runs them. In 16 bits cuDNN has kernels of matrix units only
 * for 4, 8, 16 or 32 channels a group, as many out as in, in multiples of 32 groups, where channels
 * lie last: those are what other convolutions are. The rest runs on vector units and reads its
 * images again and again:
 *
 *      depthwise  bytes / (bandwidth x depthwise)
 *      grouped    bytes / (bandwidth x memory) + flops / (fp32 peak x compute)
 *
 * Below 32 channels PyTorch has a kernel of its own for depthwise convolutions with channels first,
 * whose gradient of the weights takes a block for each weight, as long for few channels as for
 * many: images x pixels x narrow_ns.
 *
 * In 32 bits, with channels first: depthwise ones are PyTorch's own kernels of vector units in
 * tf32, too, for which an output is as much work as so many taps:
 *
 *      forward    flops (1 + depthwise_output / taps) / (fp32 peak x depthwise_forward)
 *      gradients  bytes / (bandwidth x depthwise) + flops / (fp32 peak x that of the part)
 *
 * where the gradient of the images tries each tap for each of their pixels, whatever the stride.
 * Those of groups are cuDNN's: matrix units between transposes, which take as long for an output
 * and a tap whatever the width of a group, or vector units, to which wide groups are work, too:
 *
 *      tf32       bytes / (bandwidth x tf32) + flops / width / (fp32 peak x tf32_block)
 *      fp32       max(flops / (fp32 peak x fp32), flops / width / (fp32 peak x fp32_block))
 *
 * and a call, in fp32 one for each group; gradients take so many times as long, with calls of their
 * own.
 *
 * cuDNN 9 on Hopper has fast kernels in 16 bits, channels last, for depthwise ones and for 4 to 64
 * channels a group, a power of two, as many out as in, in any number of groups, which take as long
 * for few channels a group as for many. For other widths it turns images so that groups lie apart,
 * multiplies them as dense ones, and turns the result; kernels that turn powers of two are faster:
 *
 *      depthwise  bytes / (bandwidth x v9_depthwise) + flops / (fp32 peak x that of the part)
 *      fast       flops / width / (fp32 peak x that of the part)
 *      others     numbers / (fp32 peak x v9_turn or v9_turn_odd) + flops / (peak x v9_dense)
 *
 * and a call. Constants are those of grouped.cfg: in 16 bits fitted to whole steps, in 32 and of
 * cuDNN 9 to kernels (docs/operator.md).
 */
#ifndef DLS_OPERATOR_GROUPCONV_H
#define DLS_OPERATOR_GROUPCONV_H

#include "workload/operator/workload.h"

/* XX(id, key, expected, spread of its logarithm) */
#define DLS_GROUPCONV_CONSTANTS(XX)                                                                \
    XX(DEPTHWISE_LAST, depthwise_last, 0.4, 0.7)                                                   \
    XX(DEPTHWISE_FIRST, depthwise_first, 0.4, 0.7)                                                 \
    XX(MEMORY_LAST, memory_last, 0.2, 0.7)                                                         \
    XX(MEMORY_FIRST, memory_first, 0.2, 0.7)                                                       \
    XX(COMPUTE_LAST, compute_last, 0.2, 0.7)                                                       \
    XX(COMPUTE_FIRST, compute_first, 1, 0.7)                                                       \
    XX(NARROW, narrow_ns, 2, 1)                                                                    \
    XX(DEPTHWISE, depthwise, 0.85, 0.1)                                                            \
    XX(DEPTHWISE_OUTPUT, depthwise_output, 10, 0.7)                                                \
    XX(DEPTHWISE_FORWARD, depthwise_forward, 0.05, 0.7)                                            \
    XX(DEPTHWISE_DATA, depthwise_data, 0.02, 0.7)                                                  \
    XX(DEPTHWISE_WEIGHT, depthwise_weight, 0.02, 0.7)                                              \
    XX(TF32, tf32, 0.3, 0.7)                                                                       \
    XX(TF32_BLOCK, tf32_block, 0.05, 0.7)                                                          \
    XX(TF32_CALL, tf32_call_us, 15, 0.7)                                                           \
    XX(TF32_GRADIENT, tf32_gradient, 1.5, 0.7)                                                     \
    XX(TF32_GRADIENT_CALL, tf32_gradient_call_us, 20, 0.7)                                         \
    XX(FP32, fp32, 0.5, 0.7)                                                                       \
    XX(FP32_BLOCK, fp32_block, 0.01, 0.7)                                                          \
    XX(FP32_CALL, fp32_call_us, 1, 0.7)                                                            \
    XX(FP32_GRADIENT, fp32_gradient, 1.5, 0.7)                                                     \
    XX(FP32_GRADIENT_CALL, fp32_gradient_call_us, 2, 0.7)                                          \
    XX(V9_DEPTHWISE, v9_depthwise, 0.7, 0.3)                                                       \
    XX(V9_FORWARD, v9_forward, 0.4, 0.7)                                                           \
    XX(V9_DATA, v9_data, 0.1, 0.7)                                                                 \
    XX(V9_WEIGHT, v9_weight, 0.1, 0.7)                                                             \
    XX(V9_BLOCK, v9_block, 0.08, 0.5)                                                              \
    XX(V9_BLOCK_WEIGHT, v9_block_weight, 0.07, 0.5)                                                \
    XX(V9_CALL, v9_call_us, 4, 0.5)                                                                \
    XX(V9_TURN, v9_turn, 0.0055, 0.5)                                                              \
    XX(V9_TURN_ODD, v9_turn_odd, 0.0016, 0.5)                                                      \
    XX(V9_TURN_CALL, v9_turn_call_us, 40, 0.5)                                                     \
    XX(V9_DENSE, v9_dense, 0.3, 0.3)

typedef enum dls_groupconv_constant {
#define XX(id, key, mean, sigma) DLS_GROUPCONV_##id,
    DLS_GROUPCONV_CONSTANTS(XX)
#undef XX
        DLS_GROUPCONV_N
} dls_groupconv_constant;
#define DLS_GROUPCONV_HALF DLS_GROUPCONV_DEPTHWISE /* those of 16 bits, before those of 32 */

typedef struct dls_groupconv {
    double c[DLS_GROUPCONV_N]; /* all positive, or nothing is known */
} dls_groupconv;

/* Seconds of one run at a batch without its launch; 0: a kernel like others. mem_bps, fp32_flops:
 * the GPU's, per second; bytes: what the kernel reads and writes. */
double dls_groupconv_s(const dls_groupconv *g, const dls_kernel *k, double batch, double bytes,
                       double mem_bps, double fp32_flops);

/* The same by cuDNN 9 on Hopper; flops: the peak in 16 bits. 0: channels lie first. */
double dls_groupconv9_s(const dls_groupconv *g, const dls_kernel *k, double batch, double bytes,
                        double mem_bps, double fp32_flops, double flops);

/* The same in 32 bits; flops: the precision's peak, that of vector units in fp32. */
double dls_groupconv32_s(const dls_groupconv *g, const dls_kernel *k, double batch, double bytes,
                         double mem_bps, double fp32_flops, double flops);

/* Errors: ECONFIG with file and line; EOUTPUT. */
dls_status dls_groupconv_load(const char *path, dls_groupconv *g, dls_error *err) DLS_MUST_CHECK;
dls_status dls_groupconv_save(const dls_groupconv *g, const char *path,
                              dls_error *err) DLS_MUST_CHECK;

#endif
