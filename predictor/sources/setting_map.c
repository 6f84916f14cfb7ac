/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chooses the inspector's setting that answers for a placement: the user's table first, else the
 * setting at the least distance in GPU, workers, nodes, link and exchange.
 */
#include "predictor/sources/setting_map.h"

#include "base/alloc.h"
#include "base/units.h"
#include "cluster/cluster.h"
#include "predictor/driple/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ANY 0
#define SAME_LINK 0.2 /* |log2|: within 15 % */

/* ---- the explicit table ---------------------------------------------------------------------- */

static dls_status bad_entry(const char *text, dls_error *err)
{
    return dls_fail(err, DLS_ECONFIG, "predictor.settings_map",
                    "\"%.80s\" is not GPU:GPUS/NODES=SETTING, such as V100:8/2=V100-w8-ar-eth10 or "
                    "*:1/1=V100-w1",
                    text);
}

static bool count(const char *text, int32_t *out)
{
    int64_t n;
    if (strcmp(text, "*") == 0) {
        *out = ANY;
        return true;
    }
    if (!dls_units_i64(text, &n) || n < 1 || n > INT32_MAX) {
        return false;
    }
    *out = (int32_t)n;
    return true;
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    for (size_t n = strlen(text); n > 0 && strchr(" \t\r", text[n - 1]); n--) {
        text[n - 1] = '\0';
    }
    return text;
}

/* Takes the text apart. */
static dls_status read_entry(dls_setting_map *map, char *text, dls_error *err)
{
    char whole[128];
    dls_setting_entry e = {0};
    snprintf(whole, sizeof whole, "%s", text);
    char *colon = strchr(text, ':'), *slash = colon ? strchr(colon, '/') : NULL;
    char *equals = slash ? strchr(slash, '=') : NULL;
    if (!equals) {
        return bad_entry(whole, err);
    }
    *colon = *slash = *equals = '\0';
    const char *gpu = trim(text), *setting = trim(equals + 1);
    if (!*gpu || strlen(gpu) >= sizeof e.gpu || !*setting || !count(trim(colon + 1), &e.workers) ||
        !count(trim(slash + 1), &e.nodes)) {
        return bad_entry(whole, err);
    }
    memcpy(e.gpu, gpu, strlen(gpu) + 1);
    e.setting = dls_inspector_find(map->insp, setting);
    if (e.setting < 0) {
        return dls_fail(err, DLS_EPREDICTOR, "predictor.settings_map",
                        "the inspector has no setting \"%.80s\" (dlsim model show lists them)",
                        setting);
    }
    DLS_TRY(dls_grow(&map->entry, &map->cap, map->n + 1, sizeof *map->entry, err));
    map->entry[map->n++] = e;
    return DLS_OK;
}

static dls_status read_table(dls_setting_map *map, const char *text, dls_error *err)
{
    char *copy = dls_strdup(text), *at = copy;
    dls_status status = copy ? DLS_OK : dls_nomem(err, "settings map", strlen(text));
    while (status == DLS_OK && at) {
        char *next = strpbrk(at, ";\n");
        if (next) {
            *next++ = '\0';
        }
        at = trim(at);
        status = *at ? read_entry(map, at, err) : DLS_OK;
        at = next;
    }
    dls_free(copy);
    return status;
}

/* ---- distances ------------------------------------------------------------------------------- */

static double flops_of(const dls_hardware *hw, const char *name)
{
    const dls_hw_gpu *row;
    const dls_gpu_type *type = dls_gpu_find(name);
    if (dls_hardware_gpu(hw, name, &row, NULL) == DLS_OK) {
        return row->fp32_flops;
    }
    return type ? type->fp32_flops : 0;
}

dls_status dls_setting_map_init(dls_setting_map *map, const dls_inspector *insp,
                                const dls_hardware *hw, const char *text, dls_error *err)
{
    const int32_t n = dls_inspector_n_settings(insp);
    DLS_OWN(dls_setting_map_fini) dls_setting_map m = {.insp = insp, .n_settings = n};
    if (n == 0 && insp->arch.n_conditions == 0) {
        return dls_fail(err, DLS_EPREDICTOR, "predictor.weights",
                        "the inspector has no settings, so it says nothing of any placement");
    }
    DLS_TRY(dls_alloc_array(&m.fp32_flops, (size_t)n + 1, sizeof *m.fp32_flops, "settings", err));
    DLS_TRY(dls_alloc_array(&m.link_bps, (size_t)n + 1, sizeof *m.link_bps, "settings", err));
    for (int32_t i = 0; i < n; i++) {
        const dls_setting_info s = dls_inspector_setting(insp, i);
        const dls_hw_link *link;
        m.fp32_flops[i] = flops_of(hw, s.gpu_type);
        if (dls_hardware_link(hw, s.network, &link, NULL) == DLS_OK) {
            m.link_bps[i] = link->bps;
        }
    }
    DLS_TRY(text ? read_table(&m, text, err) : DLS_OK);
    *map = m;
    m = (dls_setting_map){0};
    return DLS_OK;
}

void dls_setting_map_fini(dls_setting_map *map)
{
    DLS_FREE_ALL(map->fp32_flops, map->link_bps, map->entry);
    *map = (dls_setting_map){0};
}

/* The same GPU, or the same with another memory: "V100" and "V100-32GB", not "V100-PCIE". */
static bool same_gpu(const char *a, const char *b)
{
    const dls_gpu_type *x = dls_gpu_find(a), *y = dls_gpu_find(b);
    if (x && y) {
        return x->fp32_flops == y->fp32_flops && x->peer_bps == y->peer_bps &&
               strncasecmp(x->name, y->name, strcspn(x->name, "-")) == 0;
    }
    return strcasecmp(a, b) == 0;
}

static double octaves(double a, double b)
{
    return a > 0 && b > 0 ? fabs(log2(a / b)) : 1;
}

static double exchange_distance(const char *a, const char *b)
{
    const bool servers = strncmp(a, "ps-", 3) == 0 && strncmp(b, "ps-", 3) == 0;
    return strcmp(a, b) == 0 ? 0 : servers ? 1 : 2;
}

static double distance_to(const dls_setting_map *map, int32_t i, const dls_whereabouts *w)
{
    const dls_setting_info s = dls_inspector_setting(map->insp, i);
    const int32_t nodes = s.n_nodes > 0 ? s.n_nodes : 1;
    const int32_t workers = s.n_workers > 0 ? s.n_workers : 1;
    double d = same_gpu(s.gpu_type, w->gpu) ? 0 : 2 + octaves(map->fp32_flops[i], w->fp32_flops);
    d += octaves(workers, w->workers) + octaves(nodes, w->nodes);
    if (w->servers > 0 && s.n_ps > 0) {
        d += octaves(s.n_ps, w->servers);
    }
    if (workers > 1 || w->workers > 1) {
        const double link = octaves(map->link_bps[i], w->link_bps);
        d += link < SAME_LINK ? 0 : link;
        d += exchange_distance(s.topology, w->exchange);
    }
    return d;
}

int32_t dls_setting_map_find(const dls_setting_map *map, const dls_whereabouts *where,
                             double *distance)
{
    for (size_t i = 0; i < map->n; i++) {
        const dls_setting_entry *e = &map->entry[i];
        if ((strcmp(e->gpu, "*") == 0 || same_gpu(e->gpu, where->gpu)) &&
            (e->workers == ANY || e->workers == where->workers) &&
            (e->nodes == ANY || e->nodes == where->nodes)) {
            *distance = 0;
            return e->setting;
        }
    }
    int32_t best = -1;
    *distance = HUGE_VAL;
    for (int32_t i = 0; i < map->n_settings; i++) {
        const double d = distance_to(map, i, where);
        if (d < *distance) {
            *distance = d;
            best = i;
        }
    }
    return best;
}
