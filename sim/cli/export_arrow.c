/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table of a run as an Arrow IPC file: one record batch, codes as dictionaries. What describes
 * the buffers is written in FlatBuffers, back to front, as Arrow's Schema.fbs, Message.fbs and
 * File.fbs give it; places in it are counted from its end.
 */
#include "base/own.h"
#include "cli/export_tables.h"

#include <assert.h>
#include <string.h>

enum { COLUMNS_MAX = 64, META_MAX = 1 << 16, VERSION = 4 /* V5 */ };
enum { HEADER_SCHEMA = 1, HEADER_DICTIONARY, HEADER_BATCH }; /* union MessageHeader */
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_UTF8 = 5 };        /* union Type */

/* ---- FlatBuffers ----------------------------------------------------------------------------- */

typedef struct flat {
    uint32_t used;
    unsigned char bytes[META_MAX];
} flat;

/* A field of a table: of so many bytes, 0: left out; refers: value is a place. */
typedef struct slot {
    unsigned size;
    bool refers;
    uint64_t value;
} slot;

static void pad(flat *f, size_t more, size_t to)
{
    while ((f->used + more) % to != 0) {
        assert(f->used < META_MAX);
        f->bytes[META_MAX - ++f->used] = 0;
    }
}

static uint32_t put(flat *f, const void *bytes, size_t n)
{
    assert(f->used + n <= META_MAX);
    f->used += (uint32_t)n;
    memcpy(f->bytes + META_MAX - f->used, bytes, n);
    return f->used;
}

/* Little endian, whatever the machine. */
static uint32_t put_number(flat *f, uint64_t value, size_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (unsigned char)(value >> 8 * i);
    }
    pad(f, size, size);
    return put(f, bytes, size);
}

static uint32_t put_reference(flat *f, uint64_t place)
{
    pad(f, 4, 4);
    return put_number(f, f->used + 4 - place, 4);
}

static uint32_t put_text(flat *f, const char *text)
{
    const size_t n = strlen(text);
    pad(f, n + 1, 4);
    put(f, text, n + 1);
    return put_number(f, n, 4);
}

/* n structures of whole int64. */
static uint32_t put_structs(flat *f, const int64_t *values, size_t n, size_t each)
{
    pad(f, 0, 8);
    for (size_t i = n * each; i-- > 0;) {
        put_number(f, (uint64_t)values[i], 8);
    }
    return put_number(f, n, 4);
}

static uint32_t put_references(flat *f, const uint32_t *place, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        put_reference(f, place[i]);
    }
    return put_number(f, n, 4);
}

/* What tells the fields' places lies in front of the table. */
static uint32_t put_table(flat *f, const slot *field, unsigned n)
{
    uint32_t at[8] = {0};
    const uint32_t before = f->used;
    for (unsigned i = 0; i < n; i++) {
        if (field[i].size > 0) {
            at[i] = field[i].refers ? put_reference(f, field[i].value)
                                    : put_number(f, field[i].value, field[i].size);
        }
    }
    const uint32_t table = put_number(f, 4 + 2 * n, 4);
    for (unsigned i = n; i-- > 0;) {
        put_number(f, at[i] ? table - at[i] : 0, 2);
    }
    put_number(f, table - before, 2);
    put_number(f, 4 + 2 * n, 2);
    return table;
}

#define NUMBER(bytes, v) ((slot){.size = (bytes), .value = (uint64_t)(v)})
#define REFERS(place) ((slot){.size = 4, .refers = true, .value = (place)})
#define ABSENT ((slot){.size = 0})
#define PUT_TABLE(f, ...)                                                                          \
    put_table((f), (const slot[]){__VA_ARGS__}, sizeof((const slot[]){__VA_ARGS__}) / sizeof(slot))

static const unsigned char *finish(flat *f, uint32_t root)
{
    pad(f, 4, 8);
    put_reference(f, root);
    return f->bytes + META_MAX - f->used;
}

/* ---- columns --------------------------------------------------------------------------------- */

typedef struct texts {
    int32_t *offset; /* [n + 1] */
    char *bytes;
    size_t n;
} texts;

/* A column of the table; data: NULL: texts. names: what codes mean, if they are codes. */
typedef struct column {
    const char *name;
    dls_result_column c;
    bool codes;
    texts names;
    uint8_t *valid; /* bits; NULL: all are */
    int64_t nulls;
} column;

typedef struct table {
    const dls_saved *run;
    size_t n, rows;
    column column[COLUMNS_MAX + 1];
} table;

static const char *text_of(const table *t, const column *c, size_t i)
{
    return c->codes      ? dls_saved_name(t->run, c->name, (uint32_t)i)
           : i < t->rows ? dls_saved_id(t->run, i)
                         : NULL;
}

static dls_status gather(const table *t, column *c, dls_error *err)
{
    texts *out = &c->names;
    size_t bytes = 0;
    for (const char *text; (text = text_of(t, c, out->n)) != NULL; out->n++) {
        bytes += strlen(text);
    }
    if (bytes > INT32_MAX) {
        return dls_fail(err, DLS_EINPUT, NULL, "column '%s': more than 2 GiB of texts", c->name);
    }
    DLS_TRY(DLS_ALLOC_ALL("texts", err, DLS_ARRAY(out->offset, out->n + 1), DLS_ARRAY(out->bytes, bytes + 1)));
    for (size_t i = 0; i < out->n; i++) {
        const char *text = text_of(t, c, i);
        const size_t n = strlen(text);
        memcpy(out->bytes + out->offset[i], text, n);
        out->offset[i + 1] = out->offset[i] + (int32_t)n;
    }
    return DLS_OK;
}

/* Codes outside of the names are null. */
static dls_status mark_nulls(column *c, dls_error *err)
{
    for (size_t row = 0; row < c->c.n; row++) {
        const int64_t code = dls_export_at(&c->c, row);
        if (code >= 0 && code < (int64_t)c->names.n) {
            continue;
        }
        if (!c->valid) {
            DLS_TRY(dls_alloc_array(&c->valid, c->c.n / 8 + 1, 1, "nulls", err));
            memset(c->valid, 0xff, c->c.n / 8 + 1);
        }
        c->valid[row / 8] &= (uint8_t) ~(1u << row % 8);
        c->nulls++;
    }
    return DLS_OK;
}

static dls_status load(table *t, dls_table which, dls_error *err)
{
    t->n = which == DLS_TABLE_JOBS;
    t->column[0].name = "id";
    for (size_t i = 0; t->n <= COLUMNS_MAX; i++, t->n++) {
        column *c = &t->column[t->n];
        if (!dls_saved_column_at(t->run, which, i, &c->c)) {
            break;
        }
        c->name = c->c.name;
        c->codes = which == DLS_TABLE_JOBS && dls_export_is_code(c->name);
        t->rows = c->c.n;
    }
    for (size_t i = 0; i < t->n; i++) {
        column *c = &t->column[i];
        if (!c->c.data || c->codes) {
            DLS_TRY(gather(t, c, err));
        }
        if (c->codes) {
            DLS_TRY(mark_nulls(c, err));
        }
    }
    return DLS_OK;
}

/* ---- messages -------------------------------------------------------------------------------- */

typedef struct output {
    FILE *to;
    int64_t at;
    size_t n_dictionaries;
    int64_t dictionary[COLUMNS_MAX][3], batch[3]; /* struct Block: where, bytes in front, of body */
} output;

/* What a record batch holds: struct FieldNode and Buffer, and the buffers. */
typedef struct body {
    size_t n_nodes, n_buffers;
    int64_t node[COLUMNS_MAX + 1][2], buffer[3 * COLUMNS_MAX + 3][2], bytes;
    const void *data[3 * COLUMNS_MAX + 3];
} body;

static void emit(output *o, const void *bytes, size_t n)
{
    static const char zeros[8];
    if (n > 0) { /* a column without rows has no bytes */
        fwrite(bytes, 1, n, o->to);
    }
    fwrite(zeros, 1, (8 - n % 8) % 8, o->to);
    o->at += (int64_t)(n + (8 - n % 8) % 8);
}

static void emit_words(output *o, uint32_t first, uint32_t second)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 4; i++) {
        bytes[i] = (unsigned char)(first >> 8 * i);
        bytes[4 + i] = (unsigned char)(second >> 8 * i);
    }
    emit(o, bytes, 8);
}

static void add_buffer(body *b, const void *data, size_t bytes)
{
    b->buffer[b->n_buffers][0] = b->bytes;
    b->buffer[b->n_buffers][1] = (int64_t)bytes;
    b->data[b->n_buffers++] = data;
    b->bytes += (int64_t)(bytes + (8 - bytes % 8) % 8);
}

static void add_texts(body *b, const texts *t)
{
    b->node[b->n_nodes++][0] = (int64_t)t->n;
    add_buffer(b, NULL, 0);
    add_buffer(b, t->offset, (t->n + 1) * sizeof *t->offset);
    add_buffer(b, t->bytes, (size_t)t->offset[t->n]);
}

static void add_column(body *b, const column *c)
{
    if (!c->c.data) {
        add_texts(b, &c->names);
        return;
    }
    b->node[b->n_nodes][0] = (int64_t)c->c.n;
    b->node[b->n_nodes++][1] = c->nulls;
    add_buffer(b, c->valid, c->valid ? c->c.n / 8 + 1 : 0);
    add_buffer(b, c->c.data, c->c.n * dls_export_width(c->c.type));
}

static uint32_t put_batch(flat *f, const body *b, size_t rows)
{
    const uint32_t buffers = put_structs(f, b->buffer[0], b->n_buffers, 2);
    const uint32_t nodes = put_structs(f, b->node[0], b->n_nodes, 2);
    return PUT_TABLE(f, NUMBER(8, rows), REFERS(nodes), REFERS(buffers));
}

/* block: where it was put, NULL: of no interest. */
static void emit_message(output *o, flat *f, int header, uint32_t place, const body *b,
                         int64_t block[3])
{
    const uint32_t message = PUT_TABLE(f, NUMBER(2, VERSION), NUMBER(1, header), REFERS(place),
                                       NUMBER(8, b ? b->bytes : 0));
    const unsigned char *bytes = finish(f, message);
    if (block) {
        /* The second is an int32, and four bytes of nothing. */
        block[0] = o->at;
        block[1] = (int64_t)f->used + 8;
        block[2] = b->bytes;
    }
    emit_words(o, UINT32_MAX, f->used);
    emit(o, bytes, f->used);
    for (size_t i = 0; b && i < b->n_buffers; i++) {
        emit(o, b->data[i], (size_t)b->buffer[i][1]);
    }
    f->used = 0;
}

static uint32_t put_integer_type(flat *f, dls_value_type type)
{
    return PUT_TABLE(f, NUMBER(4, 8 * dls_export_width(type)),
                     NUMBER(1, type == DLS_VALUE_I32 || type == DLS_VALUE_I64));
}

static uint32_t put_field(flat *f, const column *c, size_t number)
{
    const bool is_float = c->c.type == DLS_VALUE_F32 || c->c.type == DLS_VALUE_F64;
    const uint32_t children = put_references(f, NULL, 0), name = put_text(f, c->name);
    if (!c->c.data || c->codes) {
        const uint32_t utf8 = put_table(f, NULL, 0);
        const uint32_t coding =
            c->codes ? PUT_TABLE(f, NUMBER(8, number), REFERS(put_integer_type(f, c->c.type))) : 0;
        return PUT_TABLE(f, REFERS(name), NUMBER(1, c->codes), NUMBER(1, TYPE_UTF8), REFERS(utf8),
                         c->codes ? REFERS(coding) : ABSENT, REFERS(children));
    }
    const uint32_t type = is_float ? PUT_TABLE(f, NUMBER(2, c->c.type == DLS_VALUE_F32 ? 1 : 2))
                                   : put_integer_type(f, c->c.type);
    return PUT_TABLE(f, REFERS(name), NUMBER(1, 0), NUMBER(1, is_float ? TYPE_FLOAT : TYPE_INT),
                     REFERS(type), ABSENT, REFERS(children));
}

static uint32_t put_schema(flat *f, const table *t)
{
    uint32_t field[COLUMNS_MAX + 1];
    const uint16_t one = 1;
    for (size_t i = 0; i < t->n; i++) {
        field[i] = put_field(f, &t->column[i], i);
    }
    const uint32_t fields = put_references(f, field, t->n);
    return PUT_TABLE(f, NUMBER(2, *(const unsigned char *)&one == 0), REFERS(fields));
}

static void emit_file(output *o, flat *f, const table *t)
{
    emit(o, "ARROW1\0", 8);
    emit_message(o, f, HEADER_SCHEMA, put_schema(f, t), NULL, NULL);
    for (size_t i = 0; i < t->n; i++) {
        if (t->column[i].codes) {
            body b = {0};
            add_texts(&b, &t->column[i].names);
            const uint32_t data = put_batch(f, &b, t->column[i].names.n);
            const uint32_t place = PUT_TABLE(f, NUMBER(8, i), REFERS(data));
            emit_message(o, f, HEADER_DICTIONARY, place, &b, o->dictionary[o->n_dictionaries++]);
        }
    }
    body b = {0};
    for (size_t i = 0; i < t->n; i++) {
        add_column(&b, &t->column[i]);
    }
    emit_message(o, f, HEADER_BATCH, put_batch(f, &b, t->rows), &b, o->batch);
    emit_words(o, UINT32_MAX, 0);
    const uint32_t batches = put_structs(f, o->batch, 1, 3);
    const uint32_t dictionaries = put_structs(f, o->dictionary[0], o->n_dictionaries, 3);
    const uint32_t schema = put_schema(f, t);
    const unsigned char *footer = finish(
        f, PUT_TABLE(f, NUMBER(2, VERSION), REFERS(schema), REFERS(dictionaries), REFERS(batches)));
    emit(o, footer, f->used);
    for (unsigned i = 0; i < 4; i++) {
        fputc((int)(f->used >> 8 * i & 0xff), o->to);
    }
    fputs("ARROW1", o->to);
}

dls_status dls_export_arrow(FILE *to, const dls_saved *run, dls_table which, size_t *rows,
                            dls_error *err)
{
    DLS_FREED table *t = dls_alloc_zero(1, sizeof *t);
    DLS_FREED flat *f = dls_alloc_zero(1, sizeof *f);
    dls_status status = t && f ? DLS_OK : dls_nomem(err, "table", sizeof *t + sizeof *f);
    if (status == DLS_OK) {
        t->run = run;
        status = load(t, which, err);
    }
    if (status == DLS_OK) {
        output o = {.to = to};
        emit_file(&o, f, t);
        *rows = t->rows;
    }
    for (size_t i = 0; t && i < t->n; i++) {
        DLS_FREE_ALL(t->column[i].names.offset, t->column[i].names.bytes, t->column[i].valid);
    }
    return status;
}
