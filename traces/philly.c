/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables made of Microsoft's Philly trace (Jeon et al., ATC 2019); the trace itself: philly_jobs.c.
 */
#include "traces/table.h"
#include "traces/trace_impl.h"

/* ---- as filtered by the Pollux authors ------------------------------------------------------- */

/* Dates, run times, GPUs and virtual clusters, in no order. */
static const dls_field philly_fields[] = {
    DLS_MUST(DATE, "timestamp", submit_us, 0),
    DLS_MUST(DURATION, "duration", duration_us, DLS_SECONDS),
    DLS_MUST(GPUS, "num_gpus", gpus_milli, 0),
    DLS_MAY(TEXT, "cluster", vc, 0),
};

const dls_trace_format dls_trace_format_philly_csv = DLS_TABLE_FORMAT(
    "philly-csv", "Philly, the Pollux authors' CSV: timestamp,duration,num_gpus,gpu_time,cluster",
    philly_fields, .score = 90, .header = {"timestamp,duration,num_gpus,cluster"},
    .zone = "" /* one unnamed clock */);

/* ---- as converted by the RFold authors, who also converted other traces ---------------------- */

enum { RFOLD_SHAPE = 4 };

/* Sizes may be fractions of a GPU; the duration runs from the first start to the last end, gaps
 * between attempts inside. */
static const dls_field rfold_fields[] = {
    DLS_MUST(TEXT, "#job id", id, 0),
    DLS_MUST(TIME, "arrival time (sec)", submit_us, DLS_SECONDS),
    DLS_MUST(GPUS, "size", gpus_milli, 0),
    DLS_MUST(DURATION, "duration (sec)", duration_us, DLS_SECONDS),
    DLS_OTHER("shape", false),
};

/* "4+4" with size 8 is two nodes; DLS_ABSENT if the parts do not add up to the size. */
static int64_t count_nodes(const dls_csv_cell *cell, int64_t size)
{
    int64_t nodes = 1, sum = 0, part = 0;
    for (uint32_t i = 0; i < cell->len; i++) {
        if (cell->s[i] == '+') {
            nodes++;
            sum += part;
            part = 0;
        } else if (cell->s[i] >= '0' && cell->s[i] <= '9' && part < DLS_GPUS_MAX) {
            part = part * 10 + (cell->s[i] - '0');
        } else {
            return DLS_ABSENT;
        }
    }
    return sum + part == size ? nodes : DLS_ABSENT;
}

static dls_status rfold_row(dls_csv *csv, const int *col, dls_job_rec *rec, dls_trace_builder *b,
                            const char **skip, dls_error *err)
{
    if (rec->gpus_milli % 1000 == 0 && col[RFOLD_SHAPE] >= 0) {
        rec->nodes = count_nodes(&csv->cell[col[RFOLD_SHAPE]], rec->gpus_milli / 1000);
        if (rec->nodes == DLS_ABSENT) {
            dls_trace_builder_noted(b, "shape does not add up to size, not used");
        }
    }
    return DLS_OK;
}

const dls_trace_format dls_trace_format_philly_rfold = DLS_TABLE_FORMAT(
    "philly-rfold", "Philly and others, the RFold authors' CSV: #job id,arrival time (sec),...",
    rfold_fields, .score = 90, .header = {"#job id,arrival time (sec),size,duration (sec)"},
    .flags = DLS_JOB_SPAN_INCLUDES_GAPS, .row = rfold_row);
