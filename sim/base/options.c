/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The types of values: one row each in `types`, one case each in parsing and in writing.
 */
#include "base/options.h"

#include "base/own.h"
#include "base/json.h"
#include "base/suggest.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Beyond these a bound is not worth showing. */
#define RANGE_SHOWN 1e18

/* By dls_option_type: its name for programs, and what it takes for people, a range behind it if it
 * has one; how a quantity is written, if it is one. */
static const struct {
    const char *name, *takes;
    int quantity; /* -1: none */
} types[] = {
    [DLS_OPT_END] = {"", "", -1},
    [DLS_OPT_BOOL] = {"bool", "true or false", -1},
    [DLS_OPT_I64] = {"integer", "integer", -1},
    [DLS_OPT_F64] = {"number", "number", -1},
    [DLS_OPT_STR] = {"string", "text in quotes", -1},
    [DLS_OPT_F64_LIST] = {"list of numbers", "up to 32 ascending numbers", -1},
    [DLS_OPT_PATH] = {"file", "path in quotes", -1},
    [DLS_OPT_TIME] = {"time", "time such as \"62 s\", \"1.5h\", \"7d\"", DLS_QUANTITY_TIME},
    [DLS_OPT_TIME_LIST] = {"list of times", "up to 32 ascending times such as \"62 s\", \"1.5h\"", -1},
    [DLS_OPT_BYTES] = {"size", "size such as \"80 GiB\"", DLS_QUANTITY_BYTES},
    [DLS_OPT_RATE] = {"rate", "rate such as \"100 Gb/s\" (bits) or \"12.5 GB/s\" (bytes)",
                      DLS_QUANTITY_RATE},
    [DLS_OPT_FLOPS] = {"speed", "speed such as \"15.7 TFLOP/s\"", DLS_QUANTITY_FLOPS},
    [DLS_OPT_GROUP] = {"group", "group { ... }", -1},
    [DLS_OPT_LIST] = {"list", "list of groups ( { ... }, ... )", -1},
};
_Static_assert(DLS_OPT_LIST_MAX == 32, "said above");

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
    const size_t n = dls_options_count(options), i = dls_named(options, n, sizeof *options, name);
    return i < n ? &options[i] : NULL;
}

bool dls_option_quantity(dls_option_type type, dls_quantity *out)
{
    *out = types[type].quantity >= 0 ? (dls_quantity)types[type].quantity : DLS_QUANTITY_TIME;
    return types[type].quantity >= 0;
}

static bool may_be_never(const dls_option *o)
{
    return o->type == DLS_OPT_TIME && strcmp(o->def, "never") == 0;
}

static void put_range(const dls_option *o, char *buf, size_t n)
{
    char low[40] = "", high[40] = "";
    const bool has_low = o->min > -RANGE_SHOWN, has_high = o->max < RANGE_SHOWN;
    if (has_low) {
        dls_units_number(o->min, low, sizeof low);
    }
    if (has_high) {
        dls_units_number(o->max, high, sizeof high);
    }
    const char *before = has_low && has_high ? " " : has_low ? ", at least " : ", at most ";
    snprintf(buf, n, "%s%s%s%s%s%s", has_low || has_high ? before : "", low,
             has_low && has_high ? ".." : "", high, *o->unit ? " " : "", o->unit);
}

const char *dls_option_domain(const dls_option *o, char *buf, size_t n)
{
    const int len = snprintf(buf, n, "%s", o->choices ? "one of " : types[o->type].takes);
    char *end = buf + len, low[64];
    const size_t left = n - (size_t)len;
    switch (o->type) {
    case DLS_OPT_I64:
    case DLS_OPT_F64:
    case DLS_OPT_F64_LIST:
        put_range(o, end, left);
        break;
    case DLS_OPT_STR:
        if (o->choices) {
            snprintf(end, left, "%s", o->choices);
        } else if (o->max > 0) {
            snprintf(end, left, "%s, at most %.0f bytes", o->min > 0 ? ", not empty" : "", o->max);
        }
        break;
    case DLS_OPT_TIME:
    case DLS_OPT_TIME_LIST:
        snprintf(end, left, "%s%s%s; a bare number is in seconds",
                 may_be_never(o) ? ", \"never\"" : "", o->min > 0 ? ", at least " : "",
                 o->min > 0 ? dls_units_format(o->min, DLS_QUANTITY_TIME, low, sizeof low) : "");
        break;
    case DLS_OPT_LIST:
        snprintf(end, left, ", at most %.0f", o->max);
        break;
    default:
        break;
    }
    return buf;
}

void dls_option_json(json_object *to, const char *name, const dls_option *o)
{
    char domain[300];
    DLS_JSON(to, "name", name, "type", types[o->type].name, "takes",
             dls_option_domain(o, domain, sizeof domain), "default", o->def, "unit", o->unit);
    if (o->type != DLS_OPT_BOOL && !o->choices && o->min < o->max) {
        DLS_JSON(to, "min", o->min, "max", o->max);
    }
    if (o->choices) {
        dls_json_text(to, "choices", o->choices);
    }
    dls_json_text(to, "doc", o->doc);
}

/* ---- one value from text --------------------------------------------------------------------- */

static bool in_range(const dls_option *o, double value)
{
    return value >= o->min && value <= o->max;
}

/* Which of "a|b|c" the text is, from 0; -1: none. */
static int choice(const char *choices, const char *text)
{
    const size_t len = strlen(text);
    int i = 0;
    for (const char *c = choices; c; c = strchr(c, '|'), i++) {
        c += *c == '|';
        if (strcspn(c, "|") == len && strncmp(c, text, len) == 0) {
            return i;
        }
    }
    return -1;
}

/* "a, b, c" with or without brackets, ascending; an empty list is allowed. */
static bool list(const dls_option *o, const char *text, dls_option_value *out)
{
    char copy[DLS_OPT_LIST_MAX * 40];
    const size_t len = strlen(text);
    if (len >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, len + 1);
    char *s = copy + strspn(copy, " ");
    const char close = *s == '[' ? ']' : *s == '(' ? ')' : '\0';
    if (close) {
        char *end = strrchr(s++, close);
        if (!end || end[1 + strspn(end + 1, " ")]) {
            return false;
        }
        *end = '\0';
    }
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
        const bool good = o->type == DLS_OPT_TIME_LIST
                              ? dls_units_parse(s, DLS_QUANTITY_TIME, &value, NULL) == DLS_OK
                              : dls_units_f64(s, &value);
        if (!good || out->n_list == DLS_OPT_LIST_MAX || !in_range(o, value) ||
            (out->n_list > 0 && value <= out->list[out->n_list - 1])) {
            return false;
        }
        out->list[out->n_list++] = value;
    }
    return true;
}

static dls_status quantity(const dls_option *o, dls_quantity kind, const char *text, double *out,
                           dls_error *err)
{
    char low[64], high[64];
    dls_error bad;
    if (dls_units_parse(text, kind, out, &bad) != DLS_OK) {
        return dls_fail(err, DLS_ECONFIG, NULL, "%s", bad.msg);
    }
    if (in_range(o, *out) || (may_be_never(o) && isinf(*out))) {
        return DLS_OK;
    }
    return dls_fail(err, DLS_ECONFIG, NULL, "is \"%.100s\": expected %s to %s", text,
                    dls_units_format(o->min, kind, low, sizeof low),
                    dls_units_format(o->max, kind, high, sizeof high));
}

/* A whole number may be written as 2.0 or 1e6. */
static bool whole(const char *text, int64_t *out)
{
    double f;
    if (dls_units_i64(text, out)) {
        return true;
    }
    if (!dls_units_f64(text, &f) || fabs(f) >= 9e18 || f < floor(f) || f > floor(f)) {
        return false;
    }
    *out = (int64_t)f;
    return true;
}

dls_status dls_option_parse(const dls_option *o, const char *text, dls_option_value *out,
                            dls_error *err)
{
    dls_option_value value = {.s = text};
    dls_quantity kind;
    bool good = false;
    switch (o->type) {
    case DLS_OPT_BOOL:
        value.b = strcmp(text, "true") == 0;
        good = value.b || strcmp(text, "false") == 0;
        break;
    case DLS_OPT_I64:
        good = whole(text, &value.i) && in_range(o, (double)value.i);
        value.f = (double)value.i;
        break;
    case DLS_OPT_F64:
        good = dls_units_f64(text, &value.f) && in_range(o, value.f);
        break;
    case DLS_OPT_STR:
    case DLS_OPT_PATH:
        if (o->choices) {
            value.i = choice(o->choices, text) + (int64_t)o->min;
            good = value.i >= (int64_t)o->min;
        } else {
            good = o->max <= 0 || in_range(o, (double)strlen(text));
        }
        break;
    case DLS_OPT_F64_LIST:
    case DLS_OPT_TIME_LIST:
        good = list(o, text, &value);
        break;
    default:
        if (dls_option_quantity(o->type, &kind)) {
            DLS_TRY(quantity(o, kind, text, &value.f, err));
            good = true;
        }
    }
    if (!good) {
        char domain[300];
        return dls_fail(err, DLS_ECONFIG, NULL, "is \"%.100s\": expected %s", text,
                        dls_option_domain(o, domain, sizeof domain));
    }
    *out = value;
    return DLS_OK;
}

/* ---- and back -------------------------------------------------------------------------------- */

void dls_option_put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c == '\n') {
            fputs("\\n", out);
        } else if (c < 0x20 || c == 0x7f) {
            fprintf(out, "\\x%02x", c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

/* libconfig tells a float from an integer by its point or exponent. */
static void put_f64(FILE *out, double value)
{
    char text[40];
    dls_units_number(value, text, sizeof text);
    fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void dls_option_put(FILE *out, const dls_option *o, const dls_option_value *value)
{
    char text[64];
    dls_quantity kind;
    switch (o->type) {
    case DLS_OPT_BOOL:
        fputs(value->b ? "true" : "false", out);
        break;
    case DLS_OPT_I64: /* beyond 32 bits with an L */
        fprintf(out, "%lld%s", (long long)value->i,
                value->i > INT32_MAX || value->i < -INT32_MAX ? "L" : "");
        break;
    case DLS_OPT_F64:
        put_f64(out, value->f);
        break;
    case DLS_OPT_STR:
    case DLS_OPT_PATH:
        dls_option_put_text(out, value->s);
        break;
    case DLS_OPT_F64_LIST:
    case DLS_OPT_TIME_LIST:
        fputs("[", out);
        for (int32_t i = 0; i < value->n_list; i++) {
            fputs(i > 0 ? ", " : "", out);
            put_f64(out, value->list[i]);
        }
        fputs("]", out);
        break;
    default:
        if (dls_option_quantity(o->type, &kind)) {
            fprintf(out, "\"%s\"", dls_units_format(value->f, kind, text, sizeof text));
        }
    }
}

/* ---- whole tables ---------------------------------------------------------------------------- */

dls_status dls_options_defaults(const dls_option *options, dls_option_value **out, dls_error *err)
{
    const size_t n = dls_options_count(options);
    DLS_FREED dls_option_value *values = NULL;
    DLS_TRY(dls_alloc_array(&values, n + 1, sizeof *values, "option values", err));
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(dls_option_parse(&options[i], options[i].def, &values[i], err));
    }
    *out = dls_take(&values);
    return DLS_OK;
}

dls_status dls_options_check(const dls_option *options, dls_error *err)
{
    for (size_t i = 0; i < dls_options_count(options); i++) {
        const dls_option *o = &options[i];
        if (!o->name || !islower((unsigned char)*o->name) || strlen(o->name) > 40 ||
            strspn(o->name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(o->name)) {
            return dls_fail(err, DLS_EINPUT, NULL,
                            "option %zu has no usable name (small letters, digits, '_')", i);
        }
        const char *lacks = (unsigned)o->type > DLS_OPT_FLOPS ? "a type of one value"
                            : !(o->min <= o->max)             ? "min <= max"
                            : !o->def                         ? "a default (def)"
                            : !o->unit                        ? "a unit, \"\" if it has none"
                            : !o->doc                         ? "a line of documentation (doc)"
                                                              : NULL;
        if (lacks) {
            return dls_fail(err, DLS_EINPUT, NULL, "option '%s' needs %s", o->name, lacks);
        }
        if (dls_options_find(options, o->name) != o) {
            return dls_fail(err, DLS_EINPUT, NULL, "option '%s' is there twice", o->name);
        }
        dls_option_value value;
        dls_error bad;
        if (dls_option_parse(o, o->def, &value, &bad) != DLS_OK) {
            return dls_fail(err, DLS_EINPUT, NULL, "option '%s': the default is wrong: %s", o->name,
                            bad.msg);
        }
    }
    return DLS_OK;
}
