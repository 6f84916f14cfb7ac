/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/json.h"

#include "base/decimal.h"
#include "base/file.h"
#include "traces/reader.h"

#include <stdio.h>
#include <string.h>

void dls_json_init(dls_json *j, const dls_trace_source *src)
{
    *j = (dls_json){.src = src, .p = src->text, .end = src->text + src->len};
}

static void skip_blanks(dls_json *j)
{
    while (j->p < j->end && (*j->p == ' ' || *j->p == '\n' || *j->p == '\r' || *j->p == '\t')) {
        j->p++;
    }
}

dls_status dls_json_fail(const dls_json *j, dls_error *err, const char *fmt, ...)
{
    char where[256];
    dls_file_where(j->src->path, j->src->text, (size_t)(j->p - j->src->text), where, sizeof where);
    va_list ap;
    va_start(ap, fmt);
    dls_vfail(err, DLS_EINPUT, where, fmt, ap);
    va_end(ap);
    return DLS_EINPUT;
}

char dls_json_peek(dls_json *j)
{
    skip_blanks(j);
    return j->p < j->end ? *j->p : '\0';
}

static dls_status expected(dls_json *j, const char *what, dls_error *err)
{
    if (dls_json_peek(j) == '\0') {
        return dls_json_fail(j, err, "the file ends here, expected %s", what);
    }
    return dls_json_fail(j, err, "'%.*s', expected %s",
                         (int)(j->end - j->p < 20 ? j->end - j->p : 20), j->p, what);
}

dls_status dls_json_open(dls_json *j, char bracket, dls_error *err)
{
    if (dls_json_peek(j) != bracket) {
        return expected(j, bracket == '[' ? "an array" : "an object", err);
    }
    if (j->depth == DLS_JSON_MAX_DEPTH) {
        return dls_json_fail(j, err, "more than %d levels", DLS_JSON_MAX_DEPTH);
    }
    j->first[j->depth++] = true;
    j->p++;
    return DLS_OK;
}

/* The comma between items, or the end of the array or object. */
static dls_status next_item(dls_json *j, char close, bool *more, dls_error *err)
{
    bool *first = &j->first[j->depth - 1];
    const char c = dls_json_peek(j);
    *more = c != close;
    if (c == close) {
        j->p++;
        j->depth--;
        return DLS_OK;
    }
    if (!*first) {
        if (c != ',') {
            return expected(j, close == ']' ? "',' or ']'" : "',' or '}'", err);
        }
        j->p++;
    }
    *first = false;
    return DLS_OK;
}

dls_status dls_json_item(dls_json *j, bool *more, dls_error *err)
{
    return next_item(j, ']', more, err);
}

/* Four hexadecimal digits at p, or -1. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t v = 0;
    if (end - p < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        const char c = p[i];
        const int d = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
        if (d < 0) {
            return -1;
        }
        v = v * 16 + d;
    }
    return v;
}

static size_t put_utf8(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* The escape behind the backslash at j->p; j->p is left behind it. *n = 0: not allowed. */
static dls_status read_escape(dls_json *j, char out[4], size_t *n, dls_error *err)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *p = j->p + 1;
    const char *name = p < j->end ? strchr(names, *p) : NULL;
    if (name && *name) {
        out[0] = values[name - names];
        *n = 1;
        j->p = p + 1;
        return DLS_OK;
    }
    int32_t c = p < j->end && *p == 'u' ? hex4(p + 1, j->end) : -1;
    p += 5;
    if (c >= 0xd800 && c < 0xdc00 && j->end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        const int32_t low = hex4(p + 2, j->end);
        c = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : -1;
        p += 6;
    }
    if (c <= 0 || (c >= 0xd800 && c < 0xe000)) {
        return dls_json_fail(j, err, "an escape that JSON does not know");
    }
    *n = put_utf8((uint32_t)c, out);
    j->p = p;
    return DLS_OK;
}

/* A string of which the first cap-1 bytes are kept; text NULL: none. *len is its whole length. */
static dls_status read_string(dls_json *j, char *text, size_t cap, size_t *len, dls_error *err)
{
    if (dls_json_peek(j) != '"') {
        return expected(j, "a string", err);
    }
    const char *open = j->p++;
    size_t n = 0;
    for (;;) {
        if (j->p == j->end) {
            j->p = open;
            return dls_json_fail(j, err, "the string that starts here never ends");
        }
        char bytes[4] = {*j->p};
        size_t n_bytes = 1;
        if (*j->p == '"') {
            j->p++;
            break;
        }
        if (*j->p == '\\') {
            DLS_TRY(read_escape(j, bytes, &n_bytes, err));
        } else if ((unsigned char)*j->p < 0x20) {
            return dls_json_fail(j, err, "a control character in a string");
        } else {
            j->p++;
        }
        if (text && n + n_bytes < cap) {
            memcpy(text + n, bytes, n_bytes);
        }
        n += n_bytes;
    }
    if (text) {
        text[n < cap ? n : cap - 1] = '\0';
    }
    *len = n;
    return DLS_OK;
}

dls_status dls_json_key(dls_json *j, char key[DLS_JSON_TEXT], bool *more, dls_error *err)
{
    DLS_TRY(next_item(j, '}', more, err));
    if (!*more) {
        return DLS_OK;
    }
    size_t len;
    memset(key, 0, DLS_JSON_TEXT);
    DLS_TRY(read_string(j, key, DLS_JSON_TEXT, &len, err));
    if (dls_json_peek(j) != ':') {
        return expected(j, "':'", err);
    }
    j->p++;
    return DLS_OK;
}

dls_status dls_json_string(dls_json *j, char text[DLS_JSON_TEXT], dls_error *err)
{
    skip_blanks(j);
    const char *start = j->p;
    size_t len;
    DLS_TRY(read_string(j, text, DLS_JSON_TEXT, &len, err));
    if (len >= DLS_JSON_TEXT) {
        j->p = start;
        return dls_json_fail(j, err, "a string of %zu bytes (at most %d)", len, DLS_JSON_TEXT - 1);
    }
    return DLS_OK;
}

/* Length of the number at p; 0 if there is none. */
static size_t number_len(const dls_json *j)
{
    const char *p = j->p;
    while (p < j->end && *p && strchr("+-.0123456789eE", *p)) {
        p++;
    }
    return (size_t)(p - j->p);
}

dls_status dls_json_parse_number(dls_json *j, const char *what, int scale, int64_t min, int64_t max,
                                 int64_t *out, dls_error *err)
{
    skip_blanks(j);
    const size_t len = number_len(j);
    const dls_decimal_result result = dls_decimal_parse(j->p, len, scale, out);
    if (result == DLS_DECIMAL_OVERFLOW || (result<DLS_DECIMAL_OVERFLOW && * out> max)) {
        return dls_json_fail(j, err, "'%.*s' is too large, expected %s", (int)(len < 60 ? len : 60),
                             j->p, what);
    }
    if (result >= DLS_DECIMAL_OVERFLOW) {
        return expected(j, what, err);
    }
    if (result == DLS_DECIMAL_ROUNDED && scale < 6) {
        return dls_json_fail(j, err, "'%.*s' has too many decimals (%d allowed), expected %s",
                             (int)(len < 60 ? len : 60), j->p, scale, what);
    }
    if (*out < min) {
        return dls_json_fail(j, err, "'%.*s' is %s, expected %s", (int)(len < 60 ? len : 60), j->p,
                             *out < 0 ? "negative" : "too small", what);
    }
    j->p += len;
    return DLS_OK;
}

static dls_status skip_scalar(dls_json *j, dls_error *err)
{
    static const char *const words[] = {"true", "false", "null"};
    const char c = dls_json_peek(j);
    if (c == '"') {
        size_t len;
        return read_string(j, NULL, 0, &len, err);
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t len = strlen(words[i]);
        if ((size_t)(j->end - j->p) >= len && memcmp(j->p, words[i], len) == 0) {
            j->p += len;
            return DLS_OK;
        }
    }
    const size_t len = number_len(j);
    int64_t value;
    if (dls_decimal_parse(j->p, len, 0, &value) >= DLS_DECIMAL_NAN) {
        return expected(j, "a value", err);
    }
    j->p += len;
    return DLS_OK;
}

dls_status dls_json_skip(dls_json *j, dls_error *err)
{
    const int outside = j->depth;
    bool is_object[DLS_JSON_MAX_DEPTH];
    do {
        const char c = dls_json_peek(j);
        if (c == '[' || c == '{') {
            DLS_TRY(dls_json_open(j, c, err));
            is_object[j->depth - 1] = c == '{';
        } else {
            DLS_TRY(skip_scalar(j, err));
        }
        bool more = false;
        while (j->depth > outside && !more) { /* to the next value inside, or out */
            char key[DLS_JSON_TEXT];
            DLS_TRY(is_object[j->depth - 1] ? dls_json_key(j, key, &more, err)
                                            : dls_json_item(j, &more, err));
        }
    } while (j->depth > outside);
    return DLS_OK;
}

dls_status dls_json_end(dls_json *j, dls_error *err)
{
    return dls_json_peek(j) == '\0' ? DLS_OK : expected(j, "the end of the file", err);
}

dls_status dls_json_add(dls_json *j, dls_trace_builder *b, const dls_job_rec *rec, dls_error *err)
{
    const dls_status status = dls_trace_builder_add(b, rec, NULL, err);
    if (status == DLS_EINPUT && err) {
        dls_file_where(j->src->path, j->src->text, (size_t)(j->p - j->src->text), err->where,
                       sizeof err->where);
    }
    return status;
}
