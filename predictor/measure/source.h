/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Something that can be sampled: one file each (source_cpu.c, source_net.c, source_gpu.c).
 */
#ifndef DLS_MEASURE_SOURCE_H
#define DLS_MEASURE_SOURCE_H

#include "predictor/measure/recording.h"

#include <sys/types.h>

typedef struct dls_source {
    void *state;
    size_t n_columns;
    /* One reading into value[n_columns]. A value that cannot be read stays as it was. */
    void (*read)(void *state, double *value);
    void (*close)(void *state);
} dls_source;

/* A process that is sampled under a name of its own, for its columns. */
typedef struct dls_watched {
    char name[24]; /* "" for the command that is recorded, and for the own network */
    pid_t pid;     /* 0: the own network */
} dls_watched;

/* Add the source's columns to r. A source that this machine does not have is not an error: it has
 * no columns, and r->notes says why. cpu: of the process and all that it started. net: of the
 * namespace that it is in. */
dls_status dls_source_cpu(dls_recording *r, const dls_watched *of, dls_source *out,
                          dls_error *err) DLS_MUST_CHECK;
dls_status dls_source_net(dls_recording *r, const dls_watched *of, const char *interfaces,
                          dls_source *out, dls_error *err) DLS_MUST_CHECK;
dls_status dls_source_gpu(dls_recording *r, dls_source *out, dls_error *err) DLS_MUST_CHECK;

/* For sources: one more column, a remark. */
dls_status dls_recording_add(dls_recording *r, dls_column_kind kind, double capacity,
                             dls_error *err, const char *fmt, ...) DLS_MUST_CHECK DLS_PRINTF(5, 6);
void dls_recording_note(dls_recording *r, const char *fmt, ...) DLS_PRINTF(2, 3);

#endif
