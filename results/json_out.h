/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON of results, built with base/json.h.
 */
#ifndef DLS_RESULTS_JSON_OUT_H
#define DLS_RESULTS_JSON_OUT_H

#include "base/json.h"
#include "results/schema.h"

/* Members of an object: a summary's fields, its digests, and "parts", a list. */
void dls_json_summary(json_object *to, const dls_summary *s);

#endif
