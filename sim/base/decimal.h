/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Decimal text to scaled integers, exactly: "17.5" at scale 6 is 17500000. Nothing passes through
 * binary floating point, so no digit of a file is lost.
 */
#ifndef DLS_BASE_DECIMAL_H
#define DLS_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

typedef enum dls_decimal_result {
    DLS_DECIMAL_EXACT,
    DLS_DECIMAL_ROUNDED,  /* more digits than the scale keeps: rounded, half away from zero */
    DLS_DECIMAL_OVERFLOW, /* magnitude above 2^63-1 */
    DLS_DECIMAL_NAN,      /* "nan", "inf", "infinity" in any case, with or without a sign */
    DLS_DECIMAL_BAD       /* no number */
} dls_decimal_result;

/* *out = s * 10^scale; s is [+-]digits[.digits][e[+-]digits], nothing before or behind it. *out is
 * set only for EXACT and ROUNDED. O(len). */
dls_decimal_result dls_decimal_parse(const char *s, size_t len, int scale, int64_t *out);

#endif
