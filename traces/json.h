/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A pull parser for JSON (RFC 8259) job lists of hundreds of megabytes: no tree is built, nothing
 * is allocated; the caller walks the text and skips what it does not need.
 *
 *      dls_json_open(&j, '[')  then while (dls_json_item(&j, &more), more) { one value }
 *      dls_json_open(&j, '{')  then while (dls_json_key(&j, key, ...), more) { one value }
 *
 * Errors name file:line:column and what was expected. Nesting is limited to 64.
 */
#ifndef DLS_TRACES_JSON_H
#define DLS_TRACES_JSON_H

#include "dlsim/trace.h"

#define DLS_JSON_MAX_DEPTH 64
#define DLS_JSON_TEXT 256 /* room that callers give for strings */

typedef struct dls_json {
    const dls_trace_source *src;
    const char *p, *end;
    int depth;
    bool first[DLS_JSON_MAX_DEPTH]; /* no item of this array or object was read yet */
} dls_json;

void dls_json_init(dls_json *j, const dls_trace_source *src);
/* An error at the next token. */
dls_status dls_json_fail(const dls_json *j, dls_error *err, const char *fmt, ...) DLS_PRINTF(3, 4);

/* First character of the next value: { [ " t f n - or a digit; 0 at the end of the text. */
char dls_json_peek(dls_json *j);
/* Enter an array '[' or an object '{'. */
dls_status dls_json_open(dls_json *j, char bracket, dls_error *err) DLS_MUST_CHECK;
/* Stand before the next item of the open array, or leave it (*more = false). */
dls_status dls_json_item(dls_json *j, bool *more, dls_error *err) DLS_MUST_CHECK;
/* Read the next key of the open object and stand before its value, or leave it. Keys are cut to the
 * room there is. */
dls_status dls_json_key(dls_json *j, char key[DLS_JSON_TEXT], bool *more,
                        dls_error *err) DLS_MUST_CHECK;
/* A string, UTF-8, escapes resolved, at most DLS_JSON_TEXT-1 bytes. */
dls_status dls_json_string(dls_json *j, char text[DLS_JSON_TEXT], dls_error *err) DLS_MUST_CHECK;
/* A number times 10^scale within min..max; more decimals are rounded at scale 6 (times) and an
 * error otherwise. */
dls_status dls_json_parse_number(dls_json *j, const char *what, int scale, int64_t min, int64_t max,
                                 int64_t *out, dls_error *err) DLS_MUST_CHECK;
/* Pass over any value. */
dls_status dls_json_skip(dls_json *j, dls_error *err) DLS_MUST_CHECK;
/* dls_trace_builder_add with j's position as the place. */
dls_status dls_json_add(dls_json *j, dls_trace_builder *b, const dls_job_rec *rec,
                        dls_error *err) DLS_MUST_CHECK;
/* Nothing but blanks may follow. */
dls_status dls_json_end(dls_json *j, dls_error *err) DLS_MUST_CHECK;

#endif
