/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Streaming walk over large JSON lists: skips and checks the outer structure itself and lets json-c
 * parse one item at a time.
 */
#include "traces/walk.h"

#include "base/alloc.h"
#include "base/decimal.h"
#include "base/file.h"

#include <limits.h>
#include <string.h>

#define MAX_DEPTH 64

dls_status dls_walk_init(dls_walk *w, const dls_trace_source *src, dls_error *err)
{
    *w = (dls_walk){.src = src, .p = dls_past_mark(src->text), .end = src->text + src->len, .at = src->text};
    w->tokener = json_tokener_new_ex(MAX_DEPTH);
    if (!w->tokener) {
        return dls_nomem(err, "JSON reader", 0);
    }
    json_tokener_set_flags(w->tokener, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
    return DLS_OK;
}

void dls_walk_fini(dls_walk *w)
{
    if (w->tokener) {
        json_tokener_free(w->tokener);
    }
}

static const char *place(const dls_walk *w, const char *at, char *where, size_t size)
{
    return dls_file_where(w->src->path, w->src->text, (size_t)(at - w->src->text), where, size);
}

dls_status dls_walk_fail(const dls_walk *w, dls_error *err, const char *fmt, ...)
{
    char where[256];
    va_list ap;
    va_start(ap, fmt);
    dls_vfail(err, DLS_EINPUT, place(w, w->at, where, sizeof where), fmt, ap);
    va_end(ap);
    return DLS_EINPUT;
}

static char peek(dls_walk *w)
{
    w->p += strspn(w->p, " \t\r\n"); /* ends at the terminator */
    return *w->p;
}

static dls_status expected(dls_walk *w, const char *what, dls_error *err)
{
    w->at = w->p;
    return peek(w) == '\0' ? dls_walk_fail(w, err, "the file ends here, expected %s", what)
                           : dls_walk_fail(w, err, "'%.20s', expected %s", w->p, what);
}

dls_status dls_walk_enter(dls_walk *w, char bracket, dls_error *err)
{
    if (peek(w) != bracket) {
        return expected(w, bracket == '[' ? "an array" : "an object", err);
    }
    w->p++;
    w->first = true;
    return DLS_OK;
}

dls_status dls_walk_item(dls_walk *w, char close, bool *more, dls_error *err)
{
    const char c = peek(w);
    const bool first = w->first;
    *more = c != close;
    w->first = false;
    if (c == close) {
        w->p++;
        return DLS_OK;
    }
    if (!first) {
        if (c != ',') {
            return expected(w, close == ']' ? "',' or ']'" : "',' or '}'", err);
        }
        w->p++;
    }
    peek(w);
    w->at = w->p;
    return DLS_OK;
}

dls_status dls_walk_value(dls_walk *w, json_object **out, dls_error *err)
{
    char where[256];
    peek(w);
    const ptrdiff_t left = w->end - w->p;
    w->at = w->p;
    json_tokener_reset(w->tokener);
    *out = json_tokener_parse_ex(w->tokener, w->p, left < INT_MAX ? (int)left : INT_MAX);
    const enum json_tokener_error why = json_tokener_get_error(w->tokener);
    const char *behind = w->p + json_tokener_get_parse_end(w->tokener);
    if (why == json_tokener_continue) {
        return dls_fail(err, DLS_EINPUT, place(w, behind, where, sizeof where),
                        "the file ends here, in a value that starts at %s",
                        place(w, w->at, (char[256]){0}, 256));
    }
    if (why != json_tokener_success) {
        return dls_fail(err, DLS_EINPUT, place(w, behind, where, sizeof where), "'%.20s': %s",
                        behind, json_tokener_error_desc(why));
    }
    if (!*out && strncmp(w->p, "null", 4) != 0) {
        return dls_nomem(err, "JSON value", 0);
    }
    w->p = behind;
    return DLS_OK;
}

dls_status dls_walk_object(dls_walk *w, json_object **out, dls_error *err)
{
    if (peek(w) != '{') {
        return expected(w, "an object", err);
    }
    return dls_walk_value(w, out, err);
}

dls_status dls_walk_objects(dls_walk *w, dls_walk_fn one, void *user, dls_error *err)
{
    DLS_TRY(dls_walk_enter(w, '[', err));
    for (bool more;;) {
        DLS_HOLD(json_object_put) json_object *item = NULL;
        DLS_TRY(dls_walk_item(w, ']', &more, err));
        if (!more) {
            return DLS_OK;
        }
        DLS_TRY(dls_walk_object(w, &item, err));
        DLS_TRY(one(user, w, item, err));
    }
}

dls_status dls_walk_key(dls_walk *w, char key[DLS_WALK_TEXT], bool *more, dls_error *err)
{
    json_object *name;
    memset(key, 0, DLS_WALK_TEXT);
    DLS_TRY(dls_walk_item(w, '}', more, err));
    if (!*more) {
        return DLS_OK;
    }
    if (peek(w) != '"') {
        return expected(w, "a string", err);
    }
    DLS_TRY(dls_walk_value(w, &name, err));
    strncpy(key, json_object_get_string(name), DLS_WALK_TEXT - 1);
    json_object_put(name);
    if (peek(w) != ':') {
        return expected(w, "':'", err);
    }
    w->p++;
    return DLS_OK;
}

dls_status dls_walk_skip(dls_walk *w, dls_error *err)
{
    const char bracket = peek(w);
    json_object *value;
    if (bracket != '[' && bracket != '{') {
        DLS_TRY(dls_walk_value(w, &value, err));
        json_object_put(value);
        return DLS_OK;
    }
    DLS_TRY(dls_walk_enter(w, bracket, err));
    for (bool more;;) {
        char key[DLS_WALK_TEXT];
        DLS_TRY(bracket == '{' ? dls_walk_key(w, key, &more, err)
                               : dls_walk_item(w, ']', &more, err));
        if (!more) {
            return DLS_OK;
        }
        DLS_TRY(dls_walk_value(w, &value, err));
        json_object_put(value);
    }
}

dls_status dls_walk_end(dls_walk *w, dls_error *err)
{
    return peek(w) == '\0' ? DLS_OK : expected(w, "the end of the file", err);
}

/* ---- members --------------------------------------------------------------------------------- */

dls_status dls_walk_number(const dls_walk *w, json_object *of, const char *name, const char *what,
                           int scale, int64_t min, int64_t max, int64_t *out, dls_error *err)
{
    json_object *member;
    int64_t value;
    if (!json_object_object_get_ex(of, name, &member) || !member) {
        return DLS_OK;
    }
    const char *text = json_object_get_string(member);
    if (!text) {
        return dls_nomem(err, "JSON number", 0);
    }
    const dls_decimal_result result = dls_decimal_parse(text, strlen(text), scale, &value);
    if (json_object_is_type(member, json_type_string) || result >= DLS_DECIMAL_NAN) {
        return dls_walk_fail(w, err, "member '%s': '%.60s' is not a number, expected %s", name,
                             text, what);
    }
    if (result == DLS_DECIMAL_ROUNDED && scale < 6) {
        return dls_walk_fail(w, err,
                             "member '%s': '%.60s' has too many decimals (%d allowed), expected %s",
                             name, text, scale, what);
    }
    if (result == DLS_DECIMAL_OVERFLOW || value > max || value < min) {
        return dls_walk_fail(w, err, "member '%s': '%.60s' is %s, expected %s", name, text,
                             result == DLS_DECIMAL_OVERFLOW || value > max ? "too large"
                             : value < 0                                   ? "negative"
                                                                           : "too small",
                             what);
    }
    *out = value;
    return DLS_OK;
}

dls_status dls_walk_text(const dls_walk *w, json_object *of, const char *name, const char **out,
                         dls_error *err)
{
    json_object *member;
    if (!json_object_object_get_ex(of, name, &member) || !member) {
        return DLS_OK;
    }
    const char *text = json_object_get_string(member);
    const size_t len = (size_t)json_object_get_string_len(member);
    if (!json_object_is_type(member, json_type_string)) {
        return dls_walk_fail(w, err, "member '%s': expected a string", name);
    }
    if (len >= DLS_WALK_TEXT) {
        return dls_walk_fail(w, err, "member '%s': a string of %zu bytes (at most %d)", name, len,
                             DLS_WALK_TEXT - 1);
    }
    if (strlen(text) != len) {
        return dls_walk_fail(w, err, "member '%s': a NUL character in a string", name);
    }
    *out = text;
    return DLS_OK;
}

dls_status dls_walk_add(const dls_walk *w, dls_trace_builder *b, const dls_job_rec *rec,
                        dls_error *err)
{
    const dls_status status = dls_trace_builder_add(b, rec, NULL, err);
    if (status == DLS_EINPUT && err) {
        place(w, w->at, err->where, sizeof err->where);
    }
    return status;
}
