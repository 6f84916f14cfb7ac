/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run's record: memory and digests follow from its tables of columns (columns.h).
 */
#include "record/record.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/assert.h"
#include "base/rng.h"
#include "record/columns.h"

#include <string.h>

static dls_status add_column(dls_record *rec, const dls_record_column *column, dls_error *err)
{
    const size_t width = dls_field_width(column->type);
    void *cells;
    DLS_TRY(dls_alloc_array(&cells, rec->n_jobs, width, "run record", err));
    if (column->unset && rec->n_jobs > 0) {
        memset(cells, 0xff, rec->n_jobs * width);
    }
    dls_column_set(column, rec, cells);
    return DLS_OK;
}

dls_status dls_record_want(dls_record *rec, dls_wanted what, dls_error *err)
{
    const dls_record_table *jobs = &dls_record_tables[DLS_ROWS_JOBS];
    for (size_t i = 0; i < jobs->n; i++) {
        if (jobs->columns[i].optional == what) {
            DLS_TRY(add_column(rec, &jobs->columns[i], err));
        }
    }
    return DLS_OK;
}

dls_status dls_record_create(size_t n_jobs, dls_record **out, dls_error *err)
{
    DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
    DLS_TRY(dls_alloc_array(&rec, 1, sizeof *rec, "run record", err));
    rec->n_jobs = n_jobs;
    rec->want_allocs = rec->want_series = true;
    DLS_TRY(dls_record_want(rec, DLS_WANT_ALWAYS, err));
    *out = dls_take(&rec);
    return DLS_OK;
}

void dls_record_destroy(dls_record *rec)
{
    if (!rec) {
        return;
    }
    for (dls_rows_of t = 0; t < DLS_ROWS_TABLES; t++) {
        dls_table_free(&dls_record_tables[t], dls_record_rows(rec, t));
    }
    DLS_FREE_ALL(rec->stream_beside, rec);
}

/* Behind the number of rows of a table that grows. */
static size_t *room(void *rows)
{
    _Static_assert(offsetof(dls_alloc_rows, cap) == sizeof(size_t) &&
                       offsetof(dls_series_rows, cap) == sizeof(size_t) &&
                       offsetof(dls_start_rows, cap) == sizeof(size_t) &&
                       offsetof(dls_world_rows, cap) == sizeof(size_t),
                   "the number of rows, the room, the files");
    return (size_t *)rows + 1;
}

static void set_files(void *rows, dls_mapped *files)
{
    memcpy(room(rows) + 1, &files, sizeof files);
}

/* A copy of every cell that `from` has; what is not copied belongs to nobody. */
static dls_status copy_table(const dls_record_table *table, const void *from, void *to,
                             dls_error *err)
{
    const size_t n = *(size_t *)to, cap = table->grows ? *room(to) : n;
    dls_status status = DLS_OK;
    if (table->grows) {
        set_files(to, NULL);
    }
    for (size_t i = 0; i < table->n; i++) {
        const dls_record_column *c = &table->columns[i];
        const void *cells = status == DLS_OK ? dls_column_cells(c, from) : NULL;
        const dls_status one =
            dls_duplicate((char *)to + c->offset, cells, n, cap, dls_field_width(c->type),
                          status == DLS_OK ? err : NULL);
        DLS_THEN(status, one);
    }
    return status;
}

dls_status dls_record_copy(const dls_record *from, dls_record **out, dls_error *err)
{
    dls_record *rec;
    DLS_TRY(dls_duplicate(&rec, from, 1, 1, sizeof *rec, err));
    rec->stream_beside = NULL;
    dls_status status = DLS_OK;
    for (dls_rows_of t = 0; t < DLS_ROWS_TABLES; t++) {
        /* After a failure every other pointer still has to become the copy's own: none. */
        static const dls_record nothing;
        const dls_record_table *table = &dls_record_tables[t];
        const dls_record *of = status == DLS_OK ? from : &nothing;
        const dls_status one = copy_table(table, (const char *)of + table->at,
                                          dls_record_rows(rec, t), status == DLS_OK ? err : NULL);
        DLS_THEN(status, one);
    }
    if (status != DLS_OK) {
        dls_record_destroy(rec);
        return status;
    }
    *out = rec;
    return DLS_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

dls_status dls_record_stream(dls_record *rec, const char *path, dls_error *err)
{
    DLS_ASSERT(!rec->stream_beside);
    rec->stream_beside = dls_strdup(path);
    return rec->stream_beside ? DLS_OK : dls_nomem(err, "file name", strlen(path));
}

static void rest(const dls_record_table *table, const void *rows)
{
    const dls_mapped *files = dls_table_files(table, rows);
    for (size_t i = 0; files && i < table->n; i++) {
        dls_mapped_rest(&files[i]);
    }
}

void dls_record_rest(const dls_record *rec)
{
    for (dls_rows_of t = 0; t < DLS_ROWS_TABLES; t++) {
        rest(&dls_record_tables[t], (const char *)rec + dls_record_tables[t].at);
    }
}

/* Room for so many rows in files, into which columns go that are not there yet. On failure each
 * column is in one place or the other. */
static bool extend(const dls_record *rec, const dls_record_table *table, void *rows,
                   dls_mapped *files, size_t n, size_t cap)
{
    for (size_t i = 0; i < table->n; i++) {
        const dls_record_column *c = &table->columns[i];
        const size_t width = dls_field_width(c->type);
        dls_mapped *file = &files[i];
        void *cells;
        if (c->late) {
            continue;
        }
        const bool moves = file->fd < 0;
        if (moves && (!dls_mapped_open(file, rec->stream_beside) ||
                      (n > 0 && !dls_mapped_grow(file, n * width)))) {
            dls_mapped_close(file);
            return false;
        }
        if (moves && n > 0) {
            memcpy(&cells, (char *)rows + c->offset, sizeof cells);
            memcpy(file->at, cells, n * width);
            dls_free(cells);
            dls_column_set(c, rows, file->at);
        }
        if (!dls_mapped_grow(file, cap * width)) {
            return false;
        }
        dls_column_set(c, rows, file->at);
    }
    return true;
}

/* All columns into memory again. */
static dls_status take_back(const dls_record_table *table, void *rows, dls_mapped *files, size_t n,
                            dls_error *err)
{
    for (size_t i = 0; i < table->n; i++) {
        if (files[i].fd >= 0) {
            void *cells;
            DLS_TRY(dls_duplicate(&cells, files[i].at, n, n,
                                  dls_field_width(table->columns[i].type), err));
            dls_column_set(&table->columns[i], rows, cells);
            dls_mapped_close(&files[i]);
        }
    }
    return DLS_OK;
}

/* Make room for the row behind the last in every column of a table that shares one capacity. */
static dls_status grow_more(dls_record *rec, dls_rows_of which, dls_error *err)
{
    const dls_record_table *table = &dls_record_tables[which];
    void *rows = dls_record_rows(rec, which);
    const size_t n = dls_record_n(rec, which);
    size_t *cap = room(rows);
    dls_mapped *files = dls_table_files(table, rows);
    /* A job that comes and ends makes two rows of the series. */
    const bool many = n >= DLS_ROWS_IN_MEMORY || rec->n_jobs >= DLS_ROWS_IN_MEMORY / 2;
    if (rec->stream_beside && !files && many) {
        DLS_TRY(dls_alloc_array(&files, table->n, sizeof *files, "run record", err));
        for (size_t i = 0; i < table->n; i++) {
            files[i].fd = -1;
        }
        set_files(rows, files);
    }
    if (files && rec->stream_beside &&
        extend(rec, table, rows, files, n, *cap + DLS_ROWS_ADDED)) {
        *cap += DLS_ROWS_ADDED;
        return DLS_OK;
    }
    if (files) {
        dls_free(rec->stream_beside); /* for no table again */
        rec->stream_beside = NULL;
        DLS_TRY(take_back(table, rows, files, n, err));
    }
    size_t grown = *cap;
    for (size_t i = 0; i < table->n; i++) {
        const dls_record_column *column = &table->columns[i];
        if (column->late) {
            continue;
        }
        grown = *cap;
        DLS_TRY(dls_grow((char *)rows + column->offset, &grown, n ? n + 1 : rec->n_jobs + 1,
                         dls_field_width(column->type), err));
    }
    *cap = grown;
    return DLS_OK;
}

dls_status dls_record_alloc_row(dls_record *rec, int32_t job, int32_t node, int64_t start_us,
                                uint64_t gpu_mask, int32_t gpus, float rate, size_t *row,
                                dls_error *err)
{
    DLS_DEBUG_ASSERT(job >= 0 && (size_t)job < rec->n_jobs && gpus > 0);
    dls_alloc_rows *a = &rec->allocs;
    DLS_TRY(a->n < a->cap ? DLS_OK : grow_more(rec, DLS_ROWS_ALLOCS, err));
    a->job[a->n] = job;
    a->node[a->n] = node;
    a->start_us[a->n] = start_us;
    a->end_us[a->n] = -1;
    a->gpu_mask[a->n] = gpu_mask;
    a->gpus[a->n] = gpus;
    a->rate[a->n] = rate;
    a->guest[a->n] = 0;
    *row = a->n++;
    return DLS_OK;
}

dls_status dls_record_series(dls_record *rec, const dls_series_point *p, dls_error *err)
{
    DLS_DEBUG_ASSERT(rec->series.n == 0 || p->t_us >= rec->series.t_us[rec->series.n - 1]);
    dls_series_rows *s = &rec->series;
    size_t at = s->n;
    if (at > 0) {
        const size_t last = at - 1;
        if (s->busy_gpus[last] == p->busy_gpus && s->running_jobs[last] == p->running_jobs &&
            s->pending_jobs[last] == p->pending_jobs &&
            s->finished_jobs[last] == p->finished_jobs && s->busy_nodes[last] == p->busy_nodes &&
            s->full_nodes[last] == p->full_nodes) {
            return DLS_OK;
        }
        if (s->t_us[last] == p->t_us) {
            at = last;
        }
    }
    if (at == s->n) {
        DLS_TRY(s->n < s->cap ? DLS_OK : grow_more(rec, DLS_ROWS_SERIES, err));
        s->n++;
    }
    s->t_us[at] = p->t_us;
    s->busy_gpus[at] = p->busy_gpus;
    s->running_jobs[at] = p->running_jobs;
    s->pending_jobs[at] = p->pending_jobs;
    s->finished_jobs[at] = p->finished_jobs;
    s->busy_nodes[at] = p->busy_nodes;
    s->full_nodes[at] = p->full_nodes;
    return DLS_OK;
}

dls_status dls_record_start_row(dls_record *rec, int32_t job, int64_t start_us, size_t *row,
                                dls_error *err)
{
    DLS_DEBUG_ASSERT(job >= 0 && (size_t)job < rec->n_jobs);
    dls_start_rows *s = &rec->starts;
    DLS_TRY(s->n < s->cap ? DLS_OK : grow_more(rec, DLS_ROWS_STARTS, err));
    s->job[s->n] = job;
    s->start_us[s->n] = start_us;
    s->end_us[s->n] = -1;
    *row = s->n++;
    return DLS_OK;
}

dls_status dls_record_world(dls_record *rec, const dls_world_point *p, dls_error *err)
{
    DLS_DEBUG_ASSERT(rec->world.n == 0 || p->t_us >= rec->world.t_us[rec->world.n - 1]);
    dls_world_rows *w = &rec->world;
    size_t at = w->n;
    if (at > 0) {
        const size_t last = at - 1;
        const float now[] = {p->nic_mean, p->nic_max, p->uplink_mean, p->uplink_max};
        const float then[] = {w->nic_mean[last], w->nic_max[last], w->uplink_mean[last],
                              w->uplink_max[last]};
        if (w->failed_gpus[last] == p->failed_gpus && w->guests[last] == p->guests &&
            memcmp(now, then, sizeof now) == 0) {
            return DLS_OK;
        }
        if (w->t_us[last] == p->t_us) {
            at = last;
        }
    }
    if (at == w->n) {
        DLS_TRY(w->n < w->cap ? DLS_OK : grow_more(rec, DLS_ROWS_WORLD, err));
        w->n++;
    }
    w->t_us[at] = p->t_us;
    w->failed_gpus[at] = p->failed_gpus;
    w->guests[at] = p->guests;
    w->nic_mean[at] = p->nic_mean;
    w->nic_max[at] = p->nic_max;
    w->uplink_mean[at] = p->uplink_mean;
    w->uplink_max[at] = p->uplink_max;
    return DLS_OK;
}

/* ---- digests --------------------------------------------------------------------------------- */

static inline uint64_t mix_cell(uint64_t h, const void *cells, size_t width, size_t i)
{
    uint64_t bits;
    uint32_t word;
    if (width == 8) {
        memcpy(&bits, (const char *)cells + i * 8, sizeof bits);
    } else if (width == 4) {
        memcpy(&word, (const char *)cells + i * 4, sizeof word);
        bits = word;
    } else {
        bits = ((const uint8_t *)cells)[i];
    }
    return dls_mix64(h ^ bits);
}

uint64_t dls_record_digest(const dls_record *rec)
{
    const dls_record_table *jobs = &dls_record_tables[DLS_ROWS_JOBS];
    enum { MOST = 16 };
    const void *cells[MOST];
    size_t width[MOST], n = 0;
    for (; n < jobs->n && !jobs->columns[n].optional; n++) {
        DLS_ASSERT(n < MOST);
        cells[n] = dls_column_cells(&jobs->columns[n], rec);
        width[n] = dls_field_width(jobs->columns[n].type);
    }
    uint64_t h = dls_mix64(rec->n_jobs);
    for (size_t i = 0; i < rec->n_jobs; i++) {
        for (size_t k = 0; k < n; k++) {
            h = mix_cell(h, cells[k], width[k], i);
        }
    }
    return h;
}

static uint64_t mix_table(uint64_t h, const dls_record *rec, dls_rows_of which)
{
    const dls_record_table *table = &dls_record_tables[which];
    const size_t n = dls_record_n(rec, which);
    h = dls_mix64(h ^ n);
    for (size_t k = 0; k < table->n && !table->columns[k].optional; k++) {
        const dls_record_column *c = &table->columns[k];
        const void *cells = dls_column_cells(c, (const char *)rec + table->at);
        const size_t width = dls_field_width(c->type);
        for (size_t i = 0; i < n; i++) {
            dls_record_pass(rec, i);
            h = width == 8 ? mix_cell(h, cells, 8, i) : mix_cell(h, cells, width, i);
        }
    }
    return h;
}

uint64_t dls_record_history_digest(const dls_record *rec)
{
    return mix_table(mix_table(0, rec, DLS_ROWS_ALLOCS), rec, DLS_ROWS_SERIES);
}
