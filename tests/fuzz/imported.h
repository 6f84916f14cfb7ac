/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as a file of graphs of another program: an error or a sound graph.
 */
#ifndef DLS_FUZZ_IMPORTED_H
#define DLS_FUZZ_IMPORTED_H

#include "ways.h"
#include "workload/graph/import.h"

#include <stdlib.h>

typedef dls_status (*import_fn)(const char *name, const void *data, size_t size, const dls_import_options *options,
                                dls_opgraph **out, dls_import_report *report, dls_error *err);

static inline int import_any(import_fn parse, const uint8_t *data, size_t size)
{
    const dls_import_options options[] = {
        {0}, {.batch = 4, .sequence = 3, .device = DLS_IMPORT_DEVICE_GPU, .training = true}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!read_in_way(i, sizeof options / sizeof *options, data, size)) {
            continue;
        }
        dls_opgraph *g = NULL;
        dls_import_report report;
        dls_error err = {0};
        const dls_status status = parse("fuzz", data, size, &options[i], &g, &report, &err);
        if (status == DLS_OK ? dls_opgraph_validate(g, NULL) != DLS_OK : !err.msg[0] || g) {
            abort();
        }
        if (status == DLS_OK) {
            dls_opgraph_totals totals;
            dls_opgraph_sum(g, &totals);
        }
        dls_opgraph_destroy(g);
    }
    return 0;
}

#endif
