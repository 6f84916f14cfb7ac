/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON of results, built with json-c. Objects are owned by the caller (json_object_put) until they
 * are added to another.
 */
#ifndef DLS_RESULTS_JSON_OUT_H
#define DLS_RESULTS_JSON_OUT_H

#include "base/json.h"
#include "results/schema.h"

/* Add the fields of a struct to an object. */
void dls_json_add_fields(json_object *to, const dls_field *fields, size_t n, const void *base);
/* A summary as an object: its fields, the digest, and "parts", a list. */
json_object *dls_json_summary(const dls_summary *s);

#endif
