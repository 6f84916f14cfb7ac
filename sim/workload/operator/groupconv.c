/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The time of convolutions of groups, and the file of its constants, grouped.cfg.
 */
#include "workload/operator/groupconv.h"

#include "base/atomicfile.h"
#include "base/own.h"
#include "workload/operator/cfgread.h"

#include <math.h>
#include <stdio.h>

#define LEAST 1e-12
#define NARROW 32       /* channels below which cuDNN is not asked */
#define FAST_GROUPS 32  /* of which there must be a multiple */
#define FAST_CHANNELS 4 /* of a group, doubled up to three times, by cuDNN 9 four */
#define FAST_MOST 32
#define FAST_MOST_9 64
#define HALF_BYTES 2

static const char *const key[DLS_GROUPCONV_N] = {
#define XX(id, key, mean, sigma) #key,
    DLS_GROUPCONV_CONSTANTS(XX)
#undef XX
};

/* Is there a kernel of matrix units? */
static bool is_fast(const dls_window *w, int32_t width, int32_t most)
{
    bool known = false;
    for (int32_t n = FAST_CHANNELS; n <= most; n *= 2) {
        known = known || width == n;
    }
    return known && w->in_c == w->out_c;
}

/* Channels of a group; 0: there is one group, or nothing is known of it. */
static int32_t width_of(const dls_groupconv *g, const dls_kernel *k)
{
    const int32_t groups = (int32_t)k->count;
    return g->c[0] > 0 && k->layout != DLS_LAYOUT_UNKNOWN && groups > 1 ? k->window.in_c / groups
                                                                        : 0;
}

double dls_groupconv_s(const dls_groupconv *g, const dls_kernel *k, double batch, double bytes,
                       double mem_bps, double fp32_flops)
{
    const dls_window *w = &k->window;
    const int32_t width = width_of(g, k);
    const bool first = k->layout == DLS_LAYOUT_FIRST;
    if (width < 1 || (!first && k->count % FAST_GROUPS == 0 && is_fast(w, width, FAST_MOST))) {
        return 0;
    }
    if (width > 1) {
        return bytes / (mem_bps *
                        g->c[first ? DLS_GROUPCONV_MEMORY_FIRST : DLS_GROUPCONV_MEMORY_LAST]) +
               batch * k->flops /
                   (fp32_flops *
                    g->c[first ? DLS_GROUPCONV_COMPUTE_FIRST : DLS_GROUPCONV_COMPUTE_LAST]);
    }
    const bool narrow = first && w->in_c < NARROW && k->part == DLS_PART_WEIGHT;
    const double pixels = narrow ? batch * w->out_h * w->out_h : 0;
    return bytes / (mem_bps *
                    g->c[first ? DLS_GROUPCONV_DEPTHWISE_FIRST : DLS_GROUPCONV_DEPTHWISE_LAST]) +
           1e-9 * g->c[DLS_GROUPCONV_NARROW] * pixels;
}

/* The gradient of the images tries each tap for each of their pixels. */
static double tried(const dls_kernel *k, double batch)
{
    const double stride = k->part == DLS_PART_DATA ? k->window.stride : 1;
    return batch * k->flops * stride * stride;
}

static bool is_power_of_two(int32_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

double dls_groupconv9_s(const dls_groupconv *g, const dls_kernel *k, double batch, double bytes,
                        double mem_bps, double fp32_flops, double flops)
{
    static const dls_groupconv_constant of_part[] = {[DLS_PART_FORWARD] = DLS_GROUPCONV_V9_FORWARD,
                                                     [DLS_PART_DATA] = DLS_GROUPCONV_V9_DATA,
                                                     [DLS_PART_WEIGHT] = DLS_GROUPCONV_V9_WEIGHT};
    const int32_t width = width_of(g, k);
    const double call = 1e-6 * g->c[DLS_GROUPCONV_V9_CALL], work = tried(k, batch) / fp32_flops;
    if (width < 1 || k->layout == DLS_LAYOUT_FIRST) {
        return 0;
    }
    if (width > 1 && !is_fast(&k->window, width, FAST_MOST_9)) {
        const bool even =
            is_power_of_two(width) && is_power_of_two(k->window.out_c / (int32_t)k->count);
        return 1e-6 * g->c[DLS_GROUPCONV_V9_TURN_CALL] +
               bytes / HALF_BYTES /
                   (fp32_flops * g->c[even ? DLS_GROUPCONV_V9_TURN : DLS_GROUPCONV_V9_TURN_ODD]) +
               batch * k->flops / (flops * g->c[DLS_GROUPCONV_V9_DENSE]);
    }
    return call + (width == 1 ? bytes / (mem_bps * g->c[DLS_GROUPCONV_V9_DEPTHWISE]) +
                                    work / g->c[of_part[k->part]]
                              : work / width /
                                    g->c[k->part == DLS_PART_WEIGHT ? DLS_GROUPCONV_V9_BLOCK_WEIGHT
                                                                    : DLS_GROUPCONV_V9_BLOCK]);
}

double dls_groupconv32_s(const dls_groupconv *g, const dls_kernel *k, double batch, double bytes,
                         double mem_bps, double fp32_flops, double flops)
{
    const int32_t width = width_of(g, k);
    const double work = batch * k->flops / fp32_flops;
    if (width < 1) {
        return 0;
    }
    if (width == 1 && k->part == DLS_PART_FORWARD) {
        const double taps = (double)k->window.kernel_h * k->window.kernel_w;
        return fmax(bytes / mem_bps, work * (1 + g->c[DLS_GROUPCONV_DEPTHWISE_OUTPUT] / taps) /
                                         g->c[DLS_GROUPCONV_DEPTHWISE_FORWARD]);
    }
    if (width == 1) {
        return bytes / (mem_bps * g->c[DLS_GROUPCONV_DEPTHWISE]) +
               tried(k, batch) /
                   (fp32_flops * g->c[k->part == DLS_PART_DATA ? DLS_GROUPCONV_DEPTHWISE_DATA
                                                               : DLS_GROUPCONV_DEPTHWISE_WEIGHT]);
    }
    const bool matrix = flops > fp32_flops, gradient = k->part != DLS_PART_FORWARD;
    const double *c = g->c + (matrix ? DLS_GROUPCONV_TF32 : DLS_GROUPCONV_FP32);
    const double block = work / width / c[1];
    const double s = matrix ? bytes / (mem_bps * c[0]) + block : fmax(work / c[0], block);
    const double calls = matrix ? 1 : (double)k->count;
    return (gradient ? c[3] : 1) * s + 1e-6 * calls * c[gradient ? 4 : 2];
}

dls_status dls_groupconv_load(const char *path, dls_groupconv *g, dls_error *err)
{
    DLS_OWN(config_destroy) config_t cfg = {0};
    const config_setting_t *list = NULL;
    DLS_TRY(dls_cfg_read(path, &cfg, err));
    DLS_TRY(dls_cfg_list(&cfg, path, "grouped", &list, err));
    if (config_setting_length(list) != 1) {
        return dls_cfg_fail(list, path, err, "one group of constants");
    }
    for (int i = 0; i < DLS_GROUPCONV_N; i++) {
        DLS_TRY(
            dls_cfg_number(config_setting_get_elem(list, 0), path, key[i], LEAST, &g->c[i], err));
    }
    return DLS_OK;
}

static dls_status put(FILE *to, void *what, dls_error *err)
{
    const dls_groupconv *g = what;
    fputs("# Convolutions of groups, written by: dlsim operators fit-grouped\n\n"
          "grouped = (\n  { ",
          to);
    for (int i = 0; i < DLS_GROUPCONV_N; i++) {
        fprintf(to, "%s = %#.6g; ", key[i], g->c[i]);
    }
    fputs("}\n);\n", to);
    return DLS_OK;
}

dls_status dls_groupconv_save(const dls_groupconv *g, const char *path, dls_error *err)
{
    dls_groupconv copy = *g;
    return dls_atomicfile_write(path, put, &copy, err);
}
