/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kernels.cfg: the constants of the sized model, written by a fit and read back.
 */
#include "workload/operator/sized.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/own.h"
#include "workload/operator/cfgread.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LEAST 1e-12
static const char *const list_key[3] = {"tiles", "fused_tiles", "transformed_tiles"};

void dls_sized_table_fini(dls_sized_table *t)
{
    if (t) {
        dls_free(t->row);
        *t = (dls_sized_table){0};
    }
}

dls_sized_row *dls_sized_table_find(const dls_sized_table *t, const char *gpu,
                                    dls_sized_family family, dls_numeric numeric)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->row[i].family == family && t->row[i].numeric == numeric &&
            strcasecmp(t->row[i].gpu, gpu) == 0) {
            return &t->row[i];
        }
    }
    return NULL;
}

/* The family, else the same kernels at the other alignment. */
static const dls_sized_row *own(const dls_sized_table *t, const char *gpu, dls_sized_family family,
                                dls_numeric numeric)
{
    const dls_sized_row *row = dls_sized_table_find(t, gpu, family, numeric);
    return row || !dls_sized_has_rates(family)
               ? row
               : dls_sized_table_find(t, gpu, (dls_sized_family)(family ^ 1), numeric);
}

dls_sized_pair dls_sized_table_for(const dls_sized_table *t, const dls_hw_gpu *gpu,
                                   dls_sized_family family, dls_numeric numeric)
{
    const char *lenders = numeric == DLS_NUMERIC_FP32 ? gpu->kernels_like : gpu->matrix_like;
    dls_sized_pair by = {own(t, gpu->name, family, numeric), NULL, 1, false};
    by.clock =
        !by.row && numeric == DLS_NUMERIC_FP32 && gpu->kernels_clock > 0 ? gpu->kernels_clock : 1;
    for (const char *at = by.row ? "" : lenders; *at && (!by.row || at[-1] == '+');) {
        char name[DLS_HW_NAME];
        const size_t len = strcspn(at, " +");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        *(by.row ? &by.other : &by.row) = own(t, name, family, numeric);
        at += len + (at[len] != '\0');
    }
    by.lent = by.row && !dls_hardware_same_chip(by.row->gpu, gpu->name);
    return by;
}

dls_status dls_sized_table_put(dls_sized_table *t, const dls_sized_row *row, dls_error *err)
{
    dls_sized_row *old = dls_sized_table_find(t, row->gpu, row->family, row->numeric);
    if (!old) {
        DLS_TRY(dls_grow(&t->row, &t->cap, t->n + 1, sizeof *t->row, err));
        old = &t->row[t->n++];
    }
    *old = *row;
    return DLS_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* "128x64 64x64" or "1x8x16 4x4x8". */
static dls_status read_tiles(const config_setting_t *at, const char *path, int list,
                             dls_sized_row *row, dls_error *err)
{
    char text[256] = "";
    DLS_TRY(dls_cfg_name(at, path, list_key[list], true, text, sizeof text, err));
    for (const char *s = text; *s;) {
        int z = 1, m = 0, n = 0, len = 0;
        const bool flat = sscanf(s, "%dx%d%n", &m, &n, &len) == 2 && s[len] != 'x';
        if (!flat && sscanf(s, "%dx%dx%d%n", &z, &m, &n, &len) != 3) {
            len = 0;
        }
        if (len == 0 || z < 1 || m < 1 || n < 1 || z > 1024 || m > 1024 || n > 1024 ||
            row->n_tiles[list] == DLS_SIZED_TILES) {
            return dls_cfg_fail(at, path, err, "%s = \"%s\": at most %d sizes like 128x64",
                                list_key[list], text, DLS_SIZED_TILES);
        }
        row->tile[list][row->n_tiles[list]++] = (dls_tile){(int16_t)z, (int16_t)m, (int16_t)n};
        s += len;
        s += strspn(s, " ");
    }
    return DLS_OK;
}

static dls_status read_rates(const config_setting_t *at, const char *path, dls_sized_row *row,
                             double *rate, dls_error *err)
{
    const config_setting_t *list = config_setting_get_member(at, "rates");
    if (!list || config_setting_length(list) != row->n_tiles[0]) {
        return dls_cfg_fail(at, path, err, "rates: one number for each of the %d tiles",
                            row->n_tiles[0]);
    }
    for (int i = 0; i < row->n_tiles[0]; i++) {
        rate[i] = config_setting_get_float_elem(list, i);
        if (!(rate[i] >= LEAST && rate[i] < 1e3)) {
            return dls_cfg_fail(at, path, err, "rates are positive numbers");
        }
    }
    return DLS_OK;
}

static dls_status read_row(const config_setting_t *at, const char *path, dls_sized_row *row,
                           dls_error *err)
{
    char family[32] = "", numeric[16] = "fp32";
    int f = 0;
    size_t n = 0;
    *row = (dls_sized_row){.family = DLS_SIZED_LINEAR};
    DLS_TRY(dls_cfg_name(at, path, "gpu", false, row->gpu, sizeof row->gpu, err));
    DLS_TRY(dls_cfg_name(at, path, "family", false, family, sizeof family, err));
    DLS_TRY(dls_cfg_name(at, path, "numeric", true, numeric, sizeof numeric, err));
    if (!dls_numeric_find(numeric, &row->numeric) || row->numeric == DLS_NUMERIC_BF16) {
        return dls_cfg_fail(at, path, err, "numeric = \"%s\": fp32, tf32 or fp16", numeric);
    }
    while (f < DLS_SIZED_FAMILIES && strcmp(dls_sized_family_name(f), family) != 0) {
        f++;
    }
    if (f == DLS_SIZED_FAMILIES) {
        return dls_cfg_fail(at, path, err, "unknown family \"%s\"", family);
    }
    row->family = (dls_sized_family)f;
    const dls_sized_constant *constant = dls_sized_constants(row->family, &n);
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(dls_cfg_number(at, path, constant[i].key, LEAST, &row->c[i], err));
    }
    for (int list = 0; list < 3; list++) {
        DLS_TRY(read_tiles(at, path, list, row, err));
    }
    if ((dls_sized_has_rates(row->family) || row->family == DLS_SIZED_CONV) &&
        row->n_tiles[0] == 0) {
        return dls_cfg_fail(at, path, err, "no tiles");
    }
    return dls_sized_has_rates(row->family) ? read_rates(at, path, row, row->c + n, err) : DLS_OK;
}

static dls_status read_table(const config_t *cfg, const char *path, dls_sized_table *t,
                             dls_error *err)
{
    const config_setting_t *list = NULL;
    DLS_TRY(dls_cfg_list(cfg, path, "kernels", &list, err));
    for (int i = 0; i < config_setting_length(list); i++) {
        const config_setting_t *at = config_setting_get_elem(list, (unsigned)i);
        dls_sized_row row;
        DLS_TRY(read_row(at, path, &row, err));
        if (dls_sized_table_find(t, row.gpu, row.family, row.numeric)) {
            return dls_cfg_fail(at, path, err, "%s of %s stands here twice",
                                dls_sized_family_name(row.family), row.gpu);
        }
        DLS_TRY(dls_sized_table_put(t, &row, err));
    }
    return DLS_OK;
}

dls_status dls_sized_table_load(const char *path, dls_sized_table *t, dls_error *err)
{
    DLS_OWN(config_destroy) config_t cfg = {0};
    *t = (dls_sized_table){0};
    dls_status status = dls_cfg_read(path, &cfg, err);
    DLS_THEN(status, read_table(&cfg, path, t, err));
    if (status != DLS_OK) {
        dls_sized_table_fini(t);
    }
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* libconfig reads a number without a point as an integer. */
static void number(FILE *to, const char *before, double value, const char *behind)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    fprintf(to, "%s%s%s%s", before, text, strpbrk(text, ".e") ? "" : ".0", behind);
}

static void write_tiles(FILE *to, const dls_sized_row *row)
{
    for (int list = 0; list < 3; list++) {
        if (row->n_tiles[list] > 0) {
            fprintf(to, "\n    %s = \"", list_key[list]);
            for (int i = 0; i < row->n_tiles[list]; i++) {
                const dls_tile t = row->tile[list][i];
                fputs(i > 0 ? " " : "", to);
                if (list == 1) {
                    fprintf(to, "%dx", t.z);
                }
                fprintf(to, "%dx%d", t.m, t.n);
            }
            fputs("\";", to);
        }
    }
}

static dls_status put_table(FILE *to, void *what, dls_error *err)
{
    const dls_sized_table *t = *(const dls_sized_table **)what;
    fputs("# Constants of the sized operator model (docs/operator.md), written by:\n"
          "# dlsim operators fit-kernels\n\nkernels = (\n",
          to);
    for (size_t i = 0; i < t->n; i++) {
        const dls_sized_row *row = &t->row[i];
        size_t n = 0;
        const dls_sized_constant *constant = dls_sized_constants(row->family, &n);
        fprintf(to, "  { gpu = \"%s\"; family = \"%s\";", row->gpu,
                dls_sized_family_name(row->family));
        if (row->numeric != DLS_NUMERIC_FP32) {
            fprintf(to, " numeric = \"%s\";", dls_numeric_name(row->numeric));
        }
        write_tiles(to, row);
        if (dls_sized_has_rates(row->family)) {
            for (int k = 0; k < row->n_tiles[0]; k++) {
                number(to, k == 0 ? "\n    rates = [" : ", ", row->c[n + (size_t)k], "");
            }
            fputs("];", to);
        }
        for (size_t k = 0; k < n; k++) {
            fprintf(to, "%s%s", k % 6 == 0 ? "\n    " : " ", constant[k].key);
            number(to, " = ", row->c[k], ";");
        }
        fputs(i + 1 < t->n ? " },\n" : " }\n", to);
    }
    fputs(");\n", to);
    return DLS_OK;
}

dls_status dls_sized_table_save(const dls_sized_table *t, const char *path, dls_error *err)
{
    return dls_atomicfile_write(path, put_table, &t, err);
}
