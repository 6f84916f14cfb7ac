/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Exact decimal parser: accumulates digits in an integer, so nothing passes through floating point;
 * reports overflow, and digits beyond the scale, which are rounded.
 */
#include "base/decimal.h"

#include "base/assert.h"

#include <stdbool.h>
#include <strings.h>

#define EXPONENT_MAX 100000

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_not_finite(const char *s, size_t len)
{
    return (len == 3 && (strncasecmp(s, "nan", 3) == 0 || strncasecmp(s, "inf", 3) == 0)) ||
           (len == 8 && strncasecmp(s, "infinity", 8) == 0);
}

/* The exponent behind 'e', at s..end; false unless it is [+-]digits up to the end. */
static bool parse_exponent(const char *s, const char *end, int *exponent)
{
    bool minus = false;
    if (s < end && (*s == '+' || *s == '-')) {
        minus = *s++ == '-';
    }
    if (s == end) {
        return false;
    }
    int e = 0;
    for (; s < end; s++) {
        if (!is_digit(*s)) {
            return false;
        }
        e = e < EXPONENT_MAX ? e * 10 + (*s - '0') : EXPONENT_MAX;
    }
    *exponent = minus ? -e : e;
    return true;
}

dls_decimal_result dls_decimal_parse(const char *s, size_t len, int scale, int64_t *out)
{
    DLS_DEBUG_ASSERT(scale >= 0 && scale <= 18);
    const char *end = s + len;
    bool minus = false;
    if (s < end && (*s == '+' || *s == '-')) {
        minus = *s++ == '-';
    }
    const char *whole = s;
    while (s < end && is_digit(*s)) {
        s++;
    }
    const char *whole_end = s;
    const char *fraction = s, *fraction_end = s;
    if (s < end && *s == '.') {
        fraction = ++s;
        while (s < end && is_digit(*s)) {
            s++;
        }
        fraction_end = s;
    }
    const ptrdiff_t n_whole = whole_end - whole, n_fraction = fraction_end - fraction;
    if (n_whole + n_fraction == 0) {
        return is_not_finite(whole, (size_t)(end - whole)) ? DLS_DECIMAL_NAN : DLS_DECIMAL_BAD;
    }
    int exponent = 0;
    if (s < end && ((*s != 'e' && *s != 'E') || !parse_exponent(s + 1, end, &exponent))) {
        return DLS_DECIMAL_BAD;
    }
    /* The digits are D = whole fraction; the result takes the first `keep` of them, zeros behind
     * the last, and the digit after decides the rounding. */
    const ptrdiff_t n_digits = n_whole + n_fraction;
    const ptrdiff_t keep = n_whole + exponent + scale;
    int64_t value = 0;
    for (ptrdiff_t i = 0; i < keep; i++) {
        if (i >= n_digits && value == 0) {
            break;
        }
        const int d = i < n_whole ? whole[i] - '0' : i < n_digits ? fraction[i - n_whole] - '0' : 0;
        if (value > (INT64_MAX - d) / 10) {
            return DLS_DECIMAL_OVERFLOW;
        }
        value = value * 10 + d;
    }
    bool exact = true;
    for (ptrdiff_t i = keep < 0 ? 0 : keep; i < n_digits; i++) {
        const int d = i < n_whole ? whole[i] - '0' : fraction[i - n_whole] - '0';
        exact = exact && d == 0;
        if (i == keep && d >= 5) {
            if (value == INT64_MAX) {
                return DLS_DECIMAL_OVERFLOW;
            }
            value++;
        }
    }
    *out = minus ? -value : value;
    return exact ? DLS_DECIMAL_EXACT : DLS_DECIMAL_ROUNDED;
}
