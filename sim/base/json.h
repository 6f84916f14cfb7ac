/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON that is written, made with json-c. Objects are owned by the caller (json_object_put) until
 * they are added to another. The functions that add do nothing to NULL, so an allocation that
 * failed shows in dls_json_print or is a member that is missing.
 */
#ifndef DLS_BASE_JSON_H
#define DLS_BASE_JSON_H

#include "base/own.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

DLS_OWNER(json_object, json_object_put)

/* A number with 15 significant digits; NULL, which is JSON's null, for one that is not
 * finite: JSON has none. */
json_object *dls_json_number(double value);
/* A string. What is not UTF-8, as names of files may be, becomes "\xff" byte by byte. */
json_object *dls_json_utf8(const char *text);

/* Members of an object; text NULL: null. */
void dls_json_text(json_object *to, const char *name, const char *text);
void dls_json_real(json_object *to, const char *name, double value);
void dls_json_int(json_object *to, const char *name, int64_t value);
void dls_json_bool(json_object *to, const char *name, bool value);
/* Up to ten members of an object at once, each as the type of its value has it (a
 * comparison is an int):
 *
 *      DLS_JSON(dls_json_next(list), "name", g->name, "jobs", g->n, "mean_s", g->mean_s);
 */
#define DLS_JSON(to, ...)                                                                          \
    do {                                                                                           \
        json_object *const to_ = (to);                                                             \
        DLS_JSON_OF(__VA_ARGS__, 10, , 9, , 8, , 7, , 6, , 5, , 4, , 3, , 2, , 1, )(__VA_ARGS__)   \
    } while (0)
#define DLS_JSON_OF(a, A, b, B, c, C, d, D, e, E, f, F, g, G, h, H, i, I, j, J, n, ...)            \
    DLS_JSON_##n
#define DLS_JSON_1(name, value)                                                                    \
    _Generic((value), bool: dls_json_bool, double: dls_json_real, char *: dls_json_text,           \
             const char *: dls_json_text, default: dls_json_int)(to_, name, value);
#define DLS_JSON_2(name, value, ...) DLS_JSON_1(name, value) DLS_JSON_1(__VA_ARGS__)
#define DLS_JSON_3(name, value, ...) DLS_JSON_1(name, value) DLS_JSON_2(__VA_ARGS__)
#define DLS_JSON_4(name, value, ...) DLS_JSON_1(name, value) DLS_JSON_3(__VA_ARGS__)
#define DLS_JSON_5(name, value, ...) DLS_JSON_1(name, value) DLS_JSON_4(__VA_ARGS__)
#define DLS_JSON_6(name, value, ...) DLS_JSON_1(name, value) DLS_JSON_5(__VA_ARGS__)
#define DLS_JSON_7(name, value, ...) DLS_JSON_1(name, value) DLS_JSON_6(__VA_ARGS__)
#define DLS_JSON_8(name, value, ...) DLS_JSON_1(name, value) DLS_JSON_7(__VA_ARGS__)
#define DLS_JSON_9(name, value, ...) DLS_JSON_1(name, value) DLS_JSON_8(__VA_ARGS__)
#define DLS_JSON_10(name, value, ...) DLS_JSON_1(name, value) DLS_JSON_9(__VA_ARGS__)
/* A new object, a new list; they belong to `to`. */
json_object *dls_json_object(json_object *to, const char *name);
json_object *dls_json_list(json_object *to, const char *name);
/* A new object at the end of a list. */
json_object *dls_json_next(json_object *list);

/* Print with a line break behind it, and release. Errors: EOUTPUT, and ENOMEM if obj is NULL. */
dls_status dls_json_print(FILE *out, json_object *obj, dls_error *err) DLS_MUST_CHECK;

#endif
