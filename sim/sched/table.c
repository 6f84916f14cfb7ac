/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads tables that options of schedulers name.
 */
#include "sched/table.h"

#include "dlsim/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blanks around cells are dropped, quotes (RFC 4180), too. Returns how many there are, up to one more than have room; 0:
 * a quote is not closed, or not at the end of its cell. */
static int split_cells(char *line, char *cell[DLS_SCHED_CELLS])
{
    int n = 0;
    for (char *at = line; at; n++) {
        if (n == DLS_SCHED_CELLS) {
            return n + 1;
        }
        at += strspn(at, " \t");
        char *end = cell[n] = at;
        if (*at == '"') {
            for (at++; *at && (*at != '"' || at[1] == '"'); *end++ = *at++) {
                at += *at == '"';
            }
            if (!*at || (at += 1 + strspn(at + 1, " \t"), *at && *at != ',')) {
                return 0;
            }
        } else {
            at += strcspn(at, ",");
            for (end = at; end > cell[n] && strchr(" \t", end[-1]); end--) {
            }
        }
        char *const rest = *at ? at + 1 : NULL;
        *end = '\0';
        at = rest;
    }
    return n;
}

static bool is_header(const char *line, const char *header)
{
    const size_t least = strcspn(header, "[");
    const char *more = header + least + (header[least] == '[');
    if (strncmp(line, header, least) != 0) {
        return false;
    }
    const size_t n = strlen(line + least);
    return n == 0 || (strncmp(line + least, more, n) == 0 && strchr(",]", more[n]));
}

typedef struct reading {
    const char *header;
    dls_sched_row row;
    void *user;
    bool begun; /* the header has been read */
} reading;

static dls_status read_line(void *user, char *line, int number, const char *where, dls_error *err)
{
    reading *r = user;
    char *cell[DLS_SCHED_CELLS];
    int n = 1, least = 1;
    if (number == 1) {
        r->begun = true;
        return is_header(line, r->header)
                   ? DLS_OK
                   : dls_fail(err, DLS_EINPUT, where, "expected the header %s", r->header);
    }
    if (!line[strspn(line, " ")]) {
        return DLS_OK;
    }
    for (const char *p = r->header; (p = strchr(p, ',')); p++) {
        n++;
        least += p < r->header + strcspn(r->header, "[");
    }
    int k = split_cells(line, cell);
    if (k < least || k > n) {
        return dls_fail(err, DLS_EINPUT, where, "expected %s", r->header);
    }
    for (; k < n; k++) {
        cell[k] = cell[k - 1] + strlen(cell[k - 1]);
    }
    return r->row(r->user, cell, where, err);
}

dls_status dls_sched_lines_read(const char *path, dls_sched_line take, void *user, dls_error *err)
{
    char *text = NULL, where[512];
    dls_status status = dls_read_text(path, &text, err);
    char *rest = text;
    for (int number = 1; status == DLS_OK && *rest; number++) {
        char *line = rest;
        rest += strcspn(rest, "\n");
        rest += *rest ? (*rest = '\0', 1) : 0;
        line[strcspn(line, "\r")] = '\0';
        snprintf(where, sizeof where, "%s:%d", path, number);
        status = take(user, line, number, where, err);
    }
    dls_free(text);
    return status;
}

dls_status dls_sched_table_read(const char *path, const char *header, dls_sched_row row, void *user,
                                dls_error *err)
{
    reading r = {header, row, user, false};
    DLS_TRY(dls_sched_lines_read(path, read_line, &r, err));
    return r.begun ? DLS_OK : dls_fail(err, DLS_EINPUT, path, "is empty: expected the header %s", header);
}

bool dls_sched_table_number(const char *cell, double least, double most, double *out)
{
    char *end;
    *out = strtod(cell, &end);
    return end != cell && !*end && *out >= least && *out <= most;
}

bool dls_sched_table_whole(const char *cell, int32_t least, int32_t most, int32_t *out)
{
    double value;
    const bool good = dls_sched_table_number(cell, least, most, &value) && value == floor(value);
    *out = good ? (int32_t)value : 0;
    return good;
}

bool dls_sched_table_time(const char *cell, int64_t *us)
{
    double seconds;
    const bool good = dls_sched_table_number(cell, -1e11, 1e11, &seconds);
    *us = good ? (int64_t)llround(seconds * 1e6) : 0;
    return good;
}
