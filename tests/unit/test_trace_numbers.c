/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Decimals and dates of traces.
 */
#include "trace_util.h"

#include "base/rng.h"
#include "traces/date.h"
#include "base/decimal.h"

#include <inttypes.h>

TEST(decimals)
{
    static const struct {
        const char *text;
        int scale;
        dls_decimal_result result;
        int64_t value;
    } cases[] = {
        {"0", 6, DLS_DECIMAL_EXACT, 0},
        {"66.0", 0, DLS_DECIMAL_EXACT, 66},
        {"66.5", 0, DLS_DECIMAL_ROUNDED, 67},
        {"66.5", 6, DLS_DECIMAL_EXACT, 66500000},
        {".5", 1, DLS_DECIMAL_EXACT, 5},
        {"5.", 1, DLS_DECIMAL_EXACT, 50},
        {"-1.000000", 6, DLS_DECIMAL_EXACT, -1000000},
        {"+7", 0, DLS_DECIMAL_EXACT, 7},
        {"0.1000005", 6, DLS_DECIMAL_ROUNDED, 100001},
        {"0.1000004999", 6, DLS_DECIMAL_ROUNDED, 100000},
        {"0.0000005", 6, DLS_DECIMAL_ROUNDED, 1},
        {"0.0000004", 6, DLS_DECIMAL_ROUNDED, 0},
        {"0.00000004", 6, DLS_DECIMAL_ROUNDED, 0},
        {"-0.0000005", 6, DLS_DECIMAL_ROUNDED, -1},
        {"17.513333333333335", 6, DLS_DECIMAL_ROUNDED, 17513333},
        {"4.6282e+06", 0, DLS_DECIMAL_EXACT, 4628200},
        {"1e3", 3, DLS_DECIMAL_EXACT, 1000000},
        {"12E-1", 1, DLS_DECIMAL_EXACT, 12},
        {"1e-7", 6, DLS_DECIMAL_ROUNDED, 0},
        {"0e999999999999", 6, DLS_DECIMAL_EXACT, 0},
        {"000000000000000000000000000007", 0, DLS_DECIMAL_EXACT, 7},
        {"2147483648", 0, DLS_DECIMAL_EXACT, INT64_C(2147483648)},
        {"9223372036854775807", 0, DLS_DECIMAL_EXACT, INT64_MAX},
        {"-9223372036854775807", 0, DLS_DECIMAL_EXACT, -INT64_MAX},
        {"9007199254740993", 0, DLS_DECIMAL_EXACT, INT64_C(9007199254740993)}, /* not a double */
        {"9223372036854775808", 0, DLS_DECIMAL_OVERFLOW, 0},
        {"9223372036854775807.5", 0, DLS_DECIMAL_OVERFLOW, 0},
        {"9223372036855", 6, DLS_DECIMAL_OVERFLOW, 0},
        {"1e19", 0, DLS_DECIMAL_OVERFLOW, 0},
        {"1e99999999999999999999", 0, DLS_DECIMAL_OVERFLOW, 0},
        {"nan", 0, DLS_DECIMAL_NAN, 0},
        {"-NaN", 0, DLS_DECIMAL_NAN, 0},
        {"inf", 0, DLS_DECIMAL_NAN, 0},
        {"Infinity", 0, DLS_DECIMAL_NAN, 0},
        {"", 0, DLS_DECIMAL_BAD, 0},
        {".", 0, DLS_DECIMAL_BAD, 0},
        {"-", 0, DLS_DECIMAL_BAD, 0},
        {"+-1", 0, DLS_DECIMAL_BAD, 0},
        {"1e", 0, DLS_DECIMAL_BAD, 0},
        {"1e+", 0, DLS_DECIMAL_BAD, 0},
        {"0x10", 0, DLS_DECIMAL_BAD, 0},
        {"1 2", 0, DLS_DECIMAL_BAD, 0},
        {"1,5", 0, DLS_DECIMAL_BAD, 0},
        {"seven", 0, DLS_DECIMAL_BAD, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = 0;
        const dls_decimal_result result =
            dls_decimal_parse(cases[i].text, strlen(cases[i].text), cases[i].scale, &value);
        if (result != cases[i].result || value != cases[i].value) {
            fail_msg("'%s' at scale %d: result %d value %" PRId64, cases[i].text, cases[i].scale,
                     (int)result, value);
        }
    }
}

/* Every 64-bit integer survives being written with a decimal point anywhere. */
TEST(decimals_round_trip)
{
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, 0);
    for (int i = 0; i < 20000; i++) {
        const int64_t value = (int64_t)(dls_rng_u64(&rng) >> (1 + dls_rng_below(&rng, 63)));
        const int scale = (int)dls_rng_below(&rng, 10);
        char digits[32], text[40];
        const int n = snprintf(digits, sizeof digits, "%0*" PRId64, scale + 1, value);
        snprintf(text, sizeof text, "%.*s.%s", n - scale, digits, digits + n - scale);
        int64_t back = -1;
        assert_int_equal(dls_decimal_parse(text, strlen(text), scale, &back), DLS_DECIMAL_EXACT);
        assert_true(back == value);
    }
}

TEST(dates)
{
    static const struct {
        const char *text;
        int64_t seconds; /* -1: refused */
    } cases[] = {
        {"1970-01-01 00:00:00", 0},
        {"2000-02-29 12:34:56", 951827696},
        {"2017-10-09 07:01:55", 1507532515},
        {"2017-10-09T07:01:55Z", 1507532515},
        {"2023-04-02 09:00:00+08:00", 1680397200},
        {"2023-04-02 01:00:00+00:00", 1680397200},
        {"2023-04-01 20:30:00-04:30", 1680397200},
        {"2100-03-01 00:00:00", 4107542400},
        {"2100-02-29 00:00:00", -1}, /* no leap year */
        {"1969-12-31 23:59:59", -1},
        {"1970-01-01 00:00:00+01:00", -1},
        {"2017-13-01 00:00:00", -1},
        {"2017-00-01 00:00:00", -1},
        {"2017-04-31 00:00:00", -1},
        {"2017-04-30 24:00:00", -1},
        {"2017-04-30 00:60:00", -1},
        {"2017-4-30 00:00:00", -1},
        {"2017-04-30", -1},
        {"2017-04-30 00:00:00 PST", -1},
        {"2017-04-30 00:00:00+8:00", -1},
        {"None", -1},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t us = 0;
        const bool good = dls_date_parse(cases[i].text, strlen(cases[i].text), &us);
        if (good != (cases[i].seconds >= 0) || (good && us != cases[i].seconds * DLS_US_PER_S)) {
            fail_msg("'%s' gives %" PRId64 " us", cases[i].text, us);
        }
    }
}

/* Writing a date and reading it is the identity, over eight centuries. */
TEST(dates_round_trip)
{
    for (int64_t s = 0; s < INT64_C(25000000000); s += INT64_C(7654321)) {
        char text[32];
        int64_t us = -1;
        dls_date_format(s * DLS_US_PER_S + 999999, text);
        assert_true(dls_date_parse(text, strlen(text), &us));
        assert_true(us == s * DLS_US_PER_S);
    }
}
