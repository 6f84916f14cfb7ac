/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads and writes an architecture as "key=value" text; one table of fields drives both directions.
 */
#include "predictor/driple/arch_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum field_type { F_INT, F_BOOL, F_DOUBLE, F_ENUM, F_ENUM_LIST } field_type;

typedef struct field {
    const char *key;
    field_type type;
    size_t offset;
    const char *const *names; /* F_ENUM, F_ENUM_LIST */
    size_t count_offset;      /* F_ENUM_LIST */
    int32_t max;              /* F_ENUM_LIST: room */
    bool optional;            /* written only where it is not the default */
} field;

#define AT(member) offsetof(dls_arch, member)
static const field fields[] = {
    {"conv", F_ENUM, AT(conv), dls_conv_names, 0, 0, false},
    {"n_features", F_INT, AT(n_features), NULL, 0, 0, false},
    {"hidden", F_INT, AT(hidden), NULL, 0, 0, false},
    {"depth", F_ENUM, AT(depth), dls_depth_names, 0, 0, false},
    {"n_layers", F_INT, AT(n_layers), NULL, 0, 0, false},
    {"shared", F_BOOL, AT(shared), NULL, 0, 0, false},
    {"gru", F_BOOL, AT(gru), NULL, 0, 0, false},
    {"skip", F_BOOL, AT(skip), NULL, 0, 0, false},
    {"reference", F_BOOL, AT(reference), NULL, 0, 0, false},
    {"pool", F_ENUM, AT(pool), dls_pool_names, 0, 0, false},
    {"set2set_steps", F_INT, AT(set2set_steps), NULL, 0, 0, false},
    {"mlp_layers", F_INT, AT(mlp_layers), NULL, 0, 0, false},
    {"gin_layers", F_INT, AT(gin_layers), NULL, 0, 0, false},
    {"gat_heads", F_INT, AT(gat_heads), NULL, 0, 0, false},
    {"gat_alpha", F_DOUBLE, AT(gat_alpha), NULL, 0, 0, false},
    {"towers", F_INT, AT(towers), NULL, 0, 0, false},
    {"aggregators", F_ENUM_LIST, AT(aggregators), dls_aggregator_names, AT(n_aggregators),
     DLS_AGG_COUNT, false},
    {"scalers", F_ENUM_LIST, AT(scalers), dls_scaler_names, AT(n_scalers), DLS_SCALE_COUNT, false},
    {"self_loop", F_BOOL, AT(self_loop), NULL, 0, 0, false},
    {"avg_d_lin", F_DOUBLE, AT(avg_d_lin), NULL, 0, 0, false},
    {"avg_d_log", F_DOUBLE, AT(avg_d_log), NULL, 0, 0, false},
    {"frozen", F_DOUBLE, AT(frozen), NULL, 0, 0, true},
    {"conditions", F_INT, AT(n_conditions), NULL, 0, 0, true},
};
#define N_FIELDS (sizeof fields / sizeof *fields)

/* Enumerations are read and written as the unsigned they are stored as. */
_Static_assert(sizeof(dls_conv_kind) == sizeof(uint32_t) &&
                   sizeof(dls_aggregator) == sizeof(uint32_t),
               "enumerations of four bytes");

static uint32_t get_u32(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static size_t size_of(const field *f)
{
    return f->type == F_DOUBLE ? sizeof(double)
           : f->type == F_BOOL ? sizeof(bool)
                               : sizeof(int32_t);
}

void dls_arch_format(const dls_arch *arch, char text[DLS_ARCH_TEXT_MAX])
{
    const dls_arch usual = dls_arch_default();
    size_t used = 0;
    const char *base = (const char *)arch;
    for (size_t i = 0; i < N_FIELDS; i++) {
        const field *f = &fields[i];
        const char *at = base + f->offset;
        char value[256] = "";
        if (f->optional && memcmp(at, (const char *)&usual + f->offset, size_of(f)) == 0) {
            continue;
        }
        if (f->type == F_BOOL) {
            bool b;
            memcpy(&b, at, sizeof b);
            snprintf(value, sizeof value, "%d", b);
        } else if (f->type == F_INT) {
            snprintf(value, sizeof value, "%d", (int)get_u32(at));
        } else if (f->type == F_DOUBLE) {
            double d;
            memcpy(&d, at, sizeof d);
            snprintf(value, sizeof value, "%.17g", d);
        } else if (f->type == F_ENUM) {
            snprintf(value, sizeof value, "%s", f->names[get_u32(at)]);
        } else {
            const uint32_t n = get_u32(base + f->count_offset);
            size_t len = 0;
            for (uint32_t k = 0; k < n && len < sizeof value; k++) {
                len += (size_t)snprintf(value + len, sizeof value - len, "%s%s", k ? "," : "",
                                        f->names[get_u32(at + k * sizeof(uint32_t))]);
            }
        }
        used += (size_t)snprintf(text + used, DLS_ARCH_TEXT_MAX - used, "%s%s=%s", i ? " " : "",
                                 f->key, value);
    }
}

static dls_status bad_value(dls_error *err, const field *f, const char *value, size_t len)
{
    char names[400] = "";
    size_t used = 0;
    for (int i = 0; f->names && f->names[i] && used < sizeof names; i++) {
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", f->names[i]);
    }
    return dls_fail(err, DLS_EINPUT, f->key, "architecture: %s=%.*s: expected %s%s", f->key,
                    (int)(len > 64 ? 64 : len), value, f->names ? "one of " : "a number", names);
}

static dls_status parse_value(char *base, const field *f, const char *value, size_t len,
                              dls_error *err)
{
    char *at = base + f->offset;
    if (f->type == F_ENUM) {
        const int32_t index = dls_name_index(f->names, value, len);
        if (index < 0) {
            return bad_value(err, f, value, len);
        }
        memcpy(at, &index, sizeof index);
        return DLS_OK;
    }
    if (f->type == F_ENUM_LIST) {
        int32_t n = 0;
        for (size_t i = 0; i <= len;) {
            size_t end = i;
            while (end < len && value[end] != ',') {
                end++;
            }
            const int32_t index = dls_name_index(f->names, value + i, end - i);
            if (index < 0 || n == f->max) {
                return bad_value(err, f, value, len);
            }
            memcpy(at + (size_t)n * sizeof index, &index, sizeof index);
            n++;
            i = end + 1;
        }
        memcpy(base + f->count_offset, &n, sizeof n);
        return DLS_OK;
    }
    char number[64];
    if (len == 0 || len >= sizeof number) {
        return bad_value(err, f, value, len);
    }
    memcpy(number, value, len);
    number[len] = '\0';
    char *end = NULL;
    errno = 0;
    const double d = strtod(number, &end);
    const bool whole = d >= INT32_MIN && d <= INT32_MAX && (double)(int32_t)d == d;
    if (*end || errno || (f->type != F_DOUBLE && !whole) ||
        (f->type == F_BOOL && d != 0 && d != 1)) {
        return bad_value(err, f, value, len);
    }
    const int32_t integer = whole ? (int32_t)d : 0;
    const bool truth = d > 0;
    if (f->type == F_DOUBLE) {
        memcpy(at, &d, sizeof d);
    } else if (f->type == F_INT) {
        memcpy(at, &integer, sizeof integer);
    } else {
        memcpy(at, &truth, sizeof truth);
    }
    return DLS_OK;
}

dls_status dls_arch_parse(dls_arch *arch, const char *text, dls_error *err)
{
    for (;;) {
        text += strspn(text, " \n\t");
        const size_t len = strcspn(text, " \n\t");
        if (len == 0) {
            return DLS_OK;
        }
        const char *eq = memchr(text, '=', len);
        const field *f = NULL;
        for (size_t i = 0; eq && i < N_FIELDS; i++) {
            if (strlen(fields[i].key) == (size_t)(eq - text) &&
                memcmp(fields[i].key, text, (size_t)(eq - text)) == 0) {
                f = &fields[i];
            }
        }
        if (!f) {
            return dls_fail(err, DLS_EINPUT, NULL, "architecture: no key in \"%.*s\"",
                            (int)(len > 64 ? 64 : len), text);
        }
        DLS_TRY(parse_value((char *)arch, f, eq + 1, len - (size_t)(eq + 1 - text), err));
        text += len;
    }
}
