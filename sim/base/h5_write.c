/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The bytes of an HDF5 file: see the header. Names of messages and blocks are those of the specification.
 */
#include "base/h5_write.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "cells are written as they lie in memory"
#endif

enum {
    DATASPACE = 1,
    LINK_INFO = 2,
    DATATYPE = 3,
    FILL_VALUE = 5,
    LINK = 6,
    LAYOUT = 8,
    GROUP_INFO = 10,
    FILTERS = 11,
    ATTRIBUTE = 12,
    ATTRIBUTE_INFO = 21,
    MESSAGE_MAX = 65000,      /* 16 bits hold its size */
    COMPACT_BYTES = 1 << 15,  /* a dataset below lies in its header */
    CHUNK_BYTES = 1 << 17,    /* stay in the cache of a core while they pass the filters */
    CHUNK_CELLS = 16384,
    FLUSH_BYTES = 1 << 20,
    PAGE_BITS = 10,           /* entries of a page of a long index, as a power of two */
    SUPERBLOCK_BYTES = 48
};
#define UNDEFINED UINT64_MAX

/* ---- bytes ----------------------------------------------------------------------------------- */

static unsigned char *room_for(dls_h5_bytes *b, size_t n)
{
    b->failed |= dls_grow(&b->at, &b->room, b->n + n, 1, NULL) != DLS_OK;
    return b->failed ? NULL : b->at + b->n;
}

void dls_h5_bytes_put(dls_h5_bytes *b, const void *data, size_t n)
{
    unsigned char *to = room_for(b, n);
    if (to && n > 0) {
        memcpy(to, data, n);
        b->n += n;
    }
}

void dls_h5_bytes_number(dls_h5_bytes *b, uint64_t value, size_t n)
{
    dls_h5_bytes_put(b, &value, n);
}

/* Bob Jenkins' lookup3, the checksum of all metadata. */
static uint32_t checksum(const unsigned char *data, size_t n)
{
#define TURN(x, k) ((x) << (k) | (x) >> (32 - (k)))
#define MIX(x, y, z, k) (x -= z, x ^= TURN(z, k), z += y)
#define LAST(x, y, k) (x ^= y, x -= TURN(y, k))
    uint32_t a, b, c, next[3];
    a = b = c = 0xdeadbeef + (uint32_t)n;
    for (; n > 12; n -= 12, data += 12) {
        memcpy(next, data, 12);
        a += next[0], b += next[1], c += next[2];
        MIX(a, b, c, 4), MIX(b, c, a, 6), MIX(c, a, b, 8), MIX(a, b, c, 16), MIX(b, c, a, 19), MIX(c, a, b, 4);
    }
    memset(next, 0, sizeof next);
    memcpy(next, data, n);
    a += next[0], b += next[1], c += next[2];
    LAST(c, b, 14), LAST(a, c, 11), LAST(b, a, 25), LAST(c, b, 16), LAST(a, c, 4), LAST(b, a, 14), LAST(c, b, 24);
    return c;
#undef TURN
#undef MIX
#undef LAST
}

/* Of what came since `from`. */
static void put_checksum(dls_h5_bytes *b, size_t from)
{
    dls_h5_bytes_number(b, b->failed ? 0 : checksum(b->at + from, b->n - from), 4);
}

/* ---- types ----------------------------------------------------------------------------------- */

static void code(dls_h5_type *t, uint64_t value, size_t n)
{
    DLS_ASSERT(t->n + n <= sizeof t->code);
    memcpy(t->code + t->n, &value, n);
    t->n += n;
}

static void code_text(dls_h5_type *t, const char *text)
{
    DLS_ASSERT(t->n + strlen(text) < sizeof t->code);
    strcpy((char *)t->code + t->n, text);
    t->n += strlen(text) + 1;
}

/* version << 4 | class, 24 bits that the class explains, bytes */
static void code_head(dls_h5_type *t, uint8_t class, uint32_t bits, size_t size)
{
    t->n = 0;
    t->size = size;
    code(t, class, 1);
    code(t, bits, 3);
    code(t, size, 4);
}

void dls_h5_type_cell(dls_h5_type *t, dls_h5_cell cell, size_t width)
{
    static const uint8_t bytes[] = {[DLS_H5_I32] = 4, [DLS_H5_I64] = 8, [DLS_H5_U32] = 4, [DLS_H5_U64] = 8,
                                    [DLS_H5_BOOL] = 1, [DLS_H5_F32] = 4, [DLS_H5_F64] = 8};
    if (cell == DLS_H5_TEXT) {
        code_head(t, 0x13, 0x11, width); /* filled up with zeros, UTF-8 */
        return;
    }
    const bool real = cell == DLS_H5_F32 || cell == DLS_H5_F64, is_signed = cell == DLS_H5_I32 || cell == DLS_H5_I64;
    const size_t bits = 8 * (size_t)bytes[cell];
    code_head(t, real ? 0x11 : 0x10, real ? (uint32_t)(bits - 1) << 8 | 0x20 : is_signed ? 8 : 0, bytes[cell]);
    code(t, 0, 2); /* the first bit */
    code(t, bits, 2);
    if (real) { /* exponent and mantissa: the first bit of each and how many; what is added to the exponent */
        const bool wide = cell == DLS_H5_F64;
        code(t, wide ? 52 | 11 << 8 | 52 << 24 : 23 | 8 << 8 | 23 << 24, 4);
        code(t, wide ? 1023 : 127, 4);
    }
}

void dls_h5_type_enum(dls_h5_type *t, const char *const *names, size_t n)
{
    dls_h5_type base;
    dls_h5_type_cell(&base, DLS_H5_BOOL, 0);
    code_head(t, 0x38, (uint32_t)n, base.size);
    memcpy(t->code + t->n, base.code, base.n);
    t->n += base.n;
    for (size_t i = 0; i < n; i++) {
        code_text(t, names[i]);
    }
    for (size_t i = 0; i < n; i++) {
        code(t, i, 1);
    }
}

void dls_h5_type_array(dls_h5_type *t, size_t n)
{
    dls_h5_type array;
    code_head(&array, 0x3a, 0, n * t->size);
    code(&array, 1, 1);
    code(&array, n, 4);
    DLS_ASSERT(array.n + t->n <= sizeof t->code);
    memmove(t->code + array.n, t->code, t->n);
    memcpy(t->code, array.code, array.n);
    t->n += array.n;
    t->size = array.size;
}

void dls_h5_type_row(dls_h5_type *t, size_t bytes)
{
    code_head(t, 0x36, 0, bytes);
    t->size = 0;
}

void dls_h5_type_member(dls_h5_type *row, const char *name, const dls_h5_type *member)
{
    uint32_t bytes, n = 0;
    memcpy(&bytes, row->code + 4, 4);
    memcpy(&n, row->code + 1, 2);
    n++;
    memcpy(row->code + 1, &n, 2);
    code_text(row, name);
    code(row, row->size, bytes < 1 << 8 ? 1 : bytes < 1 << 16 ? 2 : bytes < 1 << 24 ? 3 : 4);
    DLS_ASSERT(row->n + member->n <= sizeof row->code && row->size + member->size <= bytes);
    memcpy(row->code + row->n, member->code, member->n);
    row->n += member->n;
    row->size += member->size;
}

/* ---- messages -------------------------------------------------------------------------------- */

static size_t begin_message(dls_h5_bytes *b, unsigned type)
{
    dls_h5_bytes_number(b, type, 4); /* and its size, and no flags */
    return b->n;
}

static void end_message(const dls_h5_bytes *b, size_t from)
{
    if (!b->failed) {
        const size_t size = b->n - from;
        DLS_ASSERT(size <= UINT16_MAX);
        memcpy(b->at + from - 3, &size, 2);
    }
}

/* One value with rank 0. */
static void put_space(dls_h5_bytes *b, int rank, const size_t *dim)
{
    dls_h5_bytes_number(b, 2 | (uint64_t)rank << 8 | (uint64_t)(rank > 0) << 24, 4);
    for (int i = 0; i < rank; i++) {
        dls_h5_bytes_number(b, dim[i], 8);
    }
}

static dls_status state_of(const dls_h5_node *node, const char *name, dls_error *err)
{
    return node->messages.failed || node->file->out.failed ? dls_nomem(err, name, node->messages.n) : DLS_OK;
}

/* HDF5 itself puts it into a heap when the file is there. */
static dls_status put_late(dls_h5_node *at, const char *name, const char *text, dls_error *err)
{
    dls_h5_late *late = dls_alloc_zero(1, sizeof *late);
    if (!late) {
        return dls_nomem(err, name, sizeof *late);
    }
    *late = (dls_h5_late){at->file->late, at, dls_strdup(name), dls_strdup(text)};
    at->file->late = late;
    return late->name && late->text ? DLS_OK : dls_nomem(err, name, strlen(text));
}

dls_status dls_h5_put_attr(dls_h5_node *at, const char *name, const dls_h5_type *type, size_t n, const void *value,
                           dls_error *err)
{
    DLS_ASSERT(value);
    dls_h5_bytes *b = &at->messages;
    const size_t bytes = type->size * (n > 0 ? n : 1), name_bytes = strlen(name) + 1;
    if (bytes + name_bytes + type->n > MESSAGE_MAX) {
        return put_late(at, name, value, err);
    }
    const size_t from = begin_message(b, ATTRIBUTE);
    dls_h5_bytes_number(b, 3 | name_bytes << 16 | type->n << 32 | (n > 0 ? 12ULL : 4ULL) << 48, 8);
    dls_h5_bytes_number(b, 0, 1); /* the name is ASCII, which nobody asks */
    dls_h5_bytes_put(b, name, name_bytes);
    dls_h5_bytes_put(b, type->code, type->n);
    put_space(b, n > 0, &n);
    dls_h5_bytes_put(b, value, bytes);
    end_message(b, from);
    return state_of(at, name, err);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static dls_status create(dls_h5_file *file, dls_h5_node *parent, bool is_group, dls_h5_node **out, dls_error *err)
{
    DLS_TRY(dls_alloc_array(out, 1, sizeof **out, "HDF5", err));
    dls_h5_node *node = *out;
    *node = (dls_h5_node){.file = file, .before = file->last, .parent = parent, .is_group = is_group};
    file->last = node;
    const size_t from = begin_message(&node->messages, ATTRIBUTE_INFO); /* no heap and no tree */
    dls_h5_bytes_number(&node->messages, 0, 2);
    dls_h5_bytes_number(&node->messages, UNDEFINED, 8);
    dls_h5_bytes_number(&node->messages, UNDEFINED, 8);
    end_message(&node->messages, from);
    return state_of(node, "HDF5", err);
}

dls_status dls_h5_file_begin(dls_h5_file *file, int fd, dls_h5_node **root, dls_error *err)
{
    static const unsigned char none[SUPERBLOCK_BYTES];
    *file = (dls_h5_file){.fd = fd};
    dls_h5_bytes_put(&file->out, none, sizeof none);
    return create(file, NULL, true, root, err);
}

static dls_h5_node *find(const dls_h5_node *at, int32_t number)
{
    dls_h5_node *node = at->file->last;
    while (node->parent != at || node->number != number) {
        node = node->before;
    }
    return node;
}

/* One that has a link; `name` is a path, whose groups are made where they are not there. */
static dls_status link_node(dls_h5_node *at, const char *name, bool is_group, dls_h5_node **out, dls_error *err)
{
    const size_t n = strcspn(name, "/");
    const bool last = name[n] == '\0';
    int32_t number = -1;
    if (n == 0 && !last) {
        return link_node(at, name + 1, is_group, out, err);
    }
    const size_t known = at->names.n;
    DLS_TRY(dls_strdict_put(&at->names, name, n, &number, err));
    if ((size_t)number < known) {
        dls_h5_node *there = find(at, number);
        return last || !there->is_group ? dls_h5_unwritten(err, name) : link_node(there, name + n + 1, is_group, out, err);
    }
    dls_h5_bytes *b = &at->messages;
    dls_h5_node *node;
    DLS_TRY(create(at->file, at, is_group || !last, &node, err));
    const size_t from = begin_message(b, LINK);
    dls_h5_bytes_number(b, 1 | 5 << 8, 2); /* its place in order, and two bytes for the length of its name */
    dls_h5_bytes_number(b, (uint64_t)number, 8);
    dls_h5_bytes_number(b, n, 2);
    dls_h5_bytes_put(b, name, n);
    node->number = number;
    node->link = b->n;
    dls_h5_bytes_number(b, UNDEFINED, 8);
    end_message(b, from);
    DLS_TRY(state_of(at, name, err));
    *out = node;
    return last ? DLS_OK : link_node(node, name + n + 1, is_group, out, err);
}

bool dls_h5_taken(const dls_h5_node *at, const char *name)
{
    return dls_strdict_find(&at->names, name, strlen(name)) >= 0;
}

dls_status dls_h5_put_group(dls_h5_node *at, const char *name, dls_h5_node **out, dls_error *err)
{
    return link_node(at, name, true, out, err);
}

/* ---- datasets -------------------------------------------------------------------------------- */

const char *dls_h5_lies(const void *ctx, size_t first, size_t n, size_t width, char *dst)
{
    (void)n, (void)dst;
    return (const char *)ctx + first * width;
}

static void put_fill_value(dls_h5_bytes *b, unsigned when)
{
    const size_t from = begin_message(b, FILL_VALUE);
    dls_h5_bytes_number(b, 3 | when << 8, 2);
    end_message(b, from);
}

/* Cells in the header. */
static void put_compact(dls_h5_bytes *b, size_t n, size_t width, dls_h5_fill_fn fill, const void *ctx)
{
    put_fill_value(b, 0x09);
    const size_t from = begin_message(b, LAYOUT);
    dls_h5_bytes_number(b, 4 | n * width << 16, 4);
    char *to = (char *)room_for(b, n * width);
    if (to) {
        const char *cells = fill(ctx, 0, n, width, to);
        memmove(to, cells, n * width);
        b->n += n * width;
    }
    end_message(b, from);
}

static void put_nothing(dls_h5_bytes *b)
{
    put_fill_value(b, 0x0a);
    const size_t from = begin_message(b, LAYOUT);
    dls_h5_bytes_number(b, 4 | 1 << 8, 2);
    dls_h5_bytes_number(b, UNDEFINED, 8);
    dls_h5_bytes_number(b, 0, 8);
    end_message(b, from);
}

static void put_filters(dls_h5_bytes *b, size_t width, bool deflated)
{
    const size_t from = begin_message(b, FILTERS);
    dls_h5_bytes_number(b, 2 | (deflated ? 3 : 1) << 8, 2);
    if (deflated) { /* shuffle and deflate: optional, one number each */
        dls_h5_bytes_number(b, 2 | 1 << 16 | 1ULL << 32, 6);
        dls_h5_bytes_number(b, width, 4);
        dls_h5_bytes_number(b, 1 | 1 << 16 | 1ULL << 32, 6);
        dls_h5_bytes_number(b, 1, 4);
    }
    dls_h5_bytes_number(b, 3, 6); /* Fletcher's sum */
    end_message(b, from);
}

/* A Fixed Array of the chunks' entries; returns where its header is. */
static uint64_t put_index(dls_h5_file *file, const dls_h5_bytes *index, size_t entry_bytes)
{
    const size_t n = index->n / entry_bytes, page = (size_t)1 << PAGE_BITS;
    const size_t pages = n > page ? (n + page - 1) / page : 0;
    dls_h5_bytes *b = &file->out;
    const uint64_t block = file->flushed + b->n;
    size_t from = b->n;
    const uint64_t header = block + 14 + (pages ? (pages + 7) / 8 + 4 * pages : 0) + index->n + 4;
    dls_h5_bytes_put(b, "FADB\0\1", 6);
    dls_h5_bytes_number(b, header, 8);
    for (size_t i = 0; i < (pages + 7) / 8; i++) { /* which pages are there */
        dls_h5_bytes_number(b, pages - 8 * i < 8 ? 0xff00U >> (pages - 8 * i) & 0xff : 0xff, 1);
    }
    for (size_t first = 0; first < n; first += pages ? page : n) {
        if (pages) {
            put_checksum(b, from);
            from = b->n;
        }
        const size_t count = pages && n - first > page ? page : n - first;
        dls_h5_bytes_put(b, index->at + first * entry_bytes, count * entry_bytes);
    }
    put_checksum(b, from);
    from = b->n;
    dls_h5_bytes_put(b, "FAHD\0\1", 6);
    dls_h5_bytes_number(b, entry_bytes | PAGE_BITS << 8, 2);
    dls_h5_bytes_number(b, n, 8);
    dls_h5_bytes_number(b, block, 8);
    put_checksum(b, from);
    return header;
}

static size_t bytes_of(size_t value)
{
    size_t n = 1;
    while (value >>= 8) {
        n++;
    }
    return n;
}

static dls_status put_chunked(dls_h5_node *set, const char *name, size_t width, const dls_h5_shape *shape,
                              dls_h5_fill_fn fill, const void *ctx, dls_error *err)
{
    /* Whole rows; wide texts and matrices get fewer of them. What is empty of the last chunk is packed, too: equal ones. */
    size_t row = 1;
    for (int i = 1; i < shape->rank; i++) {
        row *= shape->dim[i];
    }
    const size_t room = CHUNK_BYTES / width < CHUNK_CELLS ? CHUNK_BYTES / width : CHUNK_CELLS;
    const size_t most = room / row > 0 ? room / row : 1, chunks = (shape->dim[0] + most - 1) / most;
    const size_t rows = (shape->dim[0] + chunks - 1) / chunks, n = (shape->dim[0] + rows - 1) / rows;
    dls_h5_chunks c = {.n = shape->dim[0] * row, .cells = rows * row, .width = width, .deflated = shape->deflated};
    c.size_bytes = n == 1 ? 8 : 1 + bytes_of(c.cells * width);
    dls_status status = dls_h5_put_chunks(set->file, &c, name, fill, ctx, err);
    if (status == DLS_OK && c.index.failed) {
        status = dls_nomem(err, name, c.index.n);
    }
    if (status == DLS_OK) {
        dls_h5_bytes *b = &set->messages;
        put_fill_value(b, 0x07);
        put_filters(b, width, shape->deflated);
        const size_t from = begin_message(b, LAYOUT);
        dls_h5_bytes_number(b, 4 | 2 << 8 | (n == 1) << 17 | (unsigned)(shape->rank + 1) << 24, 4);
        dls_h5_bytes_number(b, 8, 1);
        dls_h5_bytes_number(b, rows, 8);
        for (int i = 1; i < shape->rank; i++) {
            dls_h5_bytes_number(b, shape->dim[i], 8);
        }
        dls_h5_bytes_number(b, width, 8);
        if (n == 1) { /* no index: size and filters left out, then where */
            dls_h5_bytes_number(b, 1, 1);
            dls_h5_bytes_put(b, c.index.at + 8, 12);
            dls_h5_bytes_put(b, c.index.at, 8);
        } else {
            dls_h5_bytes_number(b, 3 | PAGE_BITS << 8, 2);
            dls_h5_bytes_number(b, put_index(set->file, &c.index, 12 + c.size_bytes), 8);
        }
        end_message(b, from);
    }
    dls_free(c.index.at);
    return status;
}

dls_status dls_h5_put_set(dls_h5_node *at, const char *name, const dls_h5_type *type, dls_h5_shape shape,
                          dls_h5_fill_fn fill, const void *ctx, dls_h5_node **out, dls_error *err)
{
    DLS_ASSERT(shape.rank >= 1 && shape.rank <= 3 && type->size > 0);
    DLS_TRY(link_node(at, name, false, out, err));
    dls_h5_bytes *b = &(*out)->messages;
    size_t from = begin_message(b, DATASPACE), cells = 1;
    put_space(b, shape.rank, shape.dim);
    end_message(b, from);
    from = begin_message(b, DATATYPE);
    dls_h5_bytes_put(b, type->code, type->n);
    end_message(b, from);
    for (int i = 0; i < shape.rank; i++) {
        cells *= shape.dim[i];
    }
    if (cells == 0) {
        put_nothing(b);
    } else if (cells * type->size < COMPACT_BYTES) {
        put_compact(b, cells, type->size, fill, ctx);
    } else {
        DLS_TRY(put_chunked(*out, name, type->size, &shape, fill, ctx, err));
    }
    return state_of(*out, name, err);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void write_at(dls_h5_file *file, const unsigned char *data, size_t n, uint64_t at)
{
    while (n > 0 && !file->first_errno) {
        const ssize_t done = pwrite(file->fd, data, n, (off_t)at);
        if (done > 0) {
            data += done;
            at += (uint64_t)done;
            n -= (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            file->first_errno = done < 0 ? errno : EIO;
        }
    }
}

static void flush(dls_h5_file *file)
{
    write_at(file, file->out.at, file->out.n, file->flushed);
    file->flushed += file->out.n;
    file->out.n = 0;
}

uint64_t dls_h5_out(dls_h5_file *file, const void *data, size_t n)
{
    if (file->out.n > FLUSH_BYTES) {
        flush(file);
    }
    const uint64_t at = file->flushed + file->out.n;
    dls_h5_bytes_put(&file->out, data, n);
    return at;
}

/* The node's header; returns where it is. */
static uint64_t put_header(dls_h5_node *node)
{
    dls_h5_bytes *b = &node->messages, *out = &node->file->out;
    if (node->is_group) {
        size_t from = begin_message(b, LINK_INFO);
        dls_h5_bytes_number(b, 3 << 8, 2); /* their order is tracked, and there are neither heap nor trees */
        dls_h5_bytes_number(b, node->names.n, 8);
        for (int i = 0; i < 3; i++) {
            dls_h5_bytes_number(b, UNDEFINED, 8);
        }
        end_message(b, from);
        from = begin_message(b, GROUP_INFO);
        dls_h5_bytes_number(b, 0, 2);
        end_message(b, from);
    }
    const uint64_t at = dls_h5_out(node->file, "OHDR\2\2", 6);
    const size_t from = out->n - 6;
    dls_h5_bytes_number(out, b->n, 4);
    dls_h5_bytes_put(out, b->at, b->n);
    put_checksum(out, from);
    return at;
}

dls_status dls_h5_file_finish(dls_h5_file *file, dls_error *err)
{
    uint64_t root = UNDEFINED;
    bool failed = false;
    for (dls_h5_node *node = file->last; node; node = node->before) { /* what is in a group came after it */
        root = put_header(node);
        failed |= node->messages.failed;
        if (node->parent && !node->parent->messages.failed) {
            memcpy(node->parent->messages.at + node->link, &root, 8);
        }
    }
    if (failed || file->out.failed) {
        return dls_nomem(err, "HDF5", file->out.n);
    }
    flush(file);
    dls_h5_bytes *b = &file->out;
    dls_h5_bytes_put(b, "\211HDF\r\n\032\n\3\10\10", 12);
    dls_h5_bytes_number(b, 0, 8);
    dls_h5_bytes_number(b, UNDEFINED, 8); /* no extension */
    dls_h5_bytes_number(b, file->flushed, 8);
    dls_h5_bytes_number(b, root, 8);
    put_checksum(b, 0);
    write_at(file, b->at, b->n, 0);
    return DLS_OK;
}

void dls_h5_file_destroy(dls_h5_file *file)
{
    while (file->last) {
        dls_h5_node *node = file->last;
        file->last = node->before;
        dls_strdict_fini(&node->names);
        DLS_FREE_ALL(node->messages.at, node);
    }
    while (file->late) {
        dls_h5_late *late = file->late;
        file->late = late->next;
        DLS_FREE_ALL(late->name, late->text, late);
    }
    dls_free(file->out.at);
}
