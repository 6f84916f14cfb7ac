/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fits a table of the sized model: groups of measured kernels by GPU and family, the tiles that the
 * library was seen to use, constants as logarithms with their priors.
 */
#include "predictor/measured/sized_fit.h"

#include "base/alloc.h"
#include "workload/operator/fit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS_LEAST 15
#define ROWS_MOST 2000
#define ROWS_OWN 1000   /* enough not to lean on a relative */
#define RATE_SIGMA 0.3  /* of a tile's rate around the expected one */
#define SEEN_LEAST 0.02 /* of the rows, for a tile to count */
#define SCALE_PRODUCTS 0.1
#define SCALE_PASSES 0.05

static_assert(DLS_SIZED_CONSTANTS <= DLS_FIT_MAX && DLS_CONV_N <= DLS_SIZED_CONSTANTS &&
                  DLS_PRODUCT_N + DLS_SIZED_TILES <= DLS_SIZED_CONSTANTS &&
                  DLS_ELEMENTS_N <= DLS_SIZED_CONSTANTS && DLS_ROWS_N <= DLS_SIZED_CONSTANTS,
              "room for the constants of every family");

typedef struct group {
    const dls_measured_kernels *rows;
    dls_sized_gpu gpu;
    size_t *at; /* owned: rows that fit */
    size_t n;   /* of all rows of the group that fit: every stride-th is used */
    size_t stride;
    dls_sized_row row;
    dls_fit fit;
} group;

static void constants_of(group *g, const double *x)
{
    for (size_t k = 0; k < g->fit.n; k++) {
        g->row.c[k] = exp(x[k]);
    }
}

static void residuals(void *user, const double *x, double *residual)
{
    group *g = user;
    const double scale = g->row.family <= DLS_SIZED_CONV ? SCALE_PRODUCTS : SCALE_PASSES;
    constants_of(g, x);
    for (size_t i = 0; i < g->fit.n_residuals; i++) {
        const dls_measured_kernel *row = &g->rows->row[g->at[i * g->stride]];
        residual[i] = log(dls_sized_s(&row->work, &g->row, &g->gpu) / row->seconds) / scale;
    }
}

typedef struct seen {
    dls_tile tile;
    size_t n;
} seen;

/* The tiles of a list that enough of the group's rows used, of those that name one, the most frequent first; of
 * products not by the convolutions that are some. */
static void find_tiles(group *g, int list)
{
    seen tile[64];
    size_t n = 0, rows = 0;
    for (size_t i = 0; i < g->n; i++) {
        const dls_measured_kernel *row = &g->rows->row[g->at[i]];
        const bool own = (row->work.batch > 0) == (g->row.family == DLS_SIZED_CONV);
        size_t k = 0;
        rows += own && row->tile.m > 0;
        if (!own || row->tile_list != list) {
            continue;
        }
        while (k < n && memcmp(&tile[k].tile, &row->tile, sizeof row->tile) != 0) {
            k++;
        }
        if (k == n && n < sizeof tile / sizeof *tile) {
            tile[n++] = (seen){row->tile, 0};
        }
        if (k < n) {
            tile[k].n++;
        }
    }
    uint8_t *kept = &g->row.n_tiles[list];
    while (*kept < DLS_SIZED_TILES) {
        size_t most = 0;
        for (size_t k = 1; k < n; k++) {
            most = tile[k].n > tile[most].n ? k : most;
        }
        if (n == 0 || (double)tile[most].n <= SEEN_LEAST * (double)rows) {
            break;
        }
        g->row.tile[list][(*kept)++] = tile[most].tile;
        tile[most].n = 0;
    }
}

static void usual_tiles(group *g)
{
    static const dls_tile usual[] = {{1, 128, 128}, {1, 128, 64}, {1, 64, 64}};
    for (int list = 0; list < 3; list++) {
        find_tiles(g, list);
    }
    if (g->row.n_tiles[0] == 0 && g->row.family <= DLS_SIZED_CONV) {
        memcpy(g->row.tile[0], usual, sizeof usual);
        g->row.n_tiles[0] = 3;
    }
}

/* Priors: what is usual, or the constants of a relative. */
static void expect(group *g, const dls_sized_row *relative)
{
    size_t n = 0;
    const dls_sized_constant *constant = dls_sized_constants(g->row.family, &n);
    for (size_t k = 0; k < n; k++) {
        g->fit.mean[k] = log(relative ? relative->c[k] : constant[k].mean);
        g->fit.sigma[k] = constant[k].sigma;
    }
    g->fit.n = n;
    for (int i = 0; dls_sized_has_rates(g->row.family) && i < g->row.n_tiles[0]; i++) {
        double rate = dls_sized_tile_rate(g->row.tile[0][i]);
        for (int k = 0; relative && k < relative->n_tiles[0]; k++) {
            if (memcmp(&relative->tile[0][k], &g->row.tile[0][i], sizeof(dls_tile)) == 0) {
                rate = relative->c[n + (size_t)k];
            }
        }
        g->fit.mean[g->fit.n] = log(rate);
        g->fit.sigma[g->fit.n++] = RATE_SIGMA;
    }
}

static dls_status fit_group(group *g, const dls_hw_gpu *gpu, dls_sized_table *table, dls_error *err)
{
    double x[DLS_FIT_MAX];
    g->gpu = dls_sized_gpu_of(gpu, g->row.numeric);
    snprintf(g->row.gpu, sizeof g->row.gpu, "%s", gpu->name);
    usual_tiles(g);
    const dls_sized_row *relative =
        g->n < ROWS_OWN ? dls_sized_table_for(table, gpu, g->row.family, g->row.numeric).row : NULL;
    expect(g, relative && relative->family == g->row.family ? relative : NULL);
    g->stride = (g->n + ROWS_MOST - 1) / ROWS_MOST;
    g->fit.n_residuals = (g->n + g->stride - 1) / g->stride;
    g->fit.residuals = residuals;
    g->fit.user = g;
    DLS_TRY(dls_fit_run(&g->fit, x, err));
    constants_of(g, x);
    return dls_sized_table_put(table, &g->row, err);
}

/* Rows of a GPU and family that fit, into at. */
static size_t select(const dls_measured_kernels *rows, const dls_hw_gpu *gpu,
                     dls_sized_family family, dls_numeric numeric, size_t *at)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const dls_measured_kernel *row = &rows->row[i];
        if (row->gpu == gpu && row->work.family == family && row->units == numeric && !row->judge &&
            !(row->work.groups > 1)) {
            at[n++] = i;
        }
    }
    return n;
}

/* One family: GPUs in the order of how many rows they have. */
static dls_status fit_family(const dls_measured_kernels *rows, const dls_hardware *hw,
                             const dls_hw_gpu *left_out, dls_sized_family family,
                             dls_numeric numeric, size_t *at, size_t *count, dls_sized_table *table,
                             dls_error *err)
{
    for (size_t i = 0; i < hw->n_gpus; i++) {
        const bool known = dls_sized_table_find(table, hw->gpu[i].name, family, numeric) != NULL;
        count[i] =
            known || &hw->gpu[i] == left_out ? 0 : select(rows, &hw->gpu[i], family, numeric, at);
    }
    for (;;) {
        size_t most = 0;
        for (size_t i = 1; i < hw->n_gpus; i++) {
            most = count[i] > count[most] ? i : most;
        }
        if (count[most] < ROWS_LEAST) {
            return DLS_OK;
        }
        group g = {.rows = rows, .at = at, .row = {.family = family, .numeric = numeric}};
        g.n = select(rows, &hw->gpu[most], family, numeric, at);
        count[most] = 0;
        DLS_TRY(fit_group(&g, &hw->gpu[most], table, err));
    }
}

dls_status dls_sized_fit(const dls_measured_kernels *rows, const dls_hardware *hw,
                         const dls_hw_gpu *left_out, dls_sized_table *table, dls_error *err)
{
    const size_t n = rows->n + hw->n_gpus + 1;
    size_t *at = dls_alloc(n * sizeof *at);
    dls_status status = at ? DLS_OK : dls_nomem(err, "kernels", n * sizeof *at);
    for (int f = 0; f < DLS_SIZED_NUMERICS * DLS_SIZED_FAMILIES && status == DLS_OK; f++) {
        const dls_numeric numeric = (dls_numeric)(f / DLS_SIZED_FAMILIES);
        status = fit_family(rows, hw, left_out, (dls_sized_family)(f % DLS_SIZED_FAMILIES), numeric,
                            at, at + rows->n, table, err);
    }
    dls_free(at);
    if (status == DLS_OK && table->n == 0) {
        return dls_fail(err, DLS_EINPUT, NULL, "too few measured kernels to fit anything");
    }
    return status;
}
