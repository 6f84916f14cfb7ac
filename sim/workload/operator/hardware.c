/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the tables of GPUs and links from configs/hardware and finds rows by name, with
 * suggestions.
 */
#include "workload/operator/hardware.h"

#include "base/alloc.h"
#include "base/datapath.h"
#include "base/own.h"
#include "base/suggest.h"
#include "workload/operator/cfgread.h"

#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *dls_hardware_folder(const char *given, char *buf, size_t size)
{
    return given && *given ? given
                           : dls_data_path("configs/hardware", "configs/hardware", buf, size);
}

void dls_hardware_fini(dls_hardware *hw)
{
    if (hw) {
        DLS_FREE_ALL(hw->gpu, hw->link);
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

/* ---- names of GPUs --------------------------------------------------------------------------- */

/* A name in parts: the chip with everything that is glued to it, and what tells its forms apart. */
typedef struct gpu_name {
    char chip[DLS_HW_NAME];
    bool pcie, nvl, sxm;
    double gb; /* of memory; 0: it does not say */
} gpu_name;

/* Of the maker, a series, a casing: they tell no two rows apart. */
static bool says_nothing(const char *word)
{
    static const char *const words[] = {
        "NVIDIA",     "Tesla",  "GeForce",     "Quadro",  "GPU",    "GRID",        "AMD",
        "Instinct",   "Radeon", "Corporation", "Edition", "Workstation", "Blackwell",
        "Generation", "mega",   "LS",          "AC",      "NVL72"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(word, words[i]) == 0) {
            return true;
        }
    }
    return strncasecmp(word, "HBM", 3) == 0;
}

/* "80GB", "80G", or with the next word "80 GB"; *used is the second's length. 0: it is none. */
static double memory_in(const char *word, const char *next, size_t *used)
{
    char *end;
    const double gb = strtod(word, &end);
    const char *unit = *end ? end : next + strspn(next, " ");
    const size_t n = strncasecmp(unit, "GiB", 3) == 0  ? 3
                     : strncasecmp(unit, "GB", 2) == 0 ? 2
                     : strncasecmp(unit, "G", 1) == 0  ? 1
                                                       : 0;
    const bool whole = n > 0 && strchr(" -_()[]/,", unit[n]);
    *used = whole && !*end ? (size_t)(unit - next) + n : 0;
    return end > word && whole ? gb : 0;
}

static bool take_form(gpu_name *parts, const char *word, const char *next, size_t *used)
{
    const double gb = memory_in(word, next, used);
    /* GH200: 480 and 120 GB are its processor's. */
    const bool own = gb > 0 && !(strncasecmp(parts->chip, "GH", 2) == 0 && (gb > 400 || gb == 120));
    parts->gb = own && !(parts->gb > 0) ? gb : parts->gb;
    parts->pcie = parts->pcie || strcasecmp(word, "PCIE") == 0;
    parts->nvl = parts->nvl || strcasecmp(word, "NVL") == 0;
    const bool sxm = strncasecmp(word, "SXM", 3) == 0 || strcasecmp(word, "DGXS") == 0;
    parts->sxm = parts->sxm || sxm;
    return gb > 0 || sxm || strcasecmp(word, "PCIE") == 0 || strcasecmp(word, "NVL") == 0;
}

static gpu_name parts_of(const char *name)
{
    static const char between[] = " -_()[]/,";
    gpu_name parts = {.gb = 0};
    size_t used = 0;
    const char *shop = strchr(name, '['); /* lspci: "GV100GL [Tesla V100 PCIe 16GB]" */
    for (const char *at = shop ? shop : name; *(at += strspn(at, between)) != '\0';) {
        char word[DLS_HW_NAME];
        const size_t n = strcspn(at, between);
        size_t more = 0;
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), at);
        at += n;
        if (take_form(&parts, word, at, &more)) {
            at += more;
        } else if (!says_nothing(word) && used + strlen(word) < sizeof parts.chip) {
            used += (size_t)snprintf(parts.chip + used, sizeof parts.chip - used, "%s", word);
        }
    }
    return parts;
}

/* A800 and H800 are an A100 and an H100 whose NVLink is cut (NVIDIA's data sheets, 2022). */
static const char *chip_of(const gpu_name *parts)
{
    return strcasecmp(parts->chip, "A800") == 0   ? "A100"
           : strcasecmp(parts->chip, "H800") == 0 ? "H100"
                                                  : parts->chip;
}

bool dls_hardware_same_chip(const char *a, const char *b)
{
    if (strcasecmp(a, b) == 0) { /* as most are, of thousands of kernels */
        return true;
    }
    const gpu_name one = parts_of(a), other = parts_of(b);
    return strcasecmp(chip_of(&one), chip_of(&other)) == 0;
}

/* Is one of the row's other names the one that was asked for? */
static bool is_also(const dls_hw_gpu *row, const char *name)
{
    char list[sizeof row->also], *rest = NULL;
    memcpy(list, row->also, sizeof list);
    for (char *p = strtok_r(list, " ", &rest); p; p = strtok_r(NULL, " ", &rest)) {
        if (fnmatch(p, name, FNM_CASEFOLD) == 0) {
            return true;
        }
    }
    return false;
}

/* "RTX A6000" is A6000's, "2080Ti" RTX2080TI's; "6000" is anybody's. */
static bool is_chip(const char *row, const char *asked)
{
    const size_t digits = strspn(asked, "0123456789");
    const bool rtx = strncasecmp(asked, "RTXA", 4) == 0;
    const bool bare = digits == 4 && strncmp(asked + 1, "000", 3) != 0;
    const bool geforce = strncasecmp(row, "RTX", 3) == 0 || strncasecmp(row, "GTX", 3) == 0;
    return strcasecmp(row, asked + (rtx ? 3 : 0)) == 0 ||
           (bare && geforce && strcasecmp(row + 3, asked) == 0);
}

#define GIB 1073741824.0
#define MEMORY_APART 0.14 /* of the logarithm: GB for GiB, and what tools do not count */

/* What a name says that is another row's; else how far its memory is from the row's. */
static bool contradicts(const dls_hw_gpu *row, const gpu_name *said, const gpu_name *asked,
                        double *apart)
{
    const bool card = strncmp(row->link, "pcie", 4) == 0;
    *apart = asked->gb > 0 ? fabs(log(row->mem_bytes / (asked->gb * GIB))) : 0;
    return (asked->nvl && !said->nvl) || (asked->pcie && (said->nvl || !card)) ||
           (asked->sxm && card) || *apart > MEMORY_APART;
}

/* How much of its form a row's name says that was not asked for. */
static int beyond(const gpu_name *said, const gpu_name *asked)
{
    return (said->pcie && !asked->pcie) + (said->nvl && !asked->nvl);
}

const dls_hw_gpu *dls_hardware_gpu_variant(const dls_hardware *hw, const char *name)
{
    const dls_hw_gpu *best = NULL;
    const gpu_name asked = parts_of(name);
    int least = INT_MAX, best_more = 0;
    double nearest = 0;
    for (size_t i = 0; i < hw->n_gpus && *asked.chip; i++) {
        const dls_hw_gpu *row = &hw->gpu[i];
        const gpu_name said = parts_of(row->name);
        if (is_also(row, name)) {
            return row;
        }
        if (!is_chip(said.chip, asked.chip) && !is_also(row, asked.chip)) {
            continue;
        }
        double apart;
        const int form = beyond(&said, &asked), more = said.gb > 0 && !(asked.gb > 0);
        const bool fits = !contradicts(row, &said, &asked, &apart);
        /* A PCIe card is meant without its board's name only if there is no other. */
        if (form < least) {
            least = form;
            best = NULL;
        }
        if (fits && form == least &&
            (!best || more < best_more || (more == best_more && apart < nearest))) {
            best = row;
            best_more = more;
            nearest = apart;
        }
    }
    return best;
}

dls_status dls_hardware_gpu(const dls_hardware *hw, const char *name, const dls_hw_gpu **out,
                            dls_error *err)
{
    size_t i = find(hw->gpu, sizeof *hw->gpu, hw->n_gpus, name);
    *out = i < hw->n_gpus ? &hw->gpu[i] : dls_hardware_gpu_variant(hw, name);
    return *out ? DLS_OK : lookup(hw->gpu, sizeof *hw->gpu, hw->n_gpus, "GPU", name, &i, err);
}

dls_status dls_hardware_link(const dls_hardware *hw, const char *name, const dls_hw_link **out,
                             dls_error *err)
{
    size_t i = 0;
    DLS_TRY(lookup(hw->link, sizeof *hw->link, hw->n_links, "link", name, &i, err));
    *out = &hw->link[i];
    return DLS_OK;
}

static dls_status read_gpu(const config_setting_t *at, const char *path, void *row, dls_error *err)
{
    dls_hw_gpu *g = row;
    DLS_TRY(dls_cfg_name(at, path, "name", false, g->name, sizeof g->name, err));
    DLS_TRY(dls_cfg_name(at, path, "also", true, g->also, sizeof g->also, err));
    DLS_TRY(dls_cfg_quantity(at, path, "fp32", DLS_QUANTITY_FLOPS, &g->fp32_flops, err));
    DLS_TRY(dls_cfg_quantity(at, path, "tf32", DLS_QUANTITY_FLOPS, &g->tf32_flops, err));
    DLS_TRY(dls_cfg_quantity(at, path, "fp16", DLS_QUANTITY_FLOPS, &g->fp16_flops, err));
    g->bf16_flops = g->tf32_flops > 0 ? g->fp16_flops : 0;
    if (config_setting_get_member(at, "bf16")) {
        DLS_TRY(dls_cfg_quantity(at, path, "bf16", DLS_QUANTITY_FLOPS, &g->bf16_flops, err));
    }
    DLS_TRY(dls_cfg_quantity(at, path, "bandwidth", DLS_QUANTITY_RATE, &g->mem_bps, err));
    DLS_TRY(dls_cfg_quantity(at, path, "memory", DLS_QUANTITY_BYTES, &g->mem_bytes, err));
    if (config_setting_get_member(at, "multiprocessors")) {
        DLS_TRY(dls_cfg_number(at, path, "multiprocessors", 1, &g->multiprocessors, err));
    }
    DLS_TRY(dls_cfg_name(at, path, "link", false, g->link, sizeof g->link, err));
    DLS_TRY(dls_cfg_name(at, path, "like", true, g->like, sizeof g->like, err));
    DLS_TRY(dls_cfg_name(at, path, "like_fp32", true, g->like_fp32, sizeof g->like_fp32, err));
    DLS_TRY(
        dls_cfg_name(at, path, "kernels_like", true, g->kernels_like, sizeof g->kernels_like, err));
    DLS_TRY(
        dls_cfg_name(at, path, "matrix_like", true, g->matrix_like, sizeof g->matrix_like, err));
    if (config_setting_get_member(at, "kernels_clock")) {
        DLS_TRY(dls_cfg_number(at, path, "kernels_clock", 0, &g->kernels_clock, err));
    }
    if (!(g->fp32_flops > 0 && g->mem_bps > 0 && g->mem_bytes > 0)) {
        return dls_cfg_fail(at, path, err, "fp32, bandwidth and memory are positive");
    }
    return DLS_OK;
}

static dls_status read_link(const config_setting_t *at, const char *path, void *row, dls_error *err)
{
    dls_hw_link *l = row;
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

static dls_status read_rows(const config_t *cfg, const char *path, const char *list_name,
                            size_t stride, row_reader read, void **table, size_t *n, dls_error *err)
{
    const config_setting_t *list = NULL;
    DLS_TRY(dls_cfg_list(cfg, path, list_name, &list, err));
    const size_t count = (size_t)config_setting_length(list);
    DLS_TRY(dls_alloc_array(table, count, stride, list_name, err));
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
    DLS_OWN(config_destroy) config_t cfg = {0};
    snprintf(path, sizeof path, "%s/%s", folder, file);
    DLS_TRY(dls_cfg_read(path, &cfg, err));
    return read_rows(&cfg, path, list_name, stride, read, table, n, err);
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
        read_table(folder, "gpus.cfg", "gpus", sizeof *hw->gpu, read_gpu, &gpus, &hw->n_gpus, err);
    DLS_THEN(status, read_table(folder, "links.cfg", "links", sizeof *hw->link, read_link, &links,
                                &hw->n_links, err));
    hw->gpu = gpus;
    hw->link = links;
    DLS_THEN(status, check_names(hw, folder, err));
    if (status != DLS_OK) {
        dls_hardware_fini(hw);
    }
    return status;
}
