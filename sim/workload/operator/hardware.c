/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the tables of GPUs and links from configs/hardware and finds rows by name, with
 * suggestions.
 */
#include "workload/operator/hardware.h"

#include "base/alloc.h"
#include "base/datapath.h"
#include "base/suggest.h"
#include "workload/operator/cfgread.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *dls_hardware_folder(const char *given, char *buf, size_t size)
{
    return given && *given
               ? given
               : dls_data_path("configs/hardware", "configs/hardware", buf, size);
}

void dls_hardware_fini(dls_hardware *hw)
{
    if (hw) {
        dls_free(hw->gpu);
        dls_free(hw->link);
        *hw = (dls_hardware){0};
    }
}

/* The names of a table stand at the start of its rows, `stride` bytes apart. */
static const char *name_at(const void *table, size_t stride, size_t i)
{
    return (const char *)table + i * stride;
}

static size_t find(const void *table, size_t stride, size_t n, const char *name)
{
    size_t i = 0;
    while (i < n && strcasecmp(name_at(table, stride, i), name) != 0) {
        i++;
    }
    return i;
}

static dls_status lookup(const void *table, size_t stride, size_t n, const char *what,
                         const char *name, size_t *idx, dls_error *err)
{
    *idx = find(table, stride, n, name);
    if (*idx < n) {
        return DLS_OK;
    }
    const char **names;
    DLS_TRY(dls_alloc_array(&names, n + 1, sizeof *names, "names", err));
    for (size_t i = 0; i < n; i++) {
        names[i] = name_at(table, stride, i);
    }
    names[n] = NULL;
    const dls_status status = dls_fail(err, DLS_EINPUT, what, "unknown %s \"%s\"%s", what, name,
                                       DLS_DID_YOU_MEAN(dls_suggest(name, names)));
    dls_free(names);
    return status;
}

dls_status dls_hardware_gpu(const dls_hardware *hw, const char *name, const dls_hw_gpu **out,
                            dls_error *err)
{
    size_t i = 0;
    DLS_TRY(lookup(hw->gpu, sizeof *hw->gpu, hw->n_gpus, "GPU", name, &i, err));
    *out = &hw->gpu[i];
    return DLS_OK;
}

const dls_hw_gpu *dls_hardware_gpu_variant(const dls_hardware *hw, const char *name)
{
    char cut[DLS_HW_NAME];
    const dls_hw_gpu *row;
    if (dls_hardware_gpu(hw, name, &row, NULL) == DLS_OK) {
        return row;
    }
    snprintf(cut, sizeof cut, "%s", name);
    char *dash = strrchr(cut, '-');
    if (!dash) {
        return NULL;
    }
    *dash = '\0';
    return dls_hardware_gpu(hw, cut, &row, NULL) == DLS_OK ? row : NULL;
}

dls_status dls_hardware_link(const dls_hardware *hw, const char *name, const dls_hw_link **out,
                             dls_error *err)
{
    size_t i = 0;
    DLS_TRY(lookup(hw->link, sizeof *hw->link, hw->n_links, "link", name, &i, err));
    *out = &hw->link[i];
    return DLS_OK;
}

static dls_status read_gpu(const config_setting_t *at, const char *path, dls_hw_gpu *g,
                           dls_error *err)
{
    DLS_TRY(dls_cfg_name(at, path, "name", false, g->name, sizeof g->name, err));
    DLS_TRY(dls_cfg_quantity(at, path, "fp32", DLS_QUANTITY_FLOPS, &g->fp32_flops, err));
    DLS_TRY(dls_cfg_quantity(at, path, "tf32", DLS_QUANTITY_FLOPS, &g->tf32_flops, err));
    DLS_TRY(dls_cfg_quantity(at, path, "fp16", DLS_QUANTITY_FLOPS, &g->fp16_flops, err));
    DLS_TRY(dls_cfg_quantity(at, path, "bandwidth", DLS_QUANTITY_RATE, &g->mem_bps, err));
    DLS_TRY(dls_cfg_quantity(at, path, "memory", DLS_QUANTITY_BYTES, &g->mem_bytes, err));
    if (config_setting_get_member(at, "multiprocessors")) {
        DLS_TRY(dls_cfg_number(at, path, "multiprocessors", 1, &g->multiprocessors, err));
    }
    DLS_TRY(dls_cfg_name(at, path, "link", false, g->link, sizeof g->link, err));
    DLS_TRY(dls_cfg_name(at, path, "like", true, g->like, sizeof g->like, err));
    DLS_TRY(dls_cfg_name(at, path, "like_fp32", true, g->like_fp32, sizeof g->like_fp32, err));
    DLS_TRY(dls_cfg_name(at, path, "kernels_like", true, g->kernels_like, sizeof g->kernels_like,
                         err));
    if (!(g->fp32_flops > 0 && g->mem_bps > 0 && g->mem_bytes > 0)) {
        return dls_cfg_fail(at, path, err, "fp32, bandwidth and memory are positive");
    }
    return DLS_OK;
}

static dls_status read_link(const config_setting_t *at, const char *path, dls_hw_link *l,
                            dls_error *err)
{
    double efficiency = 0;
    DLS_TRY(dls_cfg_name(at, path, "name", false, l->name, sizeof l->name, err));
    DLS_TRY(dls_cfg_quantity(at, path, "bandwidth", DLS_QUANTITY_RATE, &l->bps, err));
    DLS_TRY(dls_cfg_number(at, path, "efficiency", 0, &efficiency, err));
    DLS_TRY(dls_cfg_quantity(at, path, "latency", DLS_QUANTITY_TIME, &l->latency_s, err));
    l->goodput_bps = efficiency * l->bps;
    if (!(l->goodput_bps > 0 && efficiency <= 1)) {
        return dls_cfg_fail(at, path, err, "bandwidth is positive, efficiency in 0..1");
    }
    return DLS_OK;
}

typedef dls_status (*row_reader)(const config_setting_t *at, const char *path, void *row,
                                 dls_error *err);

static dls_status gpu_row(const config_setting_t *at, const char *path, void *row, dls_error *err)
{
    return read_gpu(at, path, row, err);
}

static dls_status link_row(const config_setting_t *at, const char *path, void *row, dls_error *err)
{
    return read_link(at, path, row, err);
}

static dls_status read_rows(const config_t *cfg, const char *path, const char *list_name,
                            size_t stride, row_reader read, void **table, size_t *n, dls_error *err)
{
    const config_setting_t *list = NULL;
    DLS_TRY(dls_cfg_list(cfg, path, list_name, &list, err));
    const size_t count = (size_t)config_setting_length(list);
    *table = dls_alloc_zero(count, stride);
    if (!*table) {
        return dls_nomem(err, list_name, count * stride);
    }
    for (*n = 0; *n < count; (*n)++) {
        const config_setting_t *at = config_setting_get_elem(list, (unsigned)*n);
        char *row = (char *)*table + *n * stride;
        DLS_TRY(read(at, path, row, err));
        if (find(*table, stride, *n, row) < *n) {
            return dls_cfg_fail(at, path, err, "\"%s\" stands here twice", row);
        }
    }
    return DLS_OK;
}

static dls_status read_table(const char *folder, const char *file, const char *list_name,
                             size_t stride, row_reader read, void **table, size_t *n,
                             dls_error *err)
{
    char path[4096];
    config_t cfg;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    dls_status status = dls_cfg_read(path, &cfg, err);
    if (status == DLS_OK) {
        status = read_rows(&cfg, path, list_name, stride, read, table, n, err);
    }
    config_destroy(&cfg);
    return status;
}

static dls_status check_names(const dls_hardware *hw, const char *folder, dls_error *err)
{
    for (size_t i = 0; i < hw->n_gpus; i++) {
        const dls_hw_gpu *g = &hw->gpu[i];
        const char *const likes[] = {g->like, g->like_fp32};
        for (size_t k = 0; k < 2; k++) {
            if (*likes[k] && find(hw->gpu, sizeof *hw->gpu, hw->n_gpus, likes[k]) == hw->n_gpus) {
                return dls_fail(err, DLS_ECONFIG, folder, "%s is like \"%s\", which is not there",
                                g->name, likes[k]);
            }
        }
        if (find(hw->link, sizeof *hw->link, hw->n_links, g->link) == hw->n_links) {
            return dls_fail(err, DLS_ECONFIG, folder, "%s has the link \"%s\", which is not there",
                            g->name, g->link);
        }
    }
    return DLS_OK;
}

dls_status dls_hardware_load(const char *given, dls_hardware *hw, dls_error *err)
{
    void *gpus = NULL, *links = NULL;
    char usual[sizeof hw->folder];
    const char *folder = dls_hardware_folder(given, usual, sizeof usual);
    *hw = (dls_hardware){0};
    snprintf(hw->folder, sizeof hw->folder, "%s", folder);
    dls_status status =
        read_table(folder, "gpus.cfg", "gpus", sizeof *hw->gpu, gpu_row, &gpus, &hw->n_gpus, err);
    if (status == DLS_OK) {
        status = read_table(folder, "links.cfg", "links", sizeof *hw->link, link_row, &links,
                            &hw->n_links, err);
    }
    hw->gpu = gpus;
    hw->link = links;
    if (status == DLS_OK) {
        status = check_names(hw, folder, err);
    }
    if (status != DLS_OK) {
        dls_hardware_fini(hw);
    }
    return status;
}
