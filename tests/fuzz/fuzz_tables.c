/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as one of the smaller inputs: tables of times and of failures, recorded
 * answers, and the files of published simulators. The first byte says which, a NUL parts
 * two files of one input. An error with a message, or something that can be given back.
 */
#include "base/alloc.h"
#include "cluster/failures.h"
#include "fgd/fgd.h"
#include "gavel/core.h"
#include "lucid/lucid.h"
#include "memory_file.h"
#include "muri/muri.h"
#include "predictor/dataset/perf_csv.h"
#include "predictor/sources/keep.h"
#include "tiresias/tiresias.h"
#include "workload/operator/model.h"
#include "world/table.h"

#include <stdlib.h>
#include <string.h>

static const char *const *const path = memory_file_path;

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

static dls_status failures(dls_error *err)
{
    dls_failure_trace t = {0};
    DLS_TRY(dls_failure_trace_load(path[0], 100, &t, err));
    dls_failure_trace_fini(&t);
    return DLS_OK;
}

static dls_status times(dls_error *err)
{
    dls_speed_table t = {0};
    const dls_status status = dls_table_load(path[0], &t, err);
    dls_table_fini(&t);
    return status;
}

static dls_status answers(dls_error *err)
{
    dls_answers *a;
    must(dls_answers_create(&a, NULL) == DLS_OK);
    const dls_status status = dls_answers_load(a, path[0], err);
    dls_answers_destroy(a);
    return status;
}

static dls_status driple_perf(dls_error *err)
{
    dls_perf_csv csv = {0};
    const dls_status status = dls_perf_csv_load(path[0], &csv, err);
    dls_perf_csv_fini(&csv);
    return status;
}

static dls_status operators(dls_error *err)
{
    dls_opmodel model;
    return dls_opmodel_load(path[0], &model, err);
}

static dls_status tiresias(dls_error *err)
{
    dls_tiresias_cluster cluster;
    return dls_tiresias_load_cluster(path[0], &cluster, err);
}

static dls_status samples(dls_error *err)
{
    int64_t *sample = NULL;
    size_t n = 0;
    const dls_status status = dls_tiresias_load_samples(path[0], &sample, &n, err);
    for (size_t i = 0; i < n && status == DLS_OK; i++) {
        must(sample[i] >= 1 && (i == 0 || sample[i] >= sample[i - 1]));
    }
    dls_free(sample);
    return status;
}

static dls_status muri(dls_error *err)
{
    dls_muri_trace t = {0};
    const dls_status status = dls_muri_load(path[0], &t, err);
    dls_muri_trace_fini(&t);
    return status;
}

static dls_status gavel(dls_error *err)
{
    dls_gv_speeds s = {0};
    dls_status status = dls_gv_speeds_load(path[0], &s, err);
    DLS_THEN(status, dls_gv_speeds_scale(&s, path[1], err));
    dls_gv_speeds_fini(&s);
    return status;
}

static dls_status lucid(dls_error *err)
{
    dls_lucid_trace t = {0};
    dls_status status = dls_lucid_load(path[0], &t, err);
    DLS_THEN(status, dls_lucid_load_pairs(path[1], &t, err));
    if (status == DLS_EINPUT) {
        status = dls_lucid_load_forecast(path[1], &t, err);
    }
    dls_lucid_trace_fini(&t);
    return status;
}

static dls_status fgd(dls_error *err)
{
    dls_fgd_input in = {0};
    const dls_status status = dls_fgd_load(path[0], path[1], &in, err);
    dls_fgd_input_fini(&in);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static dls_status (*const readers[])(dls_error *) = {failures,  times,    answers, driple_perf,
                                                         operators, tiresias, samples, muri,
                                                         gavel,     lucid,    fgd};
    dls_error err = {0};
    if (size < 1) {
        return 0;
    }
    const uint8_t *second = memchr(data + 1, 0, size - 1);
    const size_t n = second ? (size_t)(second - data) - 1 : size - 1;
    memory_file_put(0, data + 1, n);
    memory_file_put(1, second ? second + 1 : data, second ? size - n - 2 : 0);
    const dls_status status = readers[data[0] % (sizeof readers / sizeof *readers)](&err);
    must(status == DLS_OK || err.msg[0]);
    return 0;
}
