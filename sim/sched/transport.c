/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shortest augmenting paths for sched/transport.h.
 */
#include "sched/transport.h"

#include <math.h>
#include <string.h>

#define NONE SIZE_MAX

dls_status dls_transport_begin(dls_transport *t, dls_scratch *memory, int first, size_t rows,
                               size_t columns, dls_error *err)
{
    const size_t cells = rows * columns;
    const struct {
        void *p;
        size_t n, size;
    } arrays[] = {{&t->supply, rows, sizeof *t->supply},   {&t->u, rows, sizeof *t->u},
                  {&t->from, rows, sizeof *t->from},       {&t->reached, rows, sizeof *t->reached},
                  {&t->seen, rows, sizeof *t->seen},       {&t->room, columns, sizeof *t->room},
                  {&t->v, columns, sizeof *t->v},          {&t->least, columns, sizeof *t->least},
                  {&t->via, columns, sizeof *t->via},      {&t->used, columns, sizeof *t->used},
                  {&t->cost, cells, sizeof *t->cost},      {&t->sent, cells, sizeof *t->sent}};
    for (int i = 0; i < 12; i++) {
        DLS_TRY(dls_scratch_array(memory, first + i, arrays[i].p, arrays[i].n, arrays[i].size, err));
    }
    t->rows = rows;
    t->columns = columns;
    return DLS_OK;
}

/* A row is reached through a column, NONE: the path begins there. */
static void reach_row(dls_transport *t, size_t row, size_t from, size_t *n)
{
    const double *cost = t->cost + row * t->columns, *v = t->v;
    const double u = t->u[row];
    double *least = t->least;
    size_t *via = t->via;
    t->seen[row] = true;
    t->from[row] = from;
    t->reached[(*n)++] = row;
    for (size_t c = 0; c < t->columns; c++) { /* without branches: several columns at a time */
        const double over = cost[c] - u - v[c];
        const bool better = over < least[c];
        least[c] = better ? over : least[c];
        via[c] = better ? row : via[c];
    }
}

/* The first of the columns that are cheapest to reach, of those that have not been reached; NONE: there is none. */
static size_t nearest(const dls_transport *t)
{
    enum { LANES = 8 };
    const double *least = t->least;
    const size_t whole = t->columns / LANES * LANES;
    double lane[LANES], best = (double)INFINITY;
    for (size_t k = 0; k < LANES; k++) {
        lane[k] = (double)INFINITY;
    }
    for (size_t c = 0; c < whole; c += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            const double x = least[c + k] > -(double)INFINITY ? least[c + k] : (double)INFINITY;
            lane[k] = x < lane[k] ? x : lane[k];
        }
    }
    for (size_t k = 0; k < LANES; k++) {
        best = lane[k] < best ? lane[k] : best;
    }
    for (size_t c = whole; c < t->columns; c++) {
        best = least[c] > -(double)INFINITY && least[c] < best ? least[c] : best;
    }
    for (size_t c = 0; c < t->columns && isfinite(best); c++) {
        if (least[c] == best) {
            return c;
        }
    }
    return NONE;
}

/* The cheapest way from a row to a column with room, which it returns; NONE: there is none. */
static size_t find_way(dls_transport *t, size_t row)
{
    size_t n = 0, n_used = 0;
    memset(t->seen, 0, t->rows * sizeof *t->seen);
    for (size_t c = 0; c < t->columns; c++) {
        t->least[c] = (double)INFINITY;
    }
    reach_row(t, row, NONE, &n);
    for (;;) {
        const size_t next = nearest(t);
        if (next == NONE) {
            return NONE;
        }
        const double step = t->least[next];
        for (size_t i = 0; i < n; i++) {
            t->u[t->reached[i]] += step;
        }
        for (size_t i = 0; i < n_used; i++) {
            t->v[t->used[i]] -= step;
        }
        for (size_t c = 0; c < t->columns; c++) {
            t->least[c] -= step;
        }
        if (t->room[next] > 0) {
            return next;
        }
        t->used[n_used++] = next;
        t->least[next] = -(double)INFINITY;
        const int64_t *sent = t->sent + next * t->rows;
        for (size_t i = 0; i < t->rows; i++) {
            if (sent[i] > 0 && !t->seen[i]) {
                reach_row(t, i, next, &n);
            }
        }
    }
}

static void send(dls_transport *t, size_t row, size_t to)
{
    int64_t amount = t->supply[row] < t->room[to] ? t->supply[row] : t->room[to];
    for (size_t c = to, r = t->via[c]; t->from[r] != NONE; c = t->from[r], r = t->via[c]) {
        const int64_t there = t->sent[t->from[r] * t->rows + r];
        amount = there < amount ? there : amount;
    }
    t->room[to] -= amount;
    t->supply[row] -= amount;
    for (size_t c = to;;) {
        const size_t r = t->via[c];
        t->sent[c * t->rows + r] += amount;
        c = t->from[r];
        if (c == NONE) {
            return;
        }
        t->sent[c * t->rows + r] -= amount;
    }
}

void dls_transport_solve(dls_transport *t)
{
    memset(t->sent, 0, t->rows * t->columns * sizeof *t->sent);
    memset(t->v, 0, t->columns * sizeof *t->v);
    for (size_t row = 0; row < t->rows; row++) {
        t->u[row] = 0;
        while (t->supply[row] > 0) {
            const size_t to = find_way(t, row);
            if (to == NONE) {
                break;
            }
            send(t, row, to);
        }
    }
}
