/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes a grouped graph as Graphviz text, with the commonest operations of each group.
 */
#include "workload/graph/dot.h"

#include "base/alloc.h"
#include "base/atomicfile.h"

#include <inttypes.h>
#include <stdio.h>

#define TOP_OPS 3

static const char *const colours[DLS_PHASE_COUNT] = {
    [DLS_PHASE_FORWARD] = "#cfe2f3",
    [DLS_PHASE_BACKWARD] = "#f9cb9c",
    [DLS_PHASE_UPDATE] = "#d9ead3",
    [DLS_PHASE_OTHER] = "#eeeeee",
};

typedef struct group_sum {
    double flops;
    int32_t members;
    int32_t phase[DLS_PHASE_COUNT];
} group_sum;

/* The next commonest operation of a group; its count is spent. */
static int32_t take_commonest(int32_t *count, size_t n_ops)
{
    size_t best = 0;
    for (size_t i = 1; i < n_ops; i++) {
        best = count[i] > count[best] ? i : best;
    }
    return (int32_t)best;
}

static void write_group(FILE *f, const dls_opgraph *g, int32_t group, const group_sum *sum,
                        int32_t *count)
{
    int phase = 0;
    for (int i = 1; i < DLS_PHASE_COUNT; i++) {
        phase = sum->phase[i] > sum->phase[phase] ? i : phase;
    }
    fprintf(f, "  g%" PRId32 " [fillcolor=\"%s\", label=\"%" PRId32 ": %" PRId32 " ops", group,
            colours[phase], group, sum->members);
    if (sum->flops > 0) {
        fprintf(f, ", %.3g GFLOP", sum->flops * 1e-9);
    }
    for (int i = 0; i < TOP_OPS; i++) {
        const int32_t op = take_commonest(count, g->ops.n);
        if (count[op] == 0) {
            break;
        }
        fputs("\\n", f);
        for (const char *s = dls_strdict_get(&g->ops, op); *s; s++) {
            if (*s == '"' || *s == '\\') {
                fputc('\\', f);
            }
            fputc(*s, f);
        }
        fprintf(f, " x %" PRId32, count[op]);
        count[op] = 0;
    }
    fputs("\"];\n", f);
}

static void write_dot(FILE *f, const dls_opgraph *g, const dls_grouping *grouping, group_sum *sums,
                      int32_t *count)
{
    const size_t n_ops = g->ops.n;
    for (int32_t v = 0; v < g->n_nodes; v++) {
        if (grouping->group[v] >= 0) {
            group_sum *s = &sums[grouping->group[v]];
            s->members++;
            s->flops += g->nodes[v].flops * g->nodes[v].repeat;
            s->phase[g->nodes[v].phase]++;
            count[(size_t)grouping->group[v] * n_ops + (size_t)g->nodes[v].op]++;
        }
    }
    fputs("graph grouped {\n  layout=sfdp; overlap=prism; splines=true;\n"
          "  node [shape=box, style=\"filled,rounded\", fontsize=9];\n",
          f);
    for (int32_t i = 0; i < grouping->n_groups; i++) {
        write_group(f, g, i, &sums[i], count + (size_t)i * n_ops);
    }
    for (int32_t i = 0; i < grouping->n_groups; i++) {
        for (int64_t e = grouping->row_start[i]; e < grouping->row_start[i + 1]; e++) {
            if (grouping->col[e] > i) {
                fprintf(f, "  g%" PRId32 " -- g%" PRId32 ";\n", i, grouping->col[e]);
            }
        }
    }
    fputs("}\n", f);
}

typedef struct picture {
    const dls_opgraph *g;
    const dls_grouping *grouping;
    group_sum *sums;
    int32_t *count;
} picture;

static dls_status put(FILE *to, void *what, dls_error *err)
{
    const picture *p = what;
    write_dot(to, p->g, p->grouping, p->sums, p->count);
    return DLS_OK;
}

dls_status dls_grouping_dot(const dls_opgraph *g, const dls_grouping *grouping, const char *path,
                            dls_error *err)
{
    const size_t n = (size_t)grouping->n_groups;
    picture p = {.g = g,
                 .grouping = grouping,
                 .sums = dls_alloc_zero(n + 1, sizeof *p.sums),
                 .count = dls_alloc_zero(n * g->ops.n + 1, sizeof *p.count)};
    const dls_status status = p.sums && p.count
                                  ? dls_atomicfile_write(path, put, &p, err)
                                  : dls_nomem(err, "picture", n * g->ops.n * sizeof *p.count);
    dls_free(p.sums);
    dls_free(p.count);
    return status;
}
