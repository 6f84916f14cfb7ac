/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Opens measured files, finds their columns, and reads and checks single cells.
 */
#include "predictor/measured/table.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/own.h"
#include "base/suggest.h"
#include "base/units.h"
#include "predictor/measured/words.h"
#include "workload/kinds.h"

#include <stdio.h>
#include <string.h>

dls_status dls_complain(dls_complaints *list, const dls_error *what, dls_error *err)
{
    DLS_TRY(dls_grow(&list->at, &list->cap, list->n + 1, sizeof *list->at, err));
    snprintf(list->at[list->n++].text, sizeof list->at[0].text, "%.120s: %.190s", what->where,
             what->msg);
    return DLS_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void stem_of(const char *path, char *stem, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(stem, size, "%s", slash ? slash + 1 : path);
    stem[strcspn(stem, ".")] = '\0';
}

static void header_key(const dls_csv_cell *cell, char key[DLS_MODEL_KEY])
{
    char text[DLS_MODEL_KEY];
    snprintf(text, sizeof text, "%.*s", (int)(cell->len < sizeof text ? cell->len : 0), cell->s);
    for (char *sign = text; (sign = strchr(sign, '('));) {
        *sign = ' '; /* "step time (ms)": no key goes on behind it */
    }
    dls_model_key(text, key);
}

bool dls_measured_column_is(const dls_measured_table *t, int column, const char *key)
{
    char own[DLS_MODEL_KEY];
    header_key(&t->csv.header[t->col[column]], own);
    return strcmp(own, key) == 0;
}

/* Is "Batch Size" one of the names, "batch_size"? A name in "_s" is only as it is spelled: "steps" are no
 * seconds of a step. */
static bool is_named(const dls_csv_cell *header, const char *names)
{
    char wanted[DLS_MODEL_KEY], key[DLS_MODEL_KEY];
    header_key(header, key);
    for (const char *p = names; *p; p += strcspn(p, "|"), p += *p == '|') {
        const dls_csv_cell name = {.s = p, .len = (uint32_t)strcspn(p, "|")};
        const bool seconds = name.len > 2 && strncmp(p + name.len - 2, "_s", 2) == 0;
        header_key(&name, wanted);
        if (strcmp(key, wanted) == 0 &&
            (!seconds || (header->len == name.len && memcmp(header->s, p, name.len) == 0))) {
            return true;
        }
    }
    return false;
}

/* The letter is preferred. -1: none. */
static int find_column(const dls_csv *csv, const char *names)
{
    int found = dls_csv_find(csv, names);
    for (size_t i = 0; found < 0 && i < csv->n_header; i++) {
        found = is_named(&csv->header[i], names) ? (int)i : -1;
    }
    return found;
}

/* A column that is needed has none of its names. */
static dls_status lacks(const dls_csv *csv, const char *names, dls_error *err)
{
    const size_t first = strcspn(names, "|");
    char others[200];
    size_t n = (size_t)snprintf(others, sizeof others, "%s", names + first + (names[first] == '|'));
    for (char *bar; (bar = strrchr(others, '|')) && n + 1 < sizeof others; n++) {
        memmove(bar + 2, bar + 1, strlen(bar));
        memcpy(bar, ", ", 2);
    }
    return dls_csv_fail(csv, -1, err, "the header lacks the column '%.*s'%s%s%s", (int)first, names,
                        others[0] ? " (or " : "", others, others[0] ? ")" : "");
}

/* One that no column has is of another kind of file. */
static bool take_default(dls_measured_table *t, size_t n, const char *text)
{
    const char *equals = strchr(text, '=');
    bool known = false;
    for (size_t i = 0; equals && i + 1 < n; i++) {
        if (dls_word_is_one_of(t->names[i], text, (size_t)(equals - text))) {
            t->given[i] = equals + 1;
            known = true;
        }
    }
    return known;
}

static dls_status bind(dls_measured_table *t, size_t n, const int *needed,
                       const dls_measured_defaults *defaults, dls_error *err)
{
    DLS_TRY(dls_csv_header(&t->csv, err));
    for (size_t i = 0; i < n; i++) {
        t->col[i] = find_column(&t->csv, t->names[i]);
    }
    for (size_t i = 0; defaults && i < defaults->n; i++) {
        if (take_default(t, n, defaults->text[i]) && defaults->known) {
            defaults->known[i] = true;
        }
    }
    for (const int *k = needed; k && *k >= 0; k++) {
        if (t->col[*k] < 0 && !t->given[*k]) {
            return lacks(&t->csv, t->names[*k], err);
        }
    }
    return DLS_OK;
}

static bool separates(const char *path, const char *text, size_t len, char sep)
{
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    dls_csv_init(&csv, path, text, len, sep);
    return dls_csv_header(&csv, NULL) != DLS_OK || csv.n_header > 1;
}

/* ';', tabs and '|' stand between columns where commas do not. */
static char separator_of(const char *path, const char *text, size_t len)
{
    const char *sep = ",;\t|";
    while (*sep && !separates(path, text, len, *sep)) {
        sep++;
    }
    return *sep ? *sep : ',';
}

dls_status dls_measured_open(dls_measured_table *t, const char *path, const char *const *names,
                             size_t n, const int *needed, const dls_measured_defaults *defaults,
                             dls_error *err)
{
    size_t len = 0;
    *t = (dls_measured_table){.names = names};
    stem_of(path, t->stem, sizeof t->stem);
    DLS_TRY(dls_file_read_plain(path, DLS_FILE_TABLE, &t->text, &len, err));
    dls_csv_init(&t->csv, path, t->text, len, separator_of(path, t->text, len));
    return bind(t, n, needed, defaults, err);
}

static bool is_read(const dls_measured_table *t, size_t n, int column)
{
    bool found = false;
    for (size_t k = 0; k < n && !found; k++) {
        found = t->col[k] == column;
    }
    return found;
}

/* The header of the column that has one of this column's names, and is read in its place; NULL: none does. */
static const dls_csv_cell *read_instead(const dls_measured_table *t, size_t n, size_t column)
{
    for (size_t k = 0; k < n; k++) {
        if (t->col[k] >= 0 && is_named(&t->csv.header[column], t->names[k])) {
            return &t->csv.header[t->col[k]];
        }
    }
    return NULL;
}

/* Of the names of columns that are missing, one that the word is a slip of; NULL: none. Short words are near
 * each other anyway: "cpus" is not "gpus". */
static const char *meant(const dls_measured_table *t, size_t n, const char *word, char name[DLS_MODEL_KEY])
{
    const size_t most = strlen(word) / 5;
    for (size_t k = 0; k < n; k++) {
        for (const char *p = t->names[k]; t->col[k] < 0 && *p; p += strcspn(p, "|"), p += *p == '|') {
            snprintf(name, DLS_MODEL_KEY, "%.*s", (int)strcspn(p, "|"), p);
            if (most > 0 && dls_edit_distance(word, name, most) <= most) {
                return name;
            }
        }
    }
    return NULL;
}

dls_status dls_measured_doubt_columns(const dls_measured_table *t, size_t n, const char *path,
                                      dls_complaints *doubts, dls_error *err)
{
    for (size_t i = 0; i < t->csv.n_header; i++) {
        const dls_csv_cell *cell = &t->csv.header[i];
        char word[DLS_MODEL_KEY], name[DLS_MODEL_KEY];
        snprintf(word, sizeof word, "%.*s", (int)(cell->len < sizeof word ? cell->len : 0), cell->s);
        const dls_csv_cell *other = read_instead(t, n, i);
        if (!is_read(t, n, (int)i) && (other || meant(t, n, word, name))) {
            dls_error what = {.status = DLS_EINPUT};
            snprintf(what.where, sizeof what.where, "%.200s", path);
            if (other) {
                snprintf(what.msg, sizeof what.msg, "column '%s' is not read: '%.*s' is", word,
                         (int)(other->len < DLS_MODEL_KEY ? other->len : 0), other->s);
            } else {
                snprintf(what.msg, sizeof what.msg, "column '%s' is not read%s", word,
                         DLS_DID_YOU_MEAN(name));
            }
            DLS_TRY(dls_complain(doubts, &what, err));
        }
    }
    return DLS_OK;
}

void dls_measured_close(dls_measured_table *t)
{
    dls_csv_fini(&t->csv);
    dls_free(t->text);
    t->text = NULL;
}

dls_status dls_measured_next(dls_measured_table *t, bool *more, dls_error *why, dls_error *err)
{
    const char *before = t->csv.next;
    const dls_status status = dls_csv_next(&t->csv, more, why);
    if (status != DLS_OK && (status == DLS_ENOMEM || t->csv.next == before)) {
        return dls_fail(err, status, why->where, "%s", why->msg);
    }
    if (!*more && !t->any) {
        return dls_fail(err, DLS_EINPUT, t->csv.path, "there is no row below the header");
    }
    t->any = true;
    return DLS_OK;
}

/* ---- cells ----------------------------------------------------------------------------------- */

void dls_measured_word(dls_measured_table *t, int column, const char *otherwise, char *out,
                       size_t size)
{
    const char *text = dls_csv_text(&t->csv, t->col[column]);
    text = *text ? text : t->given[column] ? t->given[column] : otherwise;
    snprintf(out, size, "%s", text);
}

dls_status dls_measured_count(dls_measured_table *t, int column, int64_t otherwise, int64_t min,
                              int64_t max, int64_t *out, dls_error *err)
{
    if (dls_csv_missing(&t->csv, t->col[column])) {
        const char *given = t->given[column];
        *out = otherwise;
        return !given || (dls_units_i64(given, out) && *out >= min && *out <= max)
                   ? DLS_OK
                   : dls_csv_fail(&t->csv, -1, err, "'%s' for '%.*s' is no whole number that it may be",
                                  given, (int)strcspn(t->names[column], "|"), t->names[column]);
    }
    char what[64];
    snprintf(what, sizeof what, "a whole number %lld..%lld", (long long)min, (long long)max);
    return dls_csv_i64(&t->csv, t->col[column], what, 0, min, max, out, err);
}

dls_status dls_measured_ms(const dls_measured_table *t, int column, double *seconds, dls_error *err)
{
    static const struct {
        const char *end, *what;
        int scale; /* a power of ten, to a millionth of a millionth */
    } unit[] = {{"ms", "milliseconds above 0", 9},
                {"us", "microseconds above 0", 6},
                {"s", "seconds above 0", 12},
                {"", "MiB above 0", 9}};
    char key[DLS_MODEL_KEY];
    size_t u = 0;
    int64_t ps;
    header_key(&t->csv.header[t->col[column]], key);
    while (!dls_ends_with(key, unit[u].end)) {
        u++;
    }
    DLS_TRY(dls_csv_scaled(&t->csv, t->col[column], unit[u].what, unit[u].scale, true, 1,
                           INT64_MAX / 2, &ps, err));
    *seconds = (double)ps * 1e-12;
    return DLS_OK;
}

dls_status dls_measured_gpu(dls_measured_table *t, int column, const dls_hardware *hw,
                            const dls_hw_gpu **out, dls_error *err)
{
    dls_error why = {0};
    char name[sizeof t->gpu];
    dls_measured_word(t, column, "", name, sizeof name);
    if (!t->gpu_row || strcmp(t->gpu, name) != 0) {
        if (dls_hardware_gpu(hw, name, &t->gpu_row, &why) != DLS_OK) {
            return dls_csv_fail(&t->csv, t->col[column], err, "%.200s", why.msg);
        }
        memcpy(t->gpu, name, sizeof name);
    }
    *out = t->gpu_row;
    return DLS_OK;
}
