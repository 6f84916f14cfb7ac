/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The RFold conversion of Philly (also used for other traces): arrivals in seconds, sizes that may
 * be fractions of a GPU, and the split over servers ("4+4"), which gives the number of nodes. The
 * duration runs from the first start to the last end, gaps between attempts inside.
 */
#include "traces/csv.h"
#include "traces/trace_impl.h"

typedef struct rfold_cols {
    int id, arrival, shape, size, duration;
} rfold_cols;

/* "4+4" with size 8 is two nodes; DLS_ABSENT if the parts do not add up to the size. */
static int64_t count_nodes(const dls_csv *csv, int col, int64_t size)
{
    if (col < 0) {
        return DLS_ABSENT;
    }
    const dls_csv_cell *cell = &csv->cell[col];
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

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const rfold_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.id = dls_csv_str(csv, c->id);
    rec.flags = DLS_JOB_SPAN_INCLUDES_GAPS;
    DLS_TRY(dls_csv_us(csv, c->arrival, "a time in seconds", 6, &rec.submit_us, err));
    DLS_TRY(dls_csv_gpus(csv, c->size, &rec.gpus_milli, err));
    DLS_TRY(dls_csv_duration(csv, c->duration, 6, &rec.duration_us, err));
    if (rec.gpus_milli % 1000 == 0) {
        rec.nodes = count_nodes(csv, c->shape, rec.gpus_milli / 1000);
        if (c->shape >= 0 && rec.nodes == DLS_ABSENT) {
            dls_trace_builder_noted(b, "shape does not add up to size, not used");
        }
    }
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_rfold(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    rfold_cols c;
    const dls_csv_bind binds[] = {
        {"#job id", &c.id, true},
        {"arrival time (sec)", &c.arrival, true},
        {"shape", &c.shape, false},
        {"size", &c.size, true},
        {"duration (sec)", &c.duration, true},
    };
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "#job id,arrival time (sec),size,duration (sec)") ? 90 : 0;
}

const dls_trace_format dls_trace_format_philly_rfold = {
    .name = "philly-rfold",
    .summary = "Philly and others, the RFold authors' CSV: #job id,arrival time (sec),...",
    .sniff = sniff,
    .read = read_rfold,
};
