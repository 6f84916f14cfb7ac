/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Option values of a policy, from text and the policy's own table (dls_option).
 *
 * Text is written as in a config: true, 60, 0.5, 3250,7200, text. A number whose unit is "s" may
 * also be a time with a unit ("90 s", "5 min").
 */
#ifndef DLS_ENGINE_OPTIONS_H
#define DLS_ENGINE_OPTIONS_H

#include "dlsim/policy.h"

#include <stddef.h>

/* How many rows a table has before its end; NULL has none. */
size_t dls_options_count(const dls_option *options);
/* NULL if there is none of this name. */
const dls_option *dls_options_find(const dls_option *options, const char *name);

/* STR values borrow text. Errors (ECONFIG): what was expected instead, with range or choices. */
dls_status dls_option_parse(const dls_option *option, const char *text, dls_option_value *out,
                            dls_error *err) DLS_MUST_CHECK;
/* A new array, one value per row of the table, all defaults; at least one element. Freed by
 * dls_free. */
dls_status dls_options_defaults(const dls_option *options, dls_option_value **out,
                                dls_error *err) DLS_MUST_CHECK;
/* A table as a plug-in may bring it: names, ranges, defaults that parse. Errors: EINPUT. */
dls_status dls_options_check(const dls_option *options, dls_error *err) DLS_MUST_CHECK;

/* "integer 1..64", "number, at least 0", "true or false", "one of a|b|c": what the option takes.
 * Returns buf. */
const char *dls_option_domain(const dls_option *option, char *buf, size_t n);
/* "bool", "integer", "number", "string", "list of numbers" */
const char *dls_option_type_name(dls_option_type type);

#endif
