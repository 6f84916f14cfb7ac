/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The text form by recursive descent. Which fields there are comes from the message's descriptor,
 * so that nothing here knows of graphs.
 */
#include "base/alloc.h"
#include "workload/graph/pb.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 128

typedef struct parser {
    const char *name, *begin, *at, *end;
    dls_arena *arena;
    int depth;
    dls_error *err;
} parser;

static dls_status fail(const parser *p, const char *what)
{
    size_t line = 1;
    const char *start = p->begin;
    for (const char *c = p->begin; c < p->at; c++) {
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    }
    char where[sizeof p->err->where];
    snprintf(where, sizeof where, "%s:%zu:%zu", p->name, line, (size_t)(p->at - start) + 1);
    return dls_fail(p->err, DLS_EINPUT, where, "%s", what);
}

static dls_status nomem(const parser *p)
{
    return dls_nomem(p->err, "graph file", (size_t)(p->end - p->begin));
}

static int peek(const parser *p)
{
    return p->at < p->end ? (unsigned char)*p->at : EOF;
}

static void skip_blank(parser *p)
{
    for (int c; (c = peek(p)) != EOF; p->at++) {
        if (c == '#') {
            const char *line = memchr(p->at, '\n', (size_t)(p->end - p->at));
            p->at = line ? line : p->end - 1;
        } else if (!isspace(c)) {
            return;
        }
    }
}

/* One character, behind blanks. */
static bool accept(parser *p, int c)
{
    skip_blank(p);
    if (peek(p) != c) {
        return false;
    }
    p->at++;
    return true;
}

static bool is_word(int c)
{
    return isalnum(c) || c == '_' || c == '.' || c == '+' || c == '-';
}

/* A name or a number. */
static dls_status word(parser *p, char *text)
{
    size_t n = 0;
    skip_blank(p);
    for (; is_word(peek(p)); p->at++) {
        if (n == WORD_MAX - 1) {
            return fail(p, "a name or number is too long");
        }
        text[n++] = *p->at;
    }
    text[n] = '\0';
    return n ? DLS_OK : fail(p, p->at < p->end ? "a name or value is expected" : "truncated");
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Behind an opening quote: to behind the closing one. */
static dls_status skip_string(parser *p, char quote)
{
    for (; p->at < p->end && *p->at != '\n'; p->at++) {
        if (*p->at == quote) {
            p->at++;
            return DLS_OK;
        }
        if (*p->at == '\\' && p->at + 1 < p->end) {
            p->at++;
        }
    }
    return fail(p, "a string has no end");
}

static int digit(int c)
{
    return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : 99;
}

/* At most n_max digits of a base; what begins with none is 0. */
static unsigned number(const char **at, const char *end, int base, int n_max)
{
    unsigned value = 0;
    for (int n = 0; n < n_max && *at < end && digit((unsigned char)**at) < base; n++, (*at)++) {
        value = value * (unsigned)base + (unsigned)digit((unsigned char)**at);
    }
    return value;
}

static char *put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | (c >> 18 & 7));
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* Behind a backslash. An escape is never shorter than what it stands for. */
static char *escape(const char **at, const char *end, char *to)
{
    static const char from[] = "abfnrtv", into[] = "\a\b\f\n\r\t\v";
    const char c = *(*at)++;
    const char *plain = c ? strchr(from, c) : NULL;
    if (plain) {
        *to++ = into[plain - from];
    } else if (c >= '0' && c <= '7') {
        (*at)--;
        *to++ = (char)number(at, end, 8, 3);
    } else if (c == 'x' || c == 'X') {
        *to++ = (char)number(at, end, 16, 2);
    } else if (c == 'u' || c == 'U') {
        to = put_utf8(to, number(at, end, 16, c == 'u' ? 4 : 8));
    } else {
        *to++ = c;
    }
    return to;
}

/* One or more strings side by side, joined. */
static dls_status string(parser *p, char **out, size_t *n)
{
    const char *first = p->at;
    const char *last = p->at;
    for (int quote; (quote = peek(p)) == '"' || quote == '\'';) {
        p->at++;
        DLS_TRY(skip_string(p, (char)quote));
        last = p->at;
        skip_blank(p);
    }
    char *text = dls_arena_alloc(p->arena, (size_t)(last - first) + 1);
    if (!text) {
        return nomem(p);
    }
    char *to = text;
    for (const char *at = first; at < last;) {
        const char quote = *at++;
        if (quote != '"' && quote != '\'') { /* between two strings */
            if (quote == '#') {
                at = memchr(at, '\n', (size_t)(last - at));
            }
            continue;
        }
        while (*at != quote) {
            if (*at == '\\') {
                at++;
                to = escape(&at, last, to);
            } else {
                *to++ = *at++;
            }
        }
        at++;
    }
    *out = text;
    *n = (size_t)(to - text);
    return DLS_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static dls_status integer(parser *p, int64_t min, int64_t max, int64_t *out)
{
    char text[WORD_MAX];
    char *end;
    DLS_TRY(word(p, text));
    errno = 0;
    const long long value = strtoll(text, &end, 0);
    if (*end || errno || value < min || value > max) {
        return fail(p, "not an integer, or one that is too large");
    }
    *out = value;
    return DLS_OK;
}

static dls_status real(parser *p, float *out)
{
    char text[WORD_MAX];
    char *end;
    DLS_TRY(word(p, text));
    *out = strtof(text, &end);
    end += *end == 'f' || *end == 'F';
    return *end ? fail(p, "not a number") : DLS_OK;
}

static dls_status boolean(parser *p, protobuf_c_boolean *out)
{
    char text[WORD_MAX];
    DLS_TRY(word(p, text));
    *out = strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "t") == 0 ||
           strcmp(text, "1") == 0;
    return *out || strcmp(text, "false") == 0 || strcmp(text, "False") == 0 ||
                   strcmp(text, "f") == 0 || strcmp(text, "0") == 0
               ? DLS_OK
               : fail(p, "neither true nor false");
}

/* By name or by number; a name of a later version than ours counts as 0. */
static dls_status enumeration(parser *p, const ProtobufCEnumDescriptor *type, int *out)
{
    char text[WORD_MAX];
    skip_blank(p);
    if (isdigit(peek(p)) || peek(p) == '-') {
        int64_t value = 0;
        DLS_TRY(integer(p, INT32_MIN, INT32_MAX, &value));
        *out = (int)value;
        return DLS_OK;
    }
    DLS_TRY(word(p, text));
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value_by_name(type, text);
    *out = value ? value->value : 0;
    return DLS_OK;
}

static dls_status message(parser *p, const ProtobufCMessageDescriptor *type, ProtobufCMessage *m,
                          char close);

/* In braces or angle brackets; m NULL: skipped. */
static dls_status nested(parser *p, const ProtobufCMessageDescriptor *type, ProtobufCMessage *m)
{
    const char close = accept(p, '{') ? '}' : accept(p, '<') ? '>' : '\0';
    if (!close) {
        return fail(p, "'{' is expected");
    }
    if (p->depth == DLS_PB_DEPTH_MAX) {
        return fail(p, "messages are nested too deeply");
    }
    p->depth++;
    DLS_TRY(message(p, type, m, close));
    p->depth--;
    return DLS_OK;
}

/* A value of a field that the type does not have. */
static dls_status skip_value(parser *p)
{
    skip_blank(p);
    const int c = peek(p);
    if (c == '{' || c == '<') {
        return nested(p, NULL, NULL);
    }
    if (c == '"' || c == '\'') {
        while (peek(p) == '"' || peek(p) == '\'') {
            const char quote = *p->at++;
            DLS_TRY(skip_string(p, quote));
            skip_blank(p);
        }
        return DLS_OK;
    }
    char text[WORD_MAX];
    return word(p, text);
}

static dls_status value(parser *p, const ProtobufCFieldDescriptor *field, void *to)
{
    int64_t number = 0;
    char *text = NULL;
    size_t n = 0;
    skip_blank(p);
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
        DLS_TRY(integer(p, INT32_MIN, INT32_MAX, &number));
        *(int32_t *)to = (int32_t)number;
        return DLS_OK;
    case PROTOBUF_C_TYPE_INT64:
        return integer(p, INT64_MIN, INT64_MAX, (int64_t *)to);
    case PROTOBUF_C_TYPE_FLOAT:
        return real(p, to);
    case PROTOBUF_C_TYPE_BOOL:
        return boolean(p, to);
    case PROTOBUF_C_TYPE_ENUM:
        return enumeration(p, field->descriptor, to);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        if (peek(p) != '"' && peek(p) != '\'') {
            return fail(p, "a string is expected");
        }
        DLS_TRY(string(p, &text, &n));
        if (field->type == PROTOBUF_C_TYPE_STRING) {
            *(char **)to = text;
        } else {
            *(ProtobufCBinaryData *)to = (ProtobufCBinaryData){n, (uint8_t *)text};
        }
        return DLS_OK;
    case PROTOBUF_C_TYPE_MESSAGE: {
        const ProtobufCMessageDescriptor *type = field->descriptor;
        ProtobufCMessage *m = dls_arena_alloc(p->arena, type->sizeof_message);
        if (!m) {
            return nomem(p);
        }
        protobuf_c_message_init(type, m);
        *(ProtobufCMessage **)to = m;
        return nested(p, type, m);
    }
    default:
        return fail(p, "a value of this type cannot be read");
    }
}

static size_t size_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
        return sizeof(int64_t);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        return 4; /* int32, float, bool, enum */
    }
}

/* Room for one more element of a repeated field: its array doubles whenever it has 2^k. */
static dls_status element(parser *p, const ProtobufCFieldDescriptor *field, ProtobufCMessage *m,
                          void **to)
{
    size_t *n = (size_t *)(void *)((char *)m + field->quantifier_offset);
    char **array = (char **)(void *)((char *)m + field->offset);
    const size_t size = size_of(field);
    if ((*n & (*n - 1)) == 0) {
        char *grown = dls_arena_alloc(p->arena, (*n ? 2 * *n : 1) * size);
        if (!grown) {
            return nomem(p);
        }
        if (*n) {
            memcpy(grown, *array, *n * size);
        }
        *array = grown;
    }
    *to = *array + (*n)++ * size;
    return DLS_OK;
}

static dls_status field_value(parser *p, const ProtobufCFieldDescriptor *field, ProtobufCMessage *m)
{
    void *to = (char *)m + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        DLS_TRY(element(p, field, m, &to));
    } else if (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_MESSAGE) {
        *(protobuf_c_boolean *)(void *)((char *)m + field->quantifier_offset) = 1;
    }
    return value(p, field, to);
}

/* [a, b, c] */
static dls_status list(parser *p, const ProtobufCFieldDescriptor *field, ProtobufCMessage *m)
{
    if (field && field->label != PROTOBUF_C_LABEL_REPEATED) {
        return fail(p, "a list for a field that takes one value");
    }
    if (accept(p, ']')) {
        return DLS_OK;
    }
    do {
        DLS_TRY(field ? field_value(p, field, m) : skip_value(p));
    } while (accept(p, ','));
    return accept(p, ']') ? DLS_OK : fail(p, "']' is expected");
}

static dls_status one_field(parser *p, const ProtobufCMessageDescriptor *type, ProtobufCMessage *m)
{
    char name[WORD_MAX];
    const ProtobufCFieldDescriptor *field = NULL;
    if (accept(p, '[')) { /* an extension, or a type's address */
        const char *close = memchr(p->at, ']', (size_t)(p->end - p->at));
        if (!close) {
            return fail(p, "']' is expected");
        }
        p->at = close + 1;
    } else {
        DLS_TRY(word(p, name));
        field = type ? protobuf_c_message_descriptor_get_field_by_name(type, name) : NULL;
    }
    const bool colon = accept(p, ':');
    skip_blank(p);
    if (!colon && peek(p) != '{' && peek(p) != '<') {
        return fail(p, p->at < p->end ? "':' is expected" : "truncated");
    }
    if (accept(p, '[')) {
        return list(p, field, m);
    }
    return field ? field_value(p, field, m) : skip_value(p);
}

static dls_status message(parser *p, const ProtobufCMessageDescriptor *type, ProtobufCMessage *m,
                          char close)
{
    for (;;) {
        skip_blank(p);
        const int c = peek(p);
        if (c == EOF) {
            return close ? fail(p, "truncated: a message has no end") : DLS_OK;
        }
        if (close && accept(p, close)) {
            return DLS_OK;
        }
        DLS_TRY(one_field(p, type, m));
        if (!accept(p, ',')) {
            (void)accept(p, ';');
        }
    }
}

dls_status dls_pb_parse_text(const char *name, const char *text, size_t size,
                             const ProtobufCMessageDescriptor *type, dls_arena *arena,
                             ProtobufCMessage **out, dls_error *err)
{
    dls_error unused;
    parser p = {.name = name,
                .begin = text,
                .at = text,
                .end = text + size,
                .arena = arena,
                .err = err ? err : &unused};
    *out = dls_arena_alloc(arena, type->sizeof_message);
    if (!*out) {
        return nomem(&p);
    }
    protobuf_c_message_init(type, *out);
    return message(&p, type, *out, '\0');
}
