/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sample points of a sweep: values between two ends on linear or logarithmic scales, Latin
 * hypercubes, and Sobol sequences (GSL).
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "base/units.h"
#include "config/settings.h"
#include "sweep/read.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- between two ends ------------------------------------------------------------------------ */

static dls_status end(dls_option_type type, const char *text, double *out, dls_error *err)
{
    dls_quantity kind;
    if (dls_option_quantity(type, &kind)) {
        DLS_TRY(dls_units_parse(text, kind, out, err));
    } else if (!dls_units_f64(text, out)) {
        return dls_fail(err, DLS_ECONFIG, NULL, "is \"%.100s\": expected a number", text);
    }
    return isfinite(*out)
               ? DLS_OK
               : dls_fail(err, DLS_ECONFIG, NULL, "is \"%.100s\": expected an end", text);
}

bool dls_sweep_number(const char *text, double *out, dls_option_type *type)
{
    static const dls_option_type kinds[] = {DLS_OPT_TIME, DLS_OPT_BYTES, DLS_OPT_RATE,
                                            DLS_OPT_FLOPS};
    dls_quantity kind;
    bool good = dls_units_f64(text, out);
    *type = DLS_OPT_F64;
    for (size_t i = 0; !good && i < sizeof kinds / sizeof kinds[0]; i++) {
        *type = kinds[i];
        good =
            dls_option_quantity(*type, &kind) && dls_units_parse(text, kind, out, NULL) == DLS_OK;
    }
    return good;
}

/* The type of "cluster.nodes[2].count"; that of an option, which the schema does not hold, is told
 * by how an end is written. */
static dls_option_type type_of(const char *key, const char *from)
{
    char plain[256];
    size_t idx;
    double value;
    dls_option_type type;
    const int found =
        dls_settings_plain(key, plain, sizeof plain, &idx) ? dls_schema_find(plain) : -1;
    return found >= 0                              ? dls_schema[found].o.type
           : dls_sweep_number(from, &value, &type) ? type
                                                   : DLS_OPT_F64;
}

dls_status dls_sweep_span_init(dls_sweep_span *span, const char *key, const char *from,
                               const char *to, bool log, bool whole, dls_error *err)
{
    *span = (dls_sweep_span){.type = type_of(key, from), .log = log, .whole = whole};
    dls_quantity kind;
    if (span->type != DLS_OPT_I64 && span->type != DLS_OPT_F64 &&
        !dls_option_quantity(span->type, &kind)) {
        return dls_fail(err, DLS_ECONFIG, NULL, "'%s' takes no numbers: list its values", key);
    }
    span->whole = whole || span->type == DLS_OPT_I64;
    dls_error bad;
    if (end(span->type, from, &span->from, &bad) != DLS_OK) {
        return dls_fail(err, DLS_ECONFIG, NULL, "'from' %s", bad.msg);
    }
    if (end(span->type, to, &span->to, &bad) != DLS_OK) {
        return dls_fail(err, DLS_ECONFIG, NULL, "'to' %s", bad.msg);
    }
    if (!(span->from < span->to) && !(span->from > span->to)) {
        return dls_fail(err, DLS_ECONFIG, NULL, "'from' and 'to' are the same");
    }
    if (log && !(span->from > 0 && span->to > 0)) {
        return dls_fail(err, DLS_ECONFIG, NULL, "the ends of a logarithmic scale lie above 0");
    }
    return DLS_OK;
}

const char *dls_sweep_span_text(const dls_sweep_span *span, double u, char *buf, size_t n)
{
    double value;
    if (span->sampled && span->whole && !span->log) {
        const double low = fmin(span->from, span->to), high = fmax(span->from, span->to);
        value = floor(low + u * (high - low + 1));
    } else if (u <= 0 || u >= 1) {
        value = u <= 0 ? span->from : span->to;
    } else if (span->log) {
        value = span->from * pow(span->to / span->from, u);
    } else {
        value = span->from + u * (span->to - span->from);
    }
    dls_quantity kind;
    if (span->whole) {
        value = round(value);
    }
    snprintf(buf, n, "%.12g", value);
    value = strtod(buf, NULL);
    if (dls_option_quantity(span->type, &kind)) {
        return dls_units_format(value, kind, buf, n);
    }
    if (span->whole) {
        snprintf(buf, n, "%.0f", value);
        return buf;
    }
    return dls_units_number(value, buf, n);
}

/* ---- in the unit cube ------------------------------------------------------------------------ */

void dls_sweep_lhs(size_t n, size_t dims, uint64_t seed, double *u)
{
    for (size_t d = 0; d < dims; d++) {
        dls_rng rng = dls_rng_stream(seed, DLS_RNG_SWEEP, d);
        for (size_t i = 0; i < n; i++) {
            u[i * dims + d] = (double)i;
        }
        for (size_t i = n; i > 1; i--) {
            const size_t k = dls_rng_below(&rng, i);
            const double slice = u[k * dims + d];
            u[k * dims + d] = u[(i - 1) * dims + d];
            u[(i - 1) * dims + d] = slice;
        }
        for (size_t i = 0; i < n; i++) {
            u[i * dims + d] = (u[i * dims + d] + dls_rng_unit(&rng)) / (double)n;
        }
    }
}

dls_status dls_sweep_sobol(size_t n, size_t dims, double *u, dls_error *err)
{
    gsl_error_handler_t *old = gsl_set_error_handler_off(); /* it would abort */
    gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)dims);
    gsl_set_error_handler(old);
    if (!sequence) {
        return dls_nomem(err, "Sobol sequence", dims);
    }
    for (size_t i = 0; i < n; i++) {
        gsl_qrng_get(sequence, u + i * dims);
    }
    gsl_qrng_free(sequence);
    return DLS_OK;
}
