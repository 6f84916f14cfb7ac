/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parses and prints quantities with units, from tables of units for time, bytes, rates and FLOP/s.
 */
#include "base/units.h"

#include "base/assert.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct unit {
    const char *name;
    double scale;
} unit;

static const unit time_units[] = {
    {"s", 1},       {"us", 1e-6},     {"ms", 1e-3},      {"sec", 1},      {"second", 1},
    {"seconds", 1}, {"min", 60},      {"minute", 60},    {"minutes", 60}, {"h", 3600},
    {"hour", 3600}, {"hours", 3600},  {"d", 86400},      {"day", 86400},  {"days", 86400},
    {"w", 604800},  {"week", 604800}, {"weeks", 604800}, {NULL, 0}};

static const unit byte_units[] = {{"GiB", 1073741824.0},
                                  {"B", 1},
                                  {"kB", 1e3},
                                  {"KB", 1e3},
                                  {"MB", 1e6},
                                  {"GB", 1e9},
                                  {"TB", 1e12},
                                  {"PB", 1e15},
                                  {"KiB", 1024},
                                  {"MiB", 1048576.0},
                                  {"TiB", 1099511627776.0},
                                  {"PiB", 1125899906842624.0},
                                  {NULL, 0}};

static const unit rate_units[] = {
    {"Gb/s", 1e9 / 8},  {"b/s", 1.0 / 8},   {"kb/s", 1e3 / 8},       {"Mb/s", 1e6 / 8},
    {"Tb/s", 1e12 / 8}, {"Gbps", 1e9 / 8},  {"Mbps", 1e6 / 8},       {"B/s", 1},
    {"kB/s", 1e3},      {"MB/s", 1e6},      {"GB/s", 1e9},           {"TB/s", 1e12},
    {"KiB/s", 1024},    {"MiB/s", 1048576}, {"GiB/s", 1073741824.0}, {NULL, 0}};

static const unit flops_units[] = {{"TFLOP/s", 1e12}, {"GFLOP/s", 1e9}, {"PFLOP/s", 1e15},
                                   {"MFLOP/s", 1e6},  {"FLOP/s", 1},    {NULL, 0}};

static const struct {
    const unit *units;
    const char *expected;
} kinds[] = {
    [DLS_QUANTITY_TIME] = {time_units, "a time such as \"62 s\", \"1.5h\" or \"7d\""},
    [DLS_QUANTITY_BYTES] = {byte_units, "a size such as \"80 GiB\" or \"512 MB\""},
    [DLS_QUANTITY_RATE] = {rate_units, "a rate such as \"100 Gb/s\" or \"12.5 GB/s\""},
    [DLS_QUANTITY_FLOPS] = {flops_units, "a speed such as \"15.7 TFLOP/s\""},
};

static const char *skip_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t') {
        s++;
    }
    return s;
}

/* strtod without hexadecimal, "nan" and "inf"; NULL if there is no finite number. */
static const char *decimal(const char *s, double *out)
{
    const char *digit = *s == '-' || *s == '+' ? s + 1 : s;
    if (*digit == '.') {
        digit++;
    }
    if (!isdigit((unsigned char)*digit) || strncmp(digit, "0x", 2) == 0 ||
        strncmp(digit, "0X", 2) == 0) {
        return NULL;
    }
    char *end;
    *out = strtod(s, &end);
    return isfinite(*out) ? end : NULL;
}

bool dls_units_f64(const char *text, double *out)
{
    double value;
    const char *end = decimal(skip_blanks(text), &value);
    if (!end || *skip_blanks(end) != '\0') {
        return false;
    }
    *out = value;
    return true;
}

bool dls_units_i64(const char *text, int64_t *out)
{
    const char *s = skip_blanks(text);
    const char *digit = *s == '-' || *s == '+' ? s + 1 : s;
    if (!isdigit((unsigned char)*digit)) {
        return false;
    }
    char *end;
    errno = 0;
    const long long value = strtoll(s, &end, 10);
    if (errno != 0 || *skip_blanks(end) != '\0') {
        return false;
    }
    *out = value;
    return true;
}

dls_status dls_units_parse(const char *text, dls_quantity kind, double *value, dls_error *err)
{
    DLS_ASSERT((size_t)kind < sizeof kinds / sizeof kinds[0]);
    const char *s = skip_blanks(text);
    if (kind == DLS_QUANTITY_TIME && strcmp(s, "never") == 0) {
        *value = (double)INFINITY;
        return DLS_OK;
    }
    double number;
    const char *end = decimal(s, &number);
    if (!end) {
        return dls_fail(err, DLS_ECONFIG, NULL, "\"%s\" is not %s", text, kinds[kind].expected);
    }
    const char *name = skip_blanks(end);
    size_t len = strlen(name);
    while (len > 0 && (name[len - 1] == ' ' || name[len - 1] == '\t')) {
        len--;
    }
    if (len == 0) {
        if (kind == DLS_QUANTITY_TIME || fpclassify(number) == FP_ZERO) {
            *value = number;
            return DLS_OK;
        }
        return dls_fail(err, DLS_ECONFIG, NULL, "\"%s\" has no unit: expected %s", text,
                        kinds[kind].expected);
    }
    for (const unit *u = kinds[kind].units; u->name; u++) {
        if (strlen(u->name) == len && strncmp(u->name, name, len) == 0) {
            *value = number * u->scale;
            if (!isfinite(*value)) {
                return dls_fail(err, DLS_ECONFIG, NULL, "\"%s\" is too large", text);
            }
            return DLS_OK;
        }
    }
    return dls_fail(err, DLS_ECONFIG, NULL, "\"%s\" has the unknown unit '%.*s': expected %s", text,
                    (int)(len < 32 ? len : 32), name, kinds[kind].expected);
}

const char *dls_units_number(double value, char *buf, size_t n)
{
    DLS_ASSERT(n > 24);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, n, "%.*g", digits, value);
        const double back = strtod(buf, NULL);
        if (!(back < value) && !(back > value)) {
            break;
        }
    }
    return buf;
}

const char *dls_units_format(double value, dls_quantity kind, char *buf, size_t n)
{
    DLS_ASSERT((size_t)kind < sizeof kinds / sizeof kinds[0] && !isnan(value));
    if (isinf(value)) {
        snprintf(buf, n, "never");
        return buf;
    }
    if (fpclassify(value) == FP_ZERO) {
        snprintf(buf, n, kind == DLS_QUANTITY_TIME ? "0 s" : "0");
        return buf;
    }
    /* The first unit of a kind is the one that people use; if dividing by it does not come back to
     * the same double, the base unit does. */
    const unit *u = &kinds[kind].units[0];
    char number[40];
    double back = 0;
    dls_units_number(value / u->scale, number, sizeof number);
    snprintf(buf, n, "%s %s", number, u->name);
    if (dls_units_parse(buf, kind, &back, NULL) == DLS_OK && !(back < value) && !(back > value)) {
        return buf;
    }
    for (u++; u->name; u++) {
        if (!(u->scale < 1) && !(u->scale > 1)) {
            snprintf(buf, n, "%s %s", dls_units_number(value, number, sizeof number), u->name);
            break;
        }
    }
    return buf;
}

int64_t dls_units_us(double seconds)
{
    DLS_ASSERT(!isnan(seconds));
    if (!(seconds * 1e6 < 9.2e18)) {
        return INT64_MAX;
    }
    return (int64_t)llround(seconds * 1e6);
}
