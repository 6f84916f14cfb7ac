/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Helpers that add members to json-c objects and print them; invalid UTF-8 bytes are written as
 * \xNN text.
 */
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

json_object *dls_json_number(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    return isfinite(value) ? json_object_new_double_s(value, text) : NULL;
}

/* Bytes of the UTF-8 sequence at s, 0: it is none (RFC 3629: no surrogates, nothing overlong). */
static size_t sequence(const unsigned char *s)
{
    static const struct {
        unsigned char first, last, low, high; /* of the first byte; of the second */
        size_t n;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (*s < forms[i].first || *s > forms[i].last) {
            continue;
        }
        for (size_t k = 1; k < forms[i].n; k++) {
            if (s[k] < (k == 1 ? forms[i].low : 0x80) || s[k] > (k == 1 ? forms[i].high : 0xbf)) {
                return 0;
            }
        }
        return forms[i].n;
    }
    return 0;
}

json_object *dls_json_utf8(const char *text)
{
    const size_t n = strlen(text);
    char *copy = dls_alloc(4 * n + 1), *p = copy;
    if (!copy) {
        return NULL;
    }
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const size_t len = sequence(s);
        if (len) {
            memcpy(p, s, len);
            p += len;
            s += len;
        } else {
            p += sprintf(p, "\\x%02x", *s++);
        }
    }
    json_object *obj = json_object_new_string_len(copy, (int)(p - copy));
    dls_free(copy);
    return obj;
}

static void add_member(json_object *to, const char *name, json_object *value)
{
    if (to) {
        json_object_object_add(to, name, value);
    } else {
        json_object_put(value);
    }
}

void dls_json_text(json_object *to, const char *name, const char *text)
{
    add_member(to, name, text ? dls_json_utf8(text) : NULL);
}

void dls_json_real(json_object *to, const char *name, double value)
{
    add_member(to, name, dls_json_number(value));
}

void dls_json_int(json_object *to, const char *name, int64_t value)
{
    add_member(to, name, json_object_new_int64(value));
}

void dls_json_bool(json_object *to, const char *name, bool value)
{
    add_member(to, name, json_object_new_boolean(value));
}

json_object *dls_json_object(json_object *to, const char *name)
{
    json_object *obj = to ? json_object_new_object() : NULL;
    add_member(to, name, obj);
    return obj;
}

json_object *dls_json_list(json_object *to, const char *name)
{
    json_object *list = to ? json_object_new_array() : NULL;
    add_member(to, name, list);
    return list;
}

json_object *dls_json_next(json_object *list)
{
    json_object *obj = list ? json_object_new_object() : NULL;
    if (obj) {
        json_object_array_add(list, obj);
    }
    return obj;
}

dls_status dls_json_print(FILE *out, json_object *obj, dls_error *err)
{
    const char *text = obj ? json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PRETTY |
                                                                     JSON_C_TO_STRING_SPACED |
                                                                     JSON_C_TO_STRING_NOSLASHESCAPE)
                           : NULL;
    dls_status status = DLS_OK;
    if (!text) {
        status = dls_nomem(err, "JSON", 0);
    } else if (fputs(text, out) == EOF || fputc('\n', out) == EOF) {
        status = dls_fail(err, DLS_EOUTPUT, NULL, "JSON: %s", strerror(errno));
    }
    json_object_put(obj);
    return status;
}
