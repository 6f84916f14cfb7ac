/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the result of a configuration follows from, as a number.
 *
 *      id = SHA-256 of (program, plug-ins of its policies, trace,
 *                       resolved text with the content of each file in place of its name)
 *
 * A file counts whether the configuration names it or it is the usual one; of a folder, all below
 * it that is not hidden. Each is read once for all points.
 */
#ifndef DLS_SWEEP_IDENTITY_H
#define DLS_SWEEP_IDENTITY_H

#include "base/sha256.h"
#include "config/config.h"

#include <sys/types.h>
#include <time.h>

#define DLS_SWEEP_ID 33 /* 32 hexadecimal digits and the terminator */

/* The inputs of a sweep: every file that was read for an id. */
typedef struct dls_sweep_input {
    char sha256[DLS_SHA256_HEX];
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec changed;
} dls_sweep_input;

typedef struct dls_sweep_inputs {
    dls_strdict paths;
    dls_sweep_input *input; /* [paths.n] */
    size_t cap;
} dls_sweep_inputs;

void dls_sweep_inputs_fini(dls_sweep_inputs *inputs);

/* trace_sha256: of the trace as it was read. Errors: ECONFIG (an input that cannot be read),
 * ENOMEM.
 */
dls_status dls_sweep_identify(dls_sweep_inputs *inputs, const dls_config *config,
                              const dls_registry *registry, const char *trace_sha256,
                              char id[DLS_SWEEP_ID], dls_error *err) DLS_MUST_CHECK;
/* Whether the inputs are still what they were, by their size and time. Errors: EINPUT names one
 * that is not. O(inputs) calls of the system. */
dls_status dls_sweep_inputs_check(const dls_sweep_inputs *inputs, dls_error *err) DLS_MUST_CHECK;

#endif
