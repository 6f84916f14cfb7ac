/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Small graphs side by side as the rows of one, so that a product has enough of them. The sums of a
 * row are those that it has alone, to the bit.
 */

/* Nodes of a stack at most: a multiple of what blocks of rows hold, few enough for the first-level
 * cache. */
#define STACK_NODES 96

typedef struct graph_stack {
    int32_t n;
    int64_t *start; /* [n + 1] */
    int32_t *col;
    REAL *value, *diag;
} graph_stack;

static void stack_entry(graph_stack *s, int32_t col, REAL value)
{
    const int64_t at = s->start[s->n + 1]++;
    s->col[at] = col;
    s->value[at] = value;
}

/* Put a graph behind those that are there. One that would be dense alone has its diagonal among the
 * other entries, in the order in which a dense product adds. */
static void stack_graph(graph_stack *s, const csr *g, bool is_dense)
{
    const int32_t first = s->n;
    s->start[0] = 0;
    for (int32_t i = 0; i < g->n; i++, s->n++) {
        bool placed = !is_dense;
        s->start[s->n + 1] = s->start[s->n];
        s->diag[s->n] = is_dense ? 0 : g->diag[i];
        for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
            const bool loop = !placed && g->col[e] == i;
            if (!placed && g->col[e] > i) {
                stack_entry(s, first + i, g->diag[i]);
            }
            placed |= g->col[e] >= i;
            stack_entry(s, first + g->col[e], g->value[e] + (loop ? g->diag[i] : 0));
        }
        if (!placed) {
            stack_entry(s, first + i, g->diag[i]);
        }
    }
}
