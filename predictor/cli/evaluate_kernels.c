/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of measured kernels: family by family, set by set, GPU by GPU.
 */
#include "predictor/cli/evaluate_kernels.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

#define MODELS 2

typedef struct model {
    const char *name;
    dls_kernel_model ask;
    const void *user;
} model;

static void mark_line(const char *name, const dls_errors e[MODELS])
{
    printf("| %s | %zu |", name, e[0].rows);
    for (int k = 0; k < MODELS; k++) {
        printf(" %.1f | %.1f | %.1f | %.2f |", 100 * e[k].median, 100 * e[k].mean, 100 * e[k].p90,
               e[k].bias);
    }
    putchar('\n');
}

static void print_line(const char *name, const dls_errors e[MODELS])
{
    printf("%-40s %6zu", name, e[0].rows);
    for (int k = 0; k < MODELS; k++) {
        printf("   %7.1f %7.1f %7.1f %5.2f", 100 * e[k].median, 100 * e[k].mean, 100 * e[k].p90,
               e[k].bias);
    }
    putchar('\n');
}

static void add_line(json_object *list, const char *name, const model *models,
                     const dls_errors e[MODELS])
{
    json_object *obj = dls_json_next(list);
    dls_json_text(obj, "kernels", name);
    dls_json_int(obj, "rows", (int64_t)e[0].rows);
    for (int k = 0; k < MODELS; k++) {
        json_object *one = dls_json_object(obj, models[k].name);
        dls_json_real(one, "median", e[k].median);
        dls_json_real(one, "mean", e[k].mean);
        dls_json_real(one, "p90", e[k].p90);
        dls_json_real(one, "bias", e[k].bias);
    }
}

/* Nothing for a choice without rows. */
static dls_status line(const dls_measured_kernels *s, const dls_kernel_choice *c,
                       const model *models, const dls_kernel_report *o, json_object *list,
                       dls_error *err)
{
    dls_errors e[MODELS];
    char name[128];
    for (int k = 0; k < MODELS; k++) {
        DLS_TRY(dls_measured_kernels_judge(s, c, models[k].ask, models[k].user, &e[k], err));
    }
    snprintf(name, sizeof name, "%s%s, %s%s%s", c->gpu ? "- " : "", c->family, s->set[c->set],
             c->gpu ? ", " : "", c->gpu ? c->gpu : "");
    if (e[0].rows > 0 && list) {
        add_line(list, name, models, e);
    } else if (e[0].rows > 0) {
        (o->markdown ? mark_line : print_line)(name, e);
    }
    return DLS_OK;
}

static dls_status lines(const dls_measured_kernels *s, const dls_kernel_report *o,
                        const dls_hardware *hw, const model *models, dls_error *err)
{
    json_object *list = o->json ? dls_json_list(o->json, "kernels") : NULL;
    const char *last = "";
    for (int op = 0; op < DLS_MEASURED_OPS; op++) {
        dls_kernel_choice c = {.family = dls_measured_op_family(op), .least_s = o->least_ms / 1e3};
        if (strcmp(c.family, last) == 0) {
            continue;
        }
        last = c.family;
        for (c.set = 0; c.set < s->n_sets; c.set++) {
            DLS_TRY(line(s, &c, models, o, list, err));
            for (size_t g = 0; o->by_gpu && g < hw->n_gpus; g++) {
                c.gpu = hw->gpu[g].name;
                DLS_TRY(line(s, &c, models, o, list, err));
            }
            c.gpu = NULL;
        }
    }
    return DLS_OK;
}

dls_status dls_kernels_report(const dls_measured_kernels *s, const dls_kernel_report *o,
                              dls_error *err)
{
    char buf[4096];
    dls_opmodel constants;
    dls_sized_table sizes;
    dls_hardware hw;
    const char *folder = dls_hardware_folder(o->hardware, buf, sizeof buf);
    DLS_TRY(dls_hardware_load(folder, &hw, err));
    dls_status status = dls_opmodel_load_sized(folder, &constants, &sizes, err);
    if (status != DLS_OK) {
        dls_hardware_fini(&hw);
        return status;
    }
    const model models[MODELS] = {{"operator", dls_measured_operator_s, &constants},
                                  {"roofline", dls_measured_roofline_s, NULL}};
    if (o->markdown && !o->json) {
        puts("| kernels | rows | operator: median % | mean % | p90 % | bias | roofline: median % | "
             "mean % | "
             "p90 % | bias |\n|---|---|---|---|---|---|---|---|---|---|");
    } else if (!o->json) {
        printf("%zu measured kernels, %zu rows left out\n\n", s->n, s->n_bad);
        printf("%-40s %6s   %-29s   %-29s\n", "", "", "operator", "roofline");
        printf("%-40s %6s   %7s %7s %7s %5s   %7s %7s %7s %5s\n", "kernels", "rows", "median%",
               "mean%", "p90%", "bias", "median%", "mean%", "p90%", "bias");
    }
    status = lines(s, o, &hw, models, err);
    dls_sized_table_fini(&sizes);
    dls_hardware_fini(&hw);
    return status;
}
