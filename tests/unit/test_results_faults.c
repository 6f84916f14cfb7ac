/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HDF5 functions that fail while a file is written: each is noticed, and no file appears. The
 * functions here stand in front of the library's.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "support/results_file.h"

#include <dlfcn.h>
#include <libdeflate.h>

/* ---- faults ---------------------------------------------------------------------------------- */

static const char *faulty_name; /* this function fails .. */
static int countdown;           /* .. when it is called for the so-many-th time */
static int calls;

static bool fault(const char *name)
{
    if (!faulty_name || strcmp(name, faulty_name) != 0) {
        return false;
    }
    calls++;
    return countdown-- == 0;
}

static void find(const char *name, void *real, size_t size)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    assert_non_null(symbol);
    memcpy(real, &symbol, size);
}

/* In place of the call. */
#define FAULT(type, name, parameters, arguments)                                                   \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*real) parameters;                                                             \
        if (!real) {                                                                               \
            find(#name, &real, sizeof real);                                                       \
        }                                                                                          \
        return fault(#name) ? (type)-1 : real arguments;                                           \
    }
/* Done, but reported as failed. */
#define FAULT_AFTER(name)                                                                          \
    herr_t name(hid_t id)                                                                          \
    {                                                                                              \
        static herr_t (*real)(hid_t);                                                              \
        if (!real) {                                                                               \
            find(#name, &real, sizeof real);                                                       \
        }                                                                                          \
        const herr_t done = real(id);                                                              \
        return fault(#name) ? -1 : done;                                                           \
    }

/* clang-format off */
FAULT(hid_t, H5Tcopy, (hid_t t), (t))
FAULT(hid_t, H5Tcreate, (H5T_class_t c, size_t n), (c, n))
FAULT(hid_t, H5Tenum_create, (hid_t t), (t))
FAULT(hid_t, H5Tarray_create2, (hid_t t, unsigned n, const hsize_t *d), (t, n, d))
FAULT(herr_t, H5Tenum_insert, (hid_t t, const char *name, const void *v), (t, name, v))
FAULT(herr_t, H5Tinsert, (hid_t t, const char *name, size_t at, hid_t m), (t, name, at, m))
FAULT(herr_t, H5Tpack, (hid_t t), (t))
FAULT(herr_t, H5Tset_size, (hid_t t, size_t n), (t, n))
FAULT(herr_t, H5Tset_cset, (hid_t t, H5T_cset_t c), (t, c))
FAULT(herr_t, H5Tset_strpad, (hid_t t, H5T_str_t p), (t, p))
FAULT(hid_t, H5Screate, (H5S_class_t c), (c))
FAULT(hid_t, H5Screate_simple, (int r, const hsize_t *d, const hsize_t *m), (r, d, m))
FAULT(herr_t, H5Dwrite_chunk, (hid_t d, hid_t p, uint32_t f, const hsize_t *a, size_t n, const void *b),
      (d, p, f, a, n, b))
FAULT(hid_t, H5Pcreate, (hid_t c), (c))
FAULT(herr_t, H5Pset_layout, (hid_t p, H5D_layout_t l), (p, l))
FAULT(herr_t, H5Pset_chunk, (hid_t p, int n, const hsize_t *d), (p, n, d))
FAULT(herr_t, H5Pset_shuffle, (hid_t p), (p))
FAULT(herr_t, H5Pset_deflate, (hid_t p, unsigned l), (p, l))
FAULT(herr_t, H5Pset_fletcher32, (hid_t p), (p))
FAULT(herr_t, H5Pset_fclose_degree, (hid_t p, H5F_close_degree_t d), (p, d))
FAULT(herr_t, H5Pset_driver, (hid_t p, hid_t d, const void *i), (p, d, i))
FAULT(hid_t, H5Fcreate, (const char *n, unsigned f, hid_t c, hid_t a), (n, f, c, a))
FAULT(hid_t, H5Gcreate2, (hid_t a, const char *n, hid_t l, hid_t g, hid_t x), (a, n, l, g, x))
FAULT(hid_t, H5Dcreate2, (hid_t a, const char *n, hid_t t, hid_t s, hid_t l, hid_t d, hid_t x),
      (a, n, t, s, l, d, x))
FAULT(herr_t, H5Dwrite, (hid_t d, hid_t t, hid_t m, hid_t f, hid_t p, const void *b),
      (d, t, m, f, p, b))
FAULT(hid_t, H5Acreate2, (hid_t a, const char *n, hid_t t, hid_t s, hid_t c, hid_t x),
      (a, n, t, s, c, x))
FAULT(herr_t, H5Awrite, (hid_t a, hid_t t, const void *b), (a, t, b))
FAULT_AFTER(H5Aclose)
FAULT_AFTER(H5Dclose)
FAULT_AFTER(H5Fclose)
/* clang-format on */

static const char *const names[] = {"H5Tcopy",
                                    "H5Tcreate",
                                    "H5Tenum_create",
                                    "H5Tarray_create2",
                                    "H5Tenum_insert",
                                    "H5Tinsert",
                                    "H5Tpack",
                                    "H5Tset_size",
                                    "H5Tset_cset",
                                    "H5Tset_strpad",
                                    "H5Screate",
                                    "H5Screate_simple",
                                    "H5Dwrite_chunk",
                                    "H5Pcreate",
                                    "H5Pset_layout",
                                    "H5Pset_chunk",
                                    "H5Pset_shuffle",
                                    "H5Pset_deflate",
                                    "H5Pset_fletcher32",
                                    "H5Pset_fclose_degree",
                                    "H5Pset_driver",
                                    "H5Fcreate",
                                    "H5Gcreate2",
                                    "H5Dcreate2",
                                    "H5Dwrite",
                                    "H5Acreate2",
                                    "H5Awrite",
                                    "H5Aclose",
                                    "H5Dclose",
                                    "H5Fclose"};

/* What is to be NULL. */
static bool no_deflater;
struct libdeflate_compressor *libdeflate_alloc_compressor(int level)
{
    static struct libdeflate_compressor *(*real)(int);
    find("libdeflate_alloc_compressor", &real, sizeof real);
    return no_deflater ? NULL : real(level);
}

/* ---- the tests ------------------------------------------------------------------------------- */

/* First, as a process keeps them. */
TEST(no_memory_to_deflate)
{
    dls_error err;
    no_deflater = true;
    assert_int_equal(dls_results_write(in_folder("d.h5"), &meta, trace, rec, &summary, &err), DLS_ENOMEM);
    assert_int_equal(entries(), 0);
    no_deflater = false;
}

TEST(every_fault_is_noticed)
{
    const char *path = in_folder("f.h5");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        dls_error err;
        faulty_name = names[i];
        calls = 0;
        countdown = -1;
        assert_int_equal(dls_results_write(path, &meta, trace, rec, &summary, &err), DLS_OK);
        unlink(path);
        const int all = calls;
        if (all == 0) {
            fail_msg("%s is never called", names[i]);
        }
        for (int n = 0; n < all; n += all / 12 + 1) {
            countdown = n;
            const dls_status status = dls_results_write(path, &meta, trace, rec, &summary, &err);
            if (status != DLS_EOUTPUT || entries() != 0) {
                fail_msg("%s, call %d of %d: status %d, %d files", names[i], n, all, (int)status,
                         entries());
            }
            assert_string_equal(err.where, path);
        }
        faulty_name = NULL;
    }
}

static int setup(void **state)
{
    return make_sample(120); /* more than four chunks, which the library deflates */
}

GROUP(setup, drop_sample)
