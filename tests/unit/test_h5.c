/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What base/h5.h writes is what HDF5 itself reads: every layout, type and kind of object.
 */
#include "base/h5.h"

#include "base/alloc.h"
#include "support/must.h"

#include <stdlib.h>
#include <unistd.h>

static char path[64];

/* Cell i of a dataset of any width is i, again and again. */
static const char *count(const void *ctx, size_t first, size_t n, size_t width, char *dst)
{
    for (size_t i = 0; i < n * width / 4; i++) {
        const uint32_t value = (uint32_t)(first + i / (width / 4));
        memcpy(dst + 4 * i, &value, 4);
    }
    return dst;
}

static dls_status put_counted(dls_h5_node *at, const char *name, dls_h5_cell cell, size_t width, dls_h5_shape shape)
{
    dls_h5_type type;
    dls_h5_node *set;
    dls_h5_type_cell(&type, cell, width);
    return dls_h5_put_set(at, name, &type, shape, count, NULL, &set, NULL);
}

static hid_t reopened(void)
{
    hid_t file;
    MUST(dls_h5_open(path, &file, &e));
    return file;
}

/* [n][m] numbers that count. */
static void is_counted(hid_t file, const char *name, size_t n, size_t m, H5D_layout_t layout)
{
    uint32_t *data = malloc(n * m * sizeof *data);
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), dcpl = H5Dget_create_plist(set);
    assert_true(data && H5Dread(set, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    assert_int_equal(H5Pget_layout(dcpl), layout);
    for (size_t i = 0; i < n * m; i++) {
        assert_int_equal(data[i], i);
    }
    free(data);
    H5Pclose(dcpl);
    H5Dclose(set);
}

static dls_status put_layouts(dls_h5_node *file, const void *what, dls_error *err)
{
    (void)what, (void)err;
    dls_status ok = put_counted(file, "none", DLS_H5_U32, 0, (dls_h5_shape){1, {0}, true});
    ok += put_counted(file, "a/b/small", DLS_H5_U32, 0, (dls_h5_shape){2, {8191, 1}, true});
    ok += put_counted(file, "/a/one", DLS_H5_U32, 0, (dls_h5_shape){1, {8192}, true});
    ok += put_counted(file, "a/plain", DLS_H5_U32, 0, (dls_h5_shape){1, {8192}, false});
    ok += put_counted(file, "a/some", DLS_H5_U32, 0, (dls_h5_shape){1, {100001}, true});
    ok += put_counted(file, "a/matrix", DLS_H5_U32, 0, (dls_h5_shape){2, {301, 333}, true});
    ok += put_counted(file, "a/wide", DLS_H5_U32, 0, (dls_h5_shape){3, {3, 7, 10007}, true});
    ok += put_counted(file, "long", DLS_H5_TEXT, 1 << 15, (dls_h5_shape){1, {4 * 1024 + 5}, true});
    return ok;
}

TEST(layouts)
{
    MUST(dls_h5_save(path, put_layouts, NULL, &e));
    const hid_t file = reopened();
    is_counted(file, "none", 0, 1, H5D_CONTIGUOUS);
    is_counted(file, "a/b/small", 8191, 1, H5D_COMPACT);
    is_counted(file, "a/one", 8192, 1, H5D_CHUNKED);
    is_counted(file, "a/plain", 8192, 1, H5D_CHUNKED);
    is_counted(file, "a/some", 100001, 1, H5D_CHUNKED);
    is_counted(file, "a/matrix", 301, 333, H5D_CHUNKED);
    is_counted(file, "a/wide", 21, 10007, H5D_CHUNKED);
    /* An index of more than a page: its last chunk. */
    const hid_t set = H5Dopen2(file, "long", H5P_DEFAULT), type = H5Dget_type(set), space = H5Dget_space(set);
    const hsize_t first = 4 * 1024 + 4, one = 1;
    static uint32_t cell[1 << 13];
    const hid_t memory = H5Screate_simple(1, &one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &one, NULL);
    assert_true(H5Dread(set, type, memory, space, H5P_DEFAULT, cell) >= 0);
    assert_int_equal(cell[0], first);
    assert_int_equal(cell[(1 << 13) - 1], first);
    H5Fclose(file);
}

typedef struct row {
    uint8_t colour;
    int64_t number;
    double pair[2];
    char name[5];
} row;

static dls_status put_types(dls_h5_node *file, const void *what, dls_error *err)
{
    static const char *const colours[] = {"red", "green"};
    dls_h5_type type, member;
    dls_h5_node *set, *group;
    const float half = 0.5F;
    dls_h5_type_row(&type, 1 + 8 + 16 + 5);
    dls_h5_type_enum(&member, colours, 2);
    dls_h5_type_member(&type, "colour", &member);
    dls_h5_type_cell(&member, DLS_H5_I64, 0);
    dls_h5_type_member(&type, "number", &member);
    dls_h5_type_cell(&member, DLS_H5_F64, 0);
    dls_h5_type_array(&member, 2);
    dls_h5_type_member(&type, "pair", &member);
    dls_h5_type_cell(&member, DLS_H5_TEXT, 5);
    dls_h5_type_member(&type, "name", &member);
    DLS_TRY(dls_h5_put_set(file, "rows", &type, (dls_h5_shape){1, {2}, true}, dls_h5_lies, what, &set, err));
    DLS_TRY(dls_h5_put_text(set, "units", "s", err));
    dls_h5_type_cell(&member, DLS_H5_F32, 0);
    DLS_TRY(dls_h5_put_attr(set, "half", &member, 0, &half, err));
    DLS_TRY(dls_h5_put_group(file, "g", &group, err));
    DLS_TRY(dls_h5_put_i32(group, "i32", -3, err));
    DLS_TRY(dls_h5_put_u64(group, "u64", UINT64_MAX, err));
    static char text[200000];
    memset(text, 'y', sizeof text - 1);
    DLS_TRY(dls_h5_put_text(group, "long", text, err));
    return dls_h5_put_text(file, "long", text, err);
}

TEST(types)
{
    char cells[2 * 30];
    const row rows[2] = {{1, -7, {0.25, 1e300}, "one"}, {0, INT64_MAX, {-1, 0}, "three"}};
    for (int i = 0; i < 2; i++) {
        memcpy(cells + 30 * i, &rows[i].colour, 1);
        memcpy(cells + 30 * i + 1, &rows[i].number, 8);
        memcpy(cells + 30 * i + 9, rows[i].pair, 16);
        memcpy(cells + 30 * i + 25, rows[i].name, 5);
    }
    MUST(dls_h5_save(path, put_types, cells, &e));
    const hid_t file = reopened(), set = H5Dopen2(file, "rows", H5P_DEFAULT), type = H5Dget_type(set);
    const hsize_t two = 2;
    /* The types of HDF5 itself. */
    const hid_t colour = H5Tenum_create(H5T_STD_U8LE), want = H5Tcreate(H5T_COMPOUND, 30);
    H5Tenum_insert(colour, "red", &(uint8_t){0});
    H5Tenum_insert(colour, "green", &(uint8_t){1});
    H5Tinsert(want, "colour", 0, colour);
    H5Tinsert(want, "number", 1, H5T_STD_I64LE);
    H5Tinsert(want, "pair", 9, H5Tarray_create2(H5T_IEEE_F64LE, 1, &two));
    H5Tinsert(want, "name", 25, dls_h5_text_type(5));
    assert_true(H5Tequal(type, want) > 0);
    char read[2 * 30];
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0);
    assert_memory_equal(read, cells, sizeof cells);
    const hid_t half = H5Aopen(set, "half", H5P_DEFAULT);
    float value = 0;
    assert_true(H5Tequal(H5Aget_type(half), H5T_IEEE_F32LE) > 0 && H5Aread(half, H5T_NATIVE_FLOAT, &value) >= 0);
    assert_true(value == 0.5F);
    hid_t group;
    int32_t i32;
    uint64_t u64;
    MUST(dls_h5_get_group(file, "g", &group, &e));
    MUST(dls_h5_get_i32(group, "i32", &i32, &e));
    MUST(dls_h5_get_u64(group, "u64", &u64, &e));
    assert_int_equal(i32, -3);
    assert_true(u64 == UINT64_MAX);
    char *text;
    for (int i = 0; i < 2; i++) {
        MUST(dls_h5_get_as_text(i ? group : file, "long", &text, &e));
        assert_int_equal(strlen(text), 199999);
        dls_free(text);
    }
    H5Fclose(file);
}

static dls_status put_twice(dls_h5_node *file, const void *what, dls_error *err)
{
    dls_h5_node *group;
    DLS_TRY(dls_h5_put_group(file, "a", &group, err));
    assert_true(dls_h5_taken(file, "a") && !dls_h5_taken(file, "b"));
    return dls_h5_put_strings(file, what, "x", 1, 2, err);
}

TEST(a_name_twice)
{
    MUST_FAIL(DLS_EOUTPUT, "\"a\" could not be written", dls_h5_save(path, put_twice, "a", &e));
    MUST(dls_h5_save(path, put_twice, "a/a", &e));
}

static dls_status put_many(dls_h5_node *file, const void *what, dls_error *err)
{
    char name[24];
    for (int i = 0; i < 80; i++) {
        dls_h5_node *group;
        snprintf(name, sizeof name, "%d", i);
        DLS_TRY(dls_h5_put_group(file, name, &group, err));
        DLS_TRY(dls_h5_put_i32(file, name, i, err));
    }
    return DLS_OK;
}

/* Links in the order in which they came, and HDF5 can go on with the file. */
TEST(many)
{
    MUST(dls_h5_save(path, put_many, NULL, &e));
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    char name[24];
    for (hsize_t i = 0; i < 80; i++) {
        assert_true(H5Lget_name_by_idx(file, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT) > 0);
        assert_int_equal(atoi(name), i);
    }
    H5Gclose(H5Gcreate2(file, "another", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    MUST(dls_h5_add_text(file, "more", "text", &e));
    assert_true(H5Ldelete(file, "7", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    file = reopened();
    H5G_info_t info;
    assert_true(H5Gget_info(file, &info) >= 0);
    assert_int_equal(info.nlinks, 80);
    assert_true(dls_h5_has(file, "another") && dls_h5_has(file, "79"));
    int32_t value;
    MUST(dls_h5_get_i32(file, "79", &value, &e));
    assert_int_equal(value, 79);
    H5Fclose(file);
}

static int setup(void **state)
{
    snprintf(path, sizeof path, "/tmp/dlsim-h5-%d.h5", (int)getpid());
    return 0;
}

static int teardown(void **state)
{
    unlink(path);
    return 0;
}

GROUP(setup, teardown)
