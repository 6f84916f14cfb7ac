/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values of options and keys: from text and a row of a table (dls_option), back to text, and what a
 * row says of itself.
 *
 * Text is written as in a config: true, 60, 0.5, 3250,7200, 62 s, text.
 */
#ifndef DLS_BASE_OPTIONS_H
#define DLS_BASE_OPTIONS_H

#include "base/units.h"
#include "dlsim/policy.h"

#include <stddef.h>
#include <stdio.h>

struct json_object;

/* How many rows a table has before its end; NULL has none. */
size_t dls_options_count(const dls_option *options);
/* NULL if there is none of this name. */
const dls_option *dls_options_find(const dls_option *options, const char *name);

/* s borrows text. Errors (ECONFIG): what was expected instead, with range or choices, to stand
 * behind the option's name; *out is then as it was. */
dls_status dls_option_parse(const dls_option *option, const char *text, dls_option_value *out,
                            dls_error *err) DLS_MUST_CHECK;
/* The value as libconfig text, which reads back to the same. */
void dls_option_put(FILE *out, const dls_option *option, const dls_option_value *value);
/* text as a libconfig string, quotes included. */
void dls_option_put_text(FILE *out, const char *text);

/* A new array, one value per row of the table, all defaults; at least one element. Freed by
 * dls_free. */
dls_status dls_options_defaults(const dls_option *options, dls_option_value **out,
                                dls_error *err) DLS_MUST_CHECK;
/* A table as a plug-in may bring it: names, ranges, defaults that parse. Errors: EINPUT. */
dls_status dls_options_check(const dls_option *options, dls_error *err) DLS_MUST_CHECK;

/* Whether values of the type carry a unit, and of what. */
bool dls_option_quantity(dls_option_type type, dls_quantity *out);
/* "integer 1..64", "number, at least 0", "true or false", "one of a|b|c": what the option takes.
 * Returns buf. */
const char *dls_option_domain(const dls_option *option, char *buf, size_t n);
/* All that the row says; name stands for the option's own. */
void dls_option_json(struct json_object *to, const char *name, const dls_option *option);

#endif
