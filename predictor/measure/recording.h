/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a job on this machine did, sampled while it ran: GPUs, network, processors. A recording
 * keeps what the kernel and the driver count, with the time of every reading; series at a fixed
 * interval are made from it afterwards, so that a late reading loses nothing.
 *
 *      command --> dls_record --> dls_recording --> dls_recording_series --> dls_burst_analyze
 *                                    |    ^
 *                                    v    |
 *                                   R.h5 (docs/perf.md)
 */
#ifndef DLS_MEASURE_RECORDING_H
#define DLS_MEASURE_RECORDING_H

#include "predictor/measure/burst.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DLS_RECORDING_TEXT 256

typedef enum dls_column_kind {
    DLS_COLUMN_LEVEL,  /* the value at a time: percent, bytes */
    DLS_COLUMN_COUNTER /* grows; what counts is how fast: bytes, seconds */
} dls_column_kind;

typedef struct dls_column {
    char name[64]; /* "net.eth0.rx_bytes" */
    dls_column_kind kind;
    double capacity; /* of the level or of the rate per second; 0: not known */
} dls_column;

typedef struct dls_recording {
    char command[DLS_RECORDING_TEXT]; /* cut if it is longer */
    char notes[DLS_RECORDING_TEXT];   /* what could not be sampled, and why; "" */
    double interval_s;                /* between readings, as asked for */
    int32_t exit_code;                /* of the command; 128 + signal if one ended it */
    int64_t began_ns;                 /* the first reading on CLOCK_MONOTONIC; 0: not known */
    dls_column *columns;              /* [n_columns] */
    int64_t *time_ns;                 /* [n] since the first reading, ascending */
    double *value;                    /* [n][n_columns]; counters since the first reading */
    size_t n_columns, n;
    size_t column_cap, time_cap, value_cap;
} dls_recording;

typedef struct dls_record_options {
    double interval_s;      /* 0.001 .. 3600 */
    const char *interfaces; /* of the network, joined by commas; NULL: all but loopback */
    bool no_gpu;            /* do not look for NVIDIA's library */
    /* NAME:PID[,...]: these processes, each with the network of its namespace, in place of the
     * command and the own network; columns "cpu.NAME.seconds", "net.NAME.IF.rx_bytes". NULL: none
     */
    const char *processes;
    /* A signal for the command, set to its number from a handler; set to 0 when passed on. May be
     * NULL. */
    volatile sig_atomic_t *forward;
} dls_record_options;

/* Run argv (NULL at the end) and sample until it ends; it inherits standard input and output. A
 * command that cannot be started is ERUN and *out has exit_code 127, or 126 if it is no program.
 * Without a GPU or a driver the GPU's columns are missing and notes say why. EINPUT: an interface
 * that is not there, an interval out of range, a process that is not there. *out is to be released
 * in any case. */
dls_status dls_record(char *const argv[], const dls_record_options *options, dls_recording *out,
                      dls_error *err) DLS_MUST_CHECK;
void dls_recording_fini(dls_recording *r);

/* Samples that no command was run for, as a recording of a machine with one GPU and one network:
 * x[resource][n] are means over intervals, use of the GPU and of its memory in 0..1, received and
 * sent in bytes per second; network_bps: the link's, 0: not known. Only columns and readings are
 * set, command and notes are the caller's. *out is to be released in any case. O(n). Errors: EINPUT
 * (no sample, an interval not above 0, too long a time), ENOMEM. */
dls_status dls_recording_of_samples(double *const x[DLS_RESOURCES], size_t n, double interval_s,
                                    double network_bps, dls_recording *out,
                                    dls_error *err) DLS_MUST_CHECK;

/* A column at a fixed interval: levels as last read, counters as rates per second between points of
 * the line through the readings, so that nothing is counted twice or lost; one that goes back is an
 * error. *x[n] is the caller's
 * (dls_free). EINPUT: a recording shorter than two intervals. O(readings + n). */
dls_status dls_recording_series(const dls_recording *r, size_t column, double interval_s,
                                double **x, size_t *n, dls_error *err) DLS_MUST_CHECK;

/* HDF5; the file appears when it is whole. EOUTPUT; EINPUT. */
dls_status dls_recording_save(const dls_recording *r, const char *path,
                              dls_error *err) DLS_MUST_CHECK;
dls_status dls_recording_load(const char *path, dls_recording *out, dls_error *err) DLS_MUST_CHECK;

#endif
