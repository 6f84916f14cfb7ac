/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shortest augmenting paths for sched/transport.h.
 */
#include "sched/transport.h"

#include "dlsim/memory.h"

#include <math.h>
#include <string.h>

#define NONE SIZE_MAX

dls_status dls_transport_begin(dls_transport *t, size_t rows, size_t columns, dls_error *err)
{
    const size_t cells = rows * columns;
    size_t *cap = t->cap;
    DLS_TRY(dls_grow(&t->supply, &cap[0], rows, sizeof *t->supply, err));
    DLS_TRY(dls_grow(&t->u, &cap[1], rows, sizeof *t->u, err));
    DLS_TRY(dls_grow(&t->from, &cap[2], rows, sizeof *t->from, err));
    DLS_TRY(dls_grow(&t->reached, &cap[3], rows, sizeof *t->reached, err));
    DLS_TRY(dls_grow(&t->seen, &cap[4], rows, sizeof *t->seen, err));
    DLS_TRY(dls_grow(&t->room, &cap[5], columns, sizeof *t->room, err));
    DLS_TRY(dls_grow(&t->v, &cap[6], columns, sizeof *t->v, err));
    DLS_TRY(dls_grow(&t->least, &cap[7], columns, sizeof *t->least, err));
    DLS_TRY(dls_grow(&t->via, &cap[8], columns, sizeof *t->via, err));
    DLS_TRY(dls_grow(&t->used, &cap[9], columns, sizeof *t->used, err));
    DLS_TRY(dls_grow(&t->cost, &cap[10], cells, sizeof *t->cost, err));
    DLS_TRY(dls_grow(&t->sent, &cap[11], cells, sizeof *t->sent, err));
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

void dls_transport_fini(dls_transport *t)
{
    dls_free(t->cost);
    dls_free(t->supply);
    dls_free(t->room);
    dls_free(t->sent);
    dls_free(t->u);
    dls_free(t->v);
    dls_free(t->least);
    dls_free(t->via);
    dls_free(t->from);
    dls_free(t->reached);
    dls_free(t->used);
    dls_free(t->seen);
    memset(t, 0, sizeof *t);
}
