/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The original's input files other than the trace: cluster_spec.csv and the GPU-time samples.
 */
#include "base/alloc.h"
#include "tiresias/tiresias.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line without its end; false at the end of the file or on a read error. */
static bool next_line(FILE *f, char **line, size_t *cap)
{
    ssize_t n = getline(line, cap, f);
    while (n > 0 && ((*line)[n - 1] == '\n' || (*line)[n - 1] == '\r')) {
        (*line)[--n] = '\0';
    }
    return n >= 0;
}

static char *skip_mark(char *line)
{
    return strncmp(line, "\xEF\xBB\xBF", 3) == 0 ? line + 3 : line;
}

static void trim(char **text)
{
    while (**text == ' ' || **text == '\t') {
        (*text)++;
    }
    size_t n = strlen(*text);
    while (n > 0 && ((*text)[n - 1] == ' ' || (*text)[n - 1] == '\t')) {
        (*text)[--n] = '\0';
    }
}

/* A whole number in decimal digits, at most max. */
static bool parse_whole(const char *text, int64_t max, int64_t *out)
{
    int64_t v = 0;
    if (*text == '\0') {
        return false;
    }
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || v > (max - (*text - '0')) / 10) {
            return false;
        }
        v = v * 10 + (*text - '0');
    }
    *out = v;
    return true;
}

static dls_status open_input(const char *path, FILE **f, dls_error *err)
{
    *f = fopen(path, "r");
    return *f ? DLS_OK : dls_fail(err, DLS_EINPUT, path, "cannot be opened: %s", strerror(errno));
}

static dls_status bad(dls_error *err, const char *path, int line, const char *what,
                      const char *detail)
{
    char where[256];
    snprintf(where, sizeof where, "%.200s:%d", path, line);
    return dls_fail(err, DLS_EINPUT, where, "%s%s%.100s%s", what, *detail ? " '" : "", detail,
                    *detail ? "'" : "");
}

#define N_COLUMNS 5

static const char *const columns[N_COLUMNS] = {"num_switch", "num_node_p_switch", "num_gpu_p_node",
                                               "num_cpu_p_node", "mem_p_node"};

static int column_of(const char *name)
{
    for (int i = 0; i < N_COLUMNS; i++) {
        if (strcmp(name, columns[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* Which column stands at each place; all five are needed, others are ignored as there. */
static dls_status read_header(char *line, const char *path, int *at, int max, int *n,
                              dls_error *err)
{
    unsigned seen = 0;
    *n = 0;
    for (char *rest = skip_mark(line), *cell; (cell = strsep(&rest, ",")) != NULL; (*n)++) {
        trim(&cell);
        if (*n == max) {
            return bad(err, path, 1, "too many columns", "");
        }
        at[*n] = column_of(cell);
        if (at[*n] >= 0 && seen & (1u << at[*n])) {
            return bad(err, path, 1, "column twice:", cell);
        }
        seen |= at[*n] >= 0 ? 1u << at[*n] : 0;
    }
    for (int i = 0; i < N_COLUMNS; i++) {
        if (!(seen & (1u << i))) {
            return bad(err, path, 1, "missing column", columns[i]);
        }
    }
    return DLS_OK;
}

static dls_status read_row(char *line, const char *path, int row, const int *at, int n, int32_t *v,
                           dls_error *err)
{
    int i = 0;
    for (char *rest = line, *cell; (cell = strsep(&rest, ",")) != NULL; i++) {
        int64_t number;
        trim(&cell);
        if (i == n) {
            return bad(err, path, row, "more cells than the header has", "");
        }
        if (at[i] < 0) {
            continue;
        }
        if (!parse_whole(cell, INT32_MAX, &number)) {
            char what[128];
            snprintf(what, sizeof what, "column %s: expected a whole number up to %d, found",
                     columns[at[i]], INT32_MAX);
            return bad(err, path, row, what, *cell ? cell : "nothing");
        }
        v[at[i]] = (int32_t)number;
    }
    return i == n ? DLS_OK : bad(err, path, row, "fewer cells than the header has", "");
}

static dls_status parse_cluster(FILE *f, const char *path, char **line, size_t *cap,
                                dls_tiresias_cluster *out, dls_error *err)
{
    int at[64], n = 0, rows = 0;
    int32_t v[N_COLUMNS] = {0};
    if (!next_line(f, line, cap)) {
        return bad(err, path, 1, "the file is empty", "");
    }
    DLS_TRY(read_header(*line, path, at, 64, &n, err));
    for (int row = 2; next_line(f, line, cap); row++) {
        if (**line == '\0') {
            continue;
        }
        if (rows++ == 1) {
            return bad(err, path, row, "a cluster has one row; this is another", "");
        }
        DLS_TRY(read_row(*line, path, row, at, n, v, err));
    }
    if (rows == 0) {
        return bad(err, path, 2, "there is no row below the header", "");
    }
    for (int i = 0; i < 3; i++) {
        if (v[i] < 1) {
            return bad(err, path, 2, "must be at least 1:", columns[i]);
        }
    }
    *out = (dls_tiresias_cluster){v[0], v[1], v[2], v[3], v[4]};
    return DLS_OK;
}

dls_status dls_tiresias_load_cluster(const char *path, dls_tiresias_cluster *out, dls_error *err)
{
    FILE *f;
    char *line = NULL;
    size_t cap = 0;
    DLS_TRY(open_input(path, &f, err));
    const dls_status status = parse_cluster(f, path, &line, &cap, out, err);
    free(line);
    fclose(f);
    return status;
}

static int compare_i64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static dls_status parse_samples(FILE *f, const char *path, char **line, size_t *cap, int64_t **out,
                                size_t *n, dls_error *err)
{
    size_t room = 0;
    for (int row = 1; next_line(f, line, cap); row++) {
        char *cell = row == 1 ? skip_mark(*line) : *line;
        trim(&cell);
        if (*cell == '\0') {
            continue;
        }
        if (row == 1) {
            if (strcmp(cell, "duration") != 0) {
                return bad(err, path, row, "expected the header 'duration', found", cell);
            }
            continue;
        }
        DLS_TRY(dls_grow(out, &room, *n + 1, sizeof **out, err));
        if (!parse_whole(cell, INT64_C(1) << 46, &(*out)[*n]) || (*out)[*n] < 1) {
            return bad(err, path, row, "expected a whole number of seconds, at least 1, found",
                       cell);
        }
        (*n)++;
    }
    if (*n == 0) {
        return bad(err, path, 2, "there are no samples", "");
    }
    qsort(*out, *n, sizeof **out, compare_i64);
    return DLS_OK;
}

dls_status dls_tiresias_load_samples(const char *path, int64_t **out, size_t *n, dls_error *err)
{
    FILE *f;
    char *line = NULL;
    size_t cap = 0;
    *out = NULL;
    *n = 0;
    DLS_TRY(open_input(path, &f, err));
    const dls_status status = parse_samples(f, path, &line, &cap, out, n, err);
    free(line);
    fclose(f);
    if (status != DLS_OK) {
        dls_free(*out);
        *out = NULL;
    }
    return status;
}
