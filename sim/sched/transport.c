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
    t->seen[row] = true;
    t->from[row] = from;
    t->reached[(*n)++] = row;
    for (size_t c = 0; c < t->columns; c++) {
        const double over = t->cost[row * t->columns + c] - t->u[row] - t->v[c];
        if (!t->used[c] && over < t->least[c]) {
            t->least[c] = over;
            t->via[c] = row;
        }
    }
}

/* The cheapest way from a row to a column with room, which it returns; NONE: there is none. */
static size_t find_way(dls_transport *t, size_t row)
{
    size_t n = 0;
    memset(t->seen, 0, t->rows * sizeof *t->seen);
    memset(t->used, 0, t->columns * sizeof *t->used);
    for (size_t c = 0; c < t->columns; c++) {
        t->least[c] = (double)INFINITY;
    }
    reach_row(t, row, NONE, &n);
    for (;;) {
        size_t next = NONE;
        for (size_t c = 0; c < t->columns; c++) {
            if (!t->used[c] && isfinite(t->least[c]) &&
                (next == NONE || t->least[c] < t->least[next])) {
                next = c;
            }
        }
        if (next == NONE) {
            return NONE;
        }
        const double step = t->least[next];
        for (size_t i = 0; i < n; i++) {
            t->u[t->reached[i]] += step;
        }
        for (size_t c = 0; c < t->columns; c++) {
            if (t->used[c]) {
                t->v[c] -= step;
            } else {
                t->least[c] -= step;
            }
        }
        t->used[next] = true;
        if (t->room[next] > 0) {
            return next;
        }
        for (size_t i = 0; i < t->rows; i++) {
            if (!t->seen[i] && t->sent[i * t->columns + next] > 0) {
                reach_row(t, i, next, &n);
            }
        }
    }
}

static void send(dls_transport *t, size_t row, size_t to)
{
    int64_t amount = t->supply[row] < t->room[to] ? t->supply[row] : t->room[to];
    for (size_t c = to, r = t->via[c]; t->from[r] != NONE; c = t->from[r], r = t->via[c]) {
        const int64_t there = t->sent[r * t->columns + t->from[r]];
        amount = there < amount ? there : amount;
    }
    t->room[to] -= amount;
    t->supply[row] -= amount;
    for (size_t c = to;;) {
        const size_t r = t->via[c];
        t->sent[r * t->columns + c] += amount;
        c = t->from[r];
        if (c == NONE) {
            return;
        }
        t->sent[r * t->columns + c] -= amount;
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
