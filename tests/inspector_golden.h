/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading the published inspector's golden vectors. Include after cmocka.h.
 */
#ifndef DLS_TESTS_INSPECTOR_GOLDEN_H
#define DLS_TESTS_INSPECTOR_GOLDEN_H

#include <hdf5.h>
#include <math.h>
#include <stdlib.h>

/* Owned by the caller. */
static inline double *golden_doubles(hid_t file, const char *name, size_t *n)
{
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(set >= 0);
    const hid_t space = H5Dget_space(set);
    *n = (size_t)H5Sget_simple_extent_npoints(space);
    double *data = malloc(*n * sizeof *data);
    assert_non_null(data);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    return data;
}

/* max |a - b| / max |b| */
static inline double golden_distance(const double *a, const double *b, size_t n)
{
    double error = 0;
    double top = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs(a[i] - b[i]);
        error = d > error || isnan(d) ? d : error;
        top = fabs(b[i]) > top ? fabs(b[i]) : top;
    }
    return error / top;
}

#endif
