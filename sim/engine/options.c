/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parses option values by a policy's own table, checks ranges and choices, and validates the tables
 * of plug-ins.
 */
#include "engine/options.h"

#include "base/alloc.h"
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond these a bound is not worth showing. */
#define RANGE_SHOWN 1e18

size_t dls_options_count(const dls_option *options)
{
    size_t n = 0;
    while (options && options[n].type != DLS_OPT_END) {
        n++;
    }
    return n;
}

const dls_option *dls_options_find(const dls_option *options, const char *name)
{
    for (size_t i = 0; i < dls_options_count(options); i++) {
        if (strcmp(options[i].name, name) == 0) {
            return &options[i];
        }
    }
    return NULL;
}

const char *dls_option_type_name(dls_option_type type)
{
    switch (type) {
    case DLS_OPT_BOOL:
        return "bool";
    case DLS_OPT_I64:
        return "integer";
    case DLS_OPT_F64:
        return "number";
    case DLS_OPT_STR:
        return "string";
    case DLS_OPT_F64_LIST:
        return "list of numbers";
    case DLS_OPT_PATH:
        return "file";
    default:
        return "";
    }
}

const char *dls_option_domain(const dls_option *option, char *buf, size_t n)
{
    if (option->type == DLS_OPT_BOOL) {
        snprintf(buf, n, "true or false");
    } else if (option->type == DLS_OPT_PATH) {
        snprintf(buf, n, "file");
    } else if (option->type == DLS_OPT_STR) {
        snprintf(buf, n, "%s%s", option->choices ? "one of " : "text",
                 option->choices ? option->choices : "");
    } else {
        char low[40], high[40];
        const bool bounded_low = option->min > -RANGE_SHOWN,
                   bounded_high = option->max < RANGE_SHOWN;
        dls_units_number(option->min, low, sizeof low);
        dls_units_number(option->max, high, sizeof high);
        snprintf(buf, n, "%s%s%s%s%s%s%s",
                 option->type == DLS_OPT_F64_LIST ? "ascending numbers"
                                                  : dls_option_type_name(option->type),
                 bounded_low    ? bounded_high ? " " : ", at least "
                 : bounded_high ? ", at most "
                                : "",
                 bounded_low ? low : "", bounded_low && bounded_high ? ".." : "",
                 bounded_high ? high : "", *option->unit ? " " : "", option->unit);
    }
    return buf;
}

static dls_status bad_value(const dls_option *option, const char *text, dls_error *err)
{
    char domain[160];
    return dls_fail(err, DLS_ECONFIG, NULL, "option '%s' is \"%s\": expected %s", option->name,
                    text, dls_option_domain(option, domain, sizeof domain));
}

static bool in_range(const dls_option *option, double value)
{
    return value >= option->min && value <= option->max;
}

static bool is_choice(const char *choices, const char *text)
{
    const size_t len = strlen(text);
    for (const char *c = choices; c; c = strchr(c, '|')) {
        c += *c == '|';
        if (strcspn(c, "|") == len && strncmp(c, text, len) == 0) {
            return true;
        }
    }
    return false;
}

/* A number, or a time when the option counts seconds. */
static bool number(const dls_option *option, const char *text, double *out)
{
    return dls_units_f64(text, out) ||
           (strcmp(option->unit, "s") == 0 &&
            dls_units_parse(text, DLS_QUANTITY_TIME, out, NULL) == DLS_OK && isfinite(*out));
}

/* "a, b, c" with or without brackets, ascending; an empty list is allowed. */
static bool number_list(const dls_option *option, const char *text, dls_option_value *out)
{
    char copy[DLS_OPT_LIST_MAX * 40];
    const size_t len = strlen(text);
    if (len >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, len + 1);
    char *s = copy + strspn(copy, " [(");
    s[strcspn(s, "])")] = '\0';
    out->n_list = 0;
    if (s[strspn(s, " ")] == '\0') {
        return true;
    }
    for (char *next; s; s = next) {
        next = strchr(s, ',');
        if (next) {
            *next++ = '\0';
        }
        double value;
        if (out->n_list == DLS_OPT_LIST_MAX || !number(option, s, &value) ||
            !in_range(option, value) || (out->n_list > 0 && value <= out->list[out->n_list - 1])) {
            return false;
        }
        out->list[out->n_list++] = value;
    }
    return true;
}

dls_status dls_option_parse(const dls_option *option, const char *text, dls_option_value *out,
                            dls_error *err)
{
    dls_option_value value = {0};
    bool good = false;
    switch (option->type) {
    case DLS_OPT_BOOL:
        value.b = strcmp(text, "true") == 0;
        good = value.b || strcmp(text, "false") == 0;
        break;
    case DLS_OPT_I64:
        good = dls_units_i64(text, &value.i);
        if (!good && number(option, text, &value.f) && fabs(value.f) < 9e18) {
            value.i = (int64_t)value.f;
            good = !((double)value.i < value.f) && !((double)value.i > value.f);
        }
        good = good && in_range(option, (double)value.i);
        value.f = (double)value.i;
        break;
    case DLS_OPT_F64:
        good = number(option, text, &value.f) && in_range(option, value.f);
        break;
    case DLS_OPT_PATH:
        good = true;
        value.s = text;
        break;
    case DLS_OPT_STR:
        good = !option->choices || is_choice(option->choices, text);
        value.s = text;
        break;
    case DLS_OPT_F64_LIST:
        good = number_list(option, text, &value);
        break;
    default:
        break;
    }
    if (!good) {
        return bad_value(option, text, err);
    }
    *out = value;
    return DLS_OK;
}

dls_status dls_options_defaults(const dls_option *options, dls_option_value **out, dls_error *err)
{
    const size_t n = dls_options_count(options);
    dls_option_value *values = dls_alloc_zero(n + 1, sizeof *values);
    if (!values) {
        return dls_nomem(err, "option values", (n + 1) * sizeof *values);
    }
    for (size_t i = 0; i < n; i++) {
        const dls_status status = dls_option_parse(&options[i], options[i].def, &values[i], err);
        if (status != DLS_OK) {
            dls_free(values);
            return status;
        }
    }
    *out = values;
    return DLS_OK;
}

static bool is_name(const char *name)
{
    if (!name || !islower((unsigned char)*name) || strlen(name) > 40) {
        return false;
    }
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

dls_status dls_options_check(const dls_option *options, dls_error *err)
{
    for (size_t i = 0; i < dls_options_count(options); i++) {
        const dls_option *o = &options[i];
        if (!is_name(o->name)) {
            return dls_fail(err, DLS_EINPUT, NULL,
                            "option %zu has no usable name (small letters, digits, '_')", i);
        }
        if ((unsigned)o->type > DLS_OPT_PATH || !o->def || !o->unit || !o->doc ||
            !(o->min <= o->max)) {
            return dls_fail(
                err, DLS_EINPUT, NULL,
                "option '%s' needs a type, min <= max, a default, a unit and a doc line", o->name);
        }
        if (dls_options_find(options, o->name) != o) {
            return dls_fail(err, DLS_EINPUT, NULL, "option '%s' is there twice", o->name);
        }
        dls_option_value value;
        dls_error bad;
        if (dls_option_parse(o, o->def, &value, &bad) != DLS_OK) {
            return dls_fail(err, DLS_EINPUT, NULL, "the default is wrong: %s", bad.msg);
        }
    }
    return DLS_OK;
}
