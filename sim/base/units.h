/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Quantities with units, as people write them: "62 s", "7d", "80 GiB", "100 Gb/s", "15.7 TFLOP/s".
 *
 * A quantity is a decimal number, blanks, and a unit; one number, one unit. Time alone may go
 * without a unit and is then in seconds; zero needs none. Prefixes: k M G T P are powers of 1000,
 * Ki Mi Gi Ti Pi powers of 1024; "b" is a bit and "B" a byte. Time units: us ms s min h d w (also
 * sec, hour(s), day(s), minute(s), week(s)); "never" is an infinite time.
 */
#ifndef DLS_BASE_UNITS_H
#define DLS_BASE_UNITS_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum dls_quantity {
    DLS_QUANTITY_TIME,  /* base unit: second */
    DLS_QUANTITY_BYTES, /* byte */
    DLS_QUANTITY_RATE,  /* byte per second */
    DLS_QUANTITY_FLOPS  /* floating-point operation per second */
} dls_quantity;

/* Text to the base unit. Errors (ECONFIG): what was expected instead. */
dls_status dls_units_parse(const char *text, dls_quantity kind, double *value,
                           dls_error *err) DLS_MUST_CHECK;

/* Shortest text in a unit that suits the kind and reads back to the same value. Returns buf. */
const char *dls_units_format(double value, dls_quantity kind, char *buf, size_t n);

/* Shortest decimal that reads back to the same double. Returns buf. */
const char *dls_units_number(double value, char *buf, size_t n);

/* A number and nothing else (blanks around it allowed); decimal, finite. */
bool dls_units_f64(const char *text, double *out);
/* The same for a whole number; false beyond int64_t, too. */
bool dls_units_i64(const char *text, int64_t *out);

/* Seconds to microseconds: infinity becomes INT64_MAX (DLS_NEVER), the rest is rounded. */
int64_t dls_units_us(double seconds);

#endif
