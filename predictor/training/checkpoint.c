/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Saves and loads the state of a training as HDF5, and the loss curves of finished trainings;
 * refuses a checkpoint of another training.
 */
#include "predictor/training/checkpoint.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/driple/h5io.h"

#include <stddef.h>
#include <string.h>

#define FORMAT "dlsim-training"

/* ---- curves --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t at;
    bool whole; /* an int32_t, else a double */
} columns[] = {{"train_loss", offsetof(dls_train_epoch, train_loss), false},
               {"val_loss", offsetof(dls_train_epoch, val_loss), false},
               {"best_loss", offsetof(dls_train_epoch, best_loss), false},
               {"best_epoch", offsetof(dls_train_epoch, best_epoch), true},
               {"seconds", offsetof(dls_train_epoch, seconds), false}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static double column_of(const dls_train_epoch *e, int column)
{
    const void *at = (const char *)e + columns[column].at;
    return columns[column].whole ? *(const int32_t *)at : *(const double *)at;
}

static void set_column(dls_train_epoch *e, int column, double value)
{
    void *at = (char *)e + columns[column].at;
    if (columns[column].whole) {
        *(int32_t *)at = (int32_t)value;
    } else {
        *(double *)at = value;
    }
}

static dls_status put_course(hid_t group, const dls_train_course *course, dls_error *err)
{
    if (course->n == 0) {
        return DLS_OK;
    }
    DLS_FREED double *data = NULL;
    DLS_TRY(dls_alloc_array(&data, course->n, sizeof *data, "learning curve", err));
    for (int c = 0; c < COLUMNS; c++) {
        for (size_t i = 0; i < course->n; i++) {
            data[i] = column_of(&course->epoch[i], c);
        }
        DLS_TRY(dls_h5io_put_array(group, columns[c].name, data, (int64_t)course->n, 0, false, err));
    }
    return DLS_OK;
}

/* ---- files ---------------------------------------------------------------------------------- */

typedef struct course_list {
    const dls_named_course *course;
    size_t n;
} course_list;

static dls_status write_courses(hid_t file, const void *what, dls_error *err)
{
    const course_list *list = what;
    DLS_TRY(dls_h5_put_text(file, "format", "dlsim-learning-curves", err));
    for (size_t i = 0; i < list->n; i++) {
        DLS_H5_OWNED hid_t group = H5I_INVALID_HID;
        DLS_TRY(dls_h5_put_group(file, list->course[i].name, &group, err));
        DLS_TRY(put_course(group, list->course[i].course, err));
    }
    return DLS_OK;
}

dls_status dls_courses_save(const char *path, const dls_named_course *course, size_t n,
                            dls_error *err)
{
    const course_list list = {course, n};
    return dls_h5_save(path, write_courses, &list, err);
}

/* ---- checkpoints ---------------------------------------------------------------------------- */

static dls_status write_checkpoint(hid_t file, const void *what, dls_error *err)
{
    const dls_checkpoint *c = what;
    const int64_t n = (int64_t)c->net->n_values;
    DLS_TRY(dls_h5_put_text(file, "format", FORMAT, err));
    DLS_TRY(dls_h5_put_text(file, "identity", c->identity, err));
    DLS_TRY(dls_h5_put_i64(file, "steps", c->adam->t, err));
    DLS_TRY(dls_h5io_put_array(file, "value", c->net->value, n, 0, false, err));
    DLS_TRY(dls_h5io_put_array(file, "best", c->best, n, 0, false, err));
    DLS_TRY(dls_h5io_put_array(file, "m", c->adam->m, n, 0, false, err));
    DLS_TRY(dls_h5io_put_array(file, "v", c->adam->v, n, 0, false, err));
    return put_course(file, c->course, err);
}

dls_status dls_checkpoint_save(const dls_checkpoint *c, const char *path, dls_error *err)
{
    return dls_h5_save(path, write_checkpoint, c, err);
}

static dls_status get_course(hid_t file, const char *path, dls_train_course *course, dls_error *err)
{
    for (int k = 0; dls_h5_has(file, columns[0].name) && k < COLUMNS; k++) {
        DLS_FREED double *data = NULL;
        int64_t rows = 0;
        int64_t cols = 0;
        bool is_f32 = false;
        DLS_TRY(
            dls_h5io_get_array(file, columns[k].name, true, path, &data, &rows, &cols, &is_f32, err));
        if (k > 0 && (size_t)rows != course->n) {
            return dls_fail(err, DLS_EINPUT, path, "%s has another length", columns[k].name);
        }
        DLS_TRY(dls_grow(&course->epoch, &course->cap, (size_t)rows, sizeof *course->epoch, err));
        course->n = (size_t)rows;
        for (size_t i = 0; i < course->n; i++) {
            if (k == 0) {
                course->epoch[i] = (dls_train_epoch){.epoch = (int32_t)i + 1};
            }
            set_column(&course->epoch[i], k, data[i]);
        }
    }
    return DLS_OK;
}

static dls_status read_checkpoint(hid_t file, const char *path, const dls_checkpoint *c,
                                  dls_error *err)
{
    char text[DLS_CHECKPOINT_IDENTITY];
    const size_t n = c->net->n_values;
    DLS_TRY(dls_h5io_text(file, "format", true, text, sizeof text, path, err));
    if (strcmp(text, FORMAT) != 0) {
        return dls_fail(err, DLS_EINPUT, path, "not a checkpoint of a training");
    }
    DLS_TRY(dls_h5io_text(file, "identity", false, text, sizeof text, path, err));
    if (strcmp(text, c->identity) != 0) {
        return dls_fail(err, DLS_EINPUT, path,
                        "the checkpoint belongs to another training (%.300s); this one is %.300s",
                        text, c->identity);
    }
    DLS_TRY(dls_h5io_integer(file, "steps", false, &c->adam->t, path, err));
    DLS_TRY(dls_h5io_get_vector(file, "value", path, n, c->net->value, err));
    DLS_TRY(dls_h5io_get_vector(file, "best", path, n, c->best, err));
    DLS_TRY(dls_h5io_get_vector(file, "m", path, n, c->adam->m, err));
    DLS_TRY(dls_h5io_get_vector(file, "v", path, n, c->adam->v, err));
    return get_course(file, path, c->course, err);
}

dls_status dls_checkpoint_load(const char *path, const dls_checkpoint *c, dls_error *err)
{
    DLS_H5_OWNED hid_t file = -1;
    DLS_TRY(dls_h5_open(path, &file, err));
    return read_checkpoint(file, path, c, err);
}
