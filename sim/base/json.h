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
/* A new object, a new list; they belong to `to`. */
json_object *dls_json_object(json_object *to, const char *name);
json_object *dls_json_list(json_object *to, const char *name);
/* A new object at the end of a list. */
json_object *dls_json_next(json_object *list);

/* Print with a line break behind it, and release. Errors: EOUTPUT, and ENOMEM if obj is NULL. */
dls_status dls_json_print(FILE *out, json_object *obj, dls_error *err) DLS_MUST_CHECK;

#endif
