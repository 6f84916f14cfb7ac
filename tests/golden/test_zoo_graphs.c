/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every graph of the zoo is what it was: digests of all operations and edges, of one sample as
 * TensorFlow runs it and of three in half precision as PyTorch does, in zoo_graphs.txt. A model
 * that is new or meant to change: its line is printed.
 */
#include "support/test.h"
#include "workload/graph/zoo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a, a word at a time. */
static uint64_t word(uint64_t hash, uint64_t x)
{
    hash = (hash ^ x) * 0x100000001b3;
    return hash ^ hash >> 32;
}

static uint64_t text_of(uint64_t hash, const char *text)
{
    for (; *text; text++) {
        hash = word(hash, (unsigned char)*text);
    }
    return hash;
}

static uint64_t add(uint64_t hash, const dls_opgraph *g)
{
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *x = &g->nodes[i];
        const dls_op_dims *d = &x->dims;
        const int64_t numbers[] = {
            x->kind,       x->phase,       x->repeat,      x->on_gpu,      x->out_bytes,
            x->read_bytes, x->write_bytes, x->param_bytes, x->tensor_size, (int64_t)x->flops,
            d->batch,      d->m,           d->n,           d->k,           d->in_h,
            d->in_w,       d->in_c,        d->out_h,       d->out_w,       d->out_c,
            d->kernel_h,   d->kernel_w,    d->stride_h,    d->stride_w,    d->groups};
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            hash = word(hash, (uint64_t)numbers[k]);
        }
        hash = text_of(text_of(hash, dls_opgraph_name(g, i)), dls_opgraph_layer_name(g, x->layer));
    }
    for (int32_t i = 0; i < g->n_edges; i++) {
        const dls_op_edge *e = &g->edges[i];
        hash = word(word(word(hash, (uint64_t)e->from), (uint64_t)e->to), e->control);
    }
    return hash;
}

static uint64_t digest(const dls_zoo_model *m)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (int eager = 0; eager < 2; eager++) {
        dls_zoo_options o = dls_zoo_defaults(m);
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
        dls_error e;
        o.batch = eager ? 3 : 1;
        o.numeric = eager ? DLS_NUMERIC_FP16 : DLS_NUMERIC_FP32;
        o.runner = eager ? DLS_RUN_EAGER : DLS_RUN_GRAPH;
        if (dls_zoo_build(m, &o, &g, &e) != DLS_OK) {
            fail_msg("%s: %s", m->name, e.msg);
        }
        hash = add(hash, g);
    }
    return hash;
}

TEST(graphs_are_what_they_were)
{
    static char text[1 << 16], line[256];
    char path[4096];
    size_t changed = 0, lines = 0;
    snprintf(path, sizeof path, "%s/tests/golden/zoo_graphs.txt",
             getenv("DLSIM_SOURCE") ? getenv("DLSIM_SOURCE") : ".");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    for (const char *at = text; (at = strchr(at, '\n')); at++) {
        lines++;
    }
    for (size_t i = 0; i < dls_zoo_size(); i++) {
        snprintf(line, sizeof line, "\n%s %016llx\n", dls_zoo_at(i)->name,
                 (unsigned long long)digest(dls_zoo_at(i)));
        if (!strstr(text, line)) {
            printf("%s", line + 1);
            changed++;
        }
    }
    assert_int_equal(changed, 0);
    assert_int_equal(lines, dls_zoo_size() + 1); /* no model has gone, either */
}
