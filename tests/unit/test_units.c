/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Quantities with units: parsing, refusals, and printing that parses back.
 */

#include "base/units.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static double value(const char *text, dls_quantity kind)
{
    double v = (double)NAN;
    dls_error err = {0};
    if (dls_units_parse(text, kind, &v, &err) != DLS_OK) {
        fail_msg("\"%s\": %s", text, err.msg);
    }
    return v;
}

static void assert_same(double a, double b)
{
    if (a < b || a > b) {
        fail_msg("%.17g is not %.17g", a, b);
    }
}

TEST(good_quantities)
{
    assert_same(value("62 s", DLS_QUANTITY_TIME), 62);
    assert_same(value("62", DLS_QUANTITY_TIME), 62);
    assert_same(value("7d", DLS_QUANTITY_TIME), 604800);
    assert_same(value(" 1.5 h ", DLS_QUANTITY_TIME), 5400);
    assert_same(value("2 weeks", DLS_QUANTITY_TIME), 1209600);
    assert_same(value("0.5 ms", DLS_QUANTITY_TIME), 0.0005);
    assert_same(value("-3 min", DLS_QUANTITY_TIME), -180);
    assert_true(isinf(value("never", DLS_QUANTITY_TIME)));
    assert_same(value("80 GiB", DLS_QUANTITY_BYTES), 80.0 * 1073741824.0);
    assert_same(value("376 GB", DLS_QUANTITY_BYTES), 376e9);
    assert_same(value("0", DLS_QUANTITY_BYTES), 0);
    assert_same(value("100 Gb/s", DLS_QUANTITY_RATE), 12.5e9);
    assert_same(value("12.5 GB/s", DLS_QUANTITY_RATE), 12.5e9);
    assert_same(value("100Gbps", DLS_QUANTITY_RATE), 12.5e9);
    assert_same(value("15.7 TFLOP/s", DLS_QUANTITY_FLOPS), 15.7e12);
}

TEST(bad_quantities)
{
    static const struct {
        const char *text;
        dls_quantity kind;
        const char *says;
    } bad[] = {
        {"", DLS_QUANTITY_TIME, "is not a time"},
        {"soon", DLS_QUANTITY_TIME, "not a time"},
        {"5 fortnights", DLS_QUANTITY_TIME, "unit"},
        {"nan", DLS_QUANTITY_TIME, "not a time"},
        {"inf", DLS_QUANTITY_TIME, "not a time"},
        {"0x10 s", DLS_QUANTITY_TIME, "not a time"},
        {"1e999 s", DLS_QUANTITY_TIME, "not"},
        {"80", DLS_QUANTITY_BYTES, "no unit"},
        {"80 Gib", DLS_QUANTITY_BYTES, "unit"},
        {"never", DLS_QUANTITY_BYTES, "not a size"},
        {"100 GB", DLS_QUANTITY_RATE, "unit"},
        {"1 2 s", DLS_QUANTITY_TIME, "unit"},
        {"1e300 TFLOP/s", DLS_QUANTITY_FLOPS, "too large"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double v = 5;
        dls_error err = {0};
        if (dls_units_parse(bad[i].text, bad[i].kind, &v, &err) == DLS_OK) {
            fail_msg("\"%s\" was accepted as %g", bad[i].text, v);
        }
        assert_int_equal(err.status, DLS_ECONFIG);
        if (!strstr(err.msg, bad[i].says)) {
            fail_msg("\"%s\": %s", bad[i].text, err.msg);
        }
    }
}

/* What is written reads back to the same double, whatever it is. */
TEST(round_trip)
{
    static const double values[] = {
        0,    62,         0.1,     1.0 / 3,   12.5e9,     1e-6,     376e9,       604800,
        1e15, 123456.789, 15.7e12, 1.0000001, 1073741824, 7 * 1e-3, 987654321e3, 1e-300};
    for (int kind = DLS_QUANTITY_TIME; kind <= DLS_QUANTITY_FLOPS; kind++) {
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            char text[80];
            dls_units_format(values[i], (dls_quantity)kind, text, sizeof text);
            assert_same(value(text, (dls_quantity)kind), values[i]);
        }
    }
    char text[40];
    assert_string_equal(dls_units_number(100, text, sizeof text), "100");
    assert_string_equal(dls_units_number(0.1, text, sizeof text), "0.1");
    assert_string_equal(dls_units_format(12.5e9, DLS_QUANTITY_RATE, text, sizeof text), "100 Gb/s");
    assert_string_equal(dls_units_format((double)INFINITY, DLS_QUANTITY_TIME, text, sizeof text),
                        "never");
}

TEST(numbers)
{
    int64_t i;
    double f;
    assert_true(dls_units_i64(" -42 ", &i) && i == -42);
    assert_true(dls_units_i64("9223372036854775807", &i) && i == INT64_MAX);
    assert_false(dls_units_i64("9223372036854775808", &i));
    assert_false(dls_units_i64("1.0", &i));
    assert_false(dls_units_i64("", &i));
    assert_false(dls_units_i64("4x", &i));
    assert_true(dls_units_f64("1.5e-3", &f));
    assert_same(f, 0.0015);
    assert_false(dls_units_f64("nan", &f));
    assert_false(dls_units_f64("1.5.2", &f));
    assert_int_equal(dls_units_us(62), 62000000);
    assert_int_equal(dls_units_us(0.0000014), 1);
    assert_true(dls_units_us((double)INFINITY) == INT64_MAX);
    assert_true(dls_units_us(1e13) == INT64_MAX);
}
