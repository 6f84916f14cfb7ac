/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What came of a simulation: columns, numbers, the file.
 */
#include "api/answer.h"
#include "api/numbers.h"
#include "api/simulation.h"
#include "base/assert.h"
#include "base/guard.h"
#include "base/suggest.h"
#include "build_info.h"
#include "results/write.h"
#include "traces/assign.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- columns --------------------------------------------------------------------------------- */

static dls_value_type value_of(dls_field_type type)
{
    switch (type) {
    case DLS_FIELD_U64:
        return DLS_VALUE_U64;
    case DLS_FIELD_I32:
        return DLS_VALUE_I32;
    case DLS_FIELD_U32:
    case DLS_FIELD_KIND:
        return DLS_VALUE_U32;
    case DLS_FIELD_F32:
        return DLS_VALUE_F32;
    case DLS_FIELD_F64:
        return DLS_VALUE_F64;
    case DLS_FIELD_BOOL:
    case DLS_FIELD_STATE:
    case DLS_FIELD_OUTCOME:
    case DLS_FIELD_TEXT: /* never: texts have no data */
        return DLS_VALUE_U8;
    case DLS_FIELD_I64:
        break;
    }
    return DLS_VALUE_I64;
}

bool dls_column_of(const dls_trace_columns *trace, const dls_record *rec, dls_table which,
                   const char *name, size_t i, dls_result_column *out)
{
    dls_column c[DLS_COLUMNS_MAX];
    const dls_rows_of table = (dls_rows_of)which;
    const size_t n = table < DLS_ROWS_TABLES ? dls_schema_columns(trace, rec, table, c) : 0;
    for (i = name ? 0 : i; i < n && name && strcmp(c[i].name, name) != 0;) {
        i++;
    }
    if (i >= n) {
        return false;
    }
    *out = (dls_result_column){.name = c[i].name,
                               .unit = c[i].units,
                               .description = c[i].description,
                               .type = value_of(c[i].type),
                               .n = dls_record_n(rec, table),
                               .data = c[i].data};
    return true;
}

size_t dls_simulation_n_columns(const dls_simulation *sim, dls_table table)
{
    DLS_ASSERT(sim);
    dls_column c[DLS_COLUMNS_MAX];
    const dls_trace_columns *trace = dls_trace_cols(sim->trace);
    return (unsigned)table < DLS_TABLE_COUNT
               ? dls_schema_columns(trace, sim->rec, (dls_rows_of)table, c)
               : 0;
}

bool dls_simulation_column_at(const dls_simulation *sim, dls_table table, size_t i,
                              dls_result_column *out)
{
    DLS_ASSERT(sim && out);
    return dls_column_of(dls_trace_cols(sim->trace), sim->rec, table, NULL, i, out);
}

bool dls_simulation_column(const dls_simulation *sim, dls_table table, const char *name,
                           dls_result_column *out)
{
    DLS_ASSERT(sim && name && out);
    return dls_column_of(dls_trace_cols(sim->trace), sim->rec, table, name, 0, out);
}

const char *dls_simulation_name(const dls_simulation *sim, const char *column, uint32_t code)
{
    DLS_ASSERT(sim && column);
    const size_t d = DLS_NAMED(dls_dicts, column);
    return d == DLS_DICTS                          ? dls_code_name(column, code)
           : code < dls_dicts[d].count(sim->trace) ? dls_dicts[d].at(sim->trace, (int32_t)code)
                                                   : NULL;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static double number_of(const dls_field *f, const void *values)
{
    const void *at = (const char *)values + f->offset;
    switch (f->type) {
    case DLS_FIELD_I64:
        return (double)*(const int64_t *)at;
    case DLS_FIELD_U64:
        return (double)*(const uint64_t *)at;
    case DLS_FIELD_F64:
        return *(const double *)at;
    case DLS_FIELD_BOOL:
        return *(const bool *)at;
    default:
        return (double)NAN;
    }
}

size_t dls_simulation_n_numbers(const dls_simulation *sim)
{
    dls_result_number unused;
    size_t n = 0;
    while (dls_simulation_number_at(sim, n, &unused)) {
        n++;
    }
    return n;
}

bool dls_number_at(const dls_summary *summary, size_t i, dls_result_number *out)
{
    for (int k = 0; summary && k < DLS_SUMMARY_GROUPS; k++) {
        const dls_summary_group *group = &dls_summary_groups[k];
        const void *values = dls_summary_group_of(summary, k);
        for (size_t f = 0; values && f < group->n_fields; f++) {
            const dls_field *field = &group->fields[f];
            if (dls_field_is_number(field) && i-- == 0) {
                *out = (dls_result_number){field->name, field->units, field->description,
                                           number_of(field, values)};
                return true;
            }
        }
    }
    return false;
}

bool dls_simulation_number_at(const dls_simulation *sim, size_t i, dls_result_number *out)
{
    return dls_number_at(sim->summed_up ? &sim->summary : NULL, i, out);
}

bool dls_simulation_number(const dls_simulation *sim, const char *name, double *value)
{
    DLS_ASSERT(sim && name && value);
    dls_result_number number;
    for (size_t i = 0; dls_simulation_number_at(sim, i, &number); i++) {
        if (strcmp(number.name, name) == 0) {
            *value = number.value;
            return true;
        }
    }
    return false;
}

uint64_t dls_simulation_digest(const dls_simulation *sim)
{
    DLS_ASSERT(sim);
    return sim->result ? sim->summary.digest : 0;
}

dls_status dls_simulation_report(dls_simulation *sim, bool json, const char **text, dls_error *err)
{
    DLS_IN_C_LOCALE;
    if (!sim->summed_up) {
        return dls_fail(err, DLS_EUSAGE, NULL, "the simulation is neither finished nor summed up");
    }
    dls_answer answer;
    DLS_TRY(dls_answer_begin(&answer, &sim->report, err));
    dls_status status = DLS_OK;
    if (json) {
        status = dls_summary_json(answer.to, &sim->summary, err);
    } else {
        dls_summary_print(answer.to, &sim->summary, false);
    }
    return dls_answer_end(&answer, status, text, err);
}

const char *dls_simulation_warning(const dls_simulation *sim)
{
    return *sim->warning ? sim->warning : NULL;
}

/* ---- the file -------------------------------------------------------------------------------- */

bool dls_simulation_reads(const dls_simulation *sim, const char *path)
{
    DLS_ASSERT(sim && path);
    return dls_config_reads(sim->config, path);
}

dls_status dls_simulation_write_as(const dls_simulation *sim, const char *path, const char *command,
                                   const char *run_id, dls_error *err)
{
    DLS_ASSERT(sim && path);
    DLS_IN_C_LOCALE;
    DLS_HDF5_LOCKED;
    char hostname[256] = "", started[32];
    const time_t start = time(NULL) - (time_t)sim->summary.wall_s;
    const dls_config *config = sim->config;
    struct tm utc;
    if (!sim->result) {
        return dls_fail(err, DLS_EUSAGE, NULL, "the simulation is not finished");
    }
    if (dls_simulation_reads(sim, path)) {
        return dls_fail(err, DLS_EOUTPUT, path, "is also an input: it would be replaced");
    }
    gethostname(hostname, sizeof hostname - 1);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start, &utc));
    const dls_results_meta meta = {
        .run_id = run_id,
        .seed = config->sim.seed,
        .scheduler = config->scheduler,
        .placement = config->placement,
        .predictor = config->predictions.source,
        .backend = sim->result->facts.predictions.backend,
        .perf = config->world.model,
        .git_sha = DLS_GIT_SHA,
        .build = DLS_BUILD,
        .cmdline = command,
        .config_text = config->text,
        .hostname = hostname,
        .started_utc = started,
        .workload_assign = dls_trace_assigned(sim->trace),
        .cluster = &config->cluster,
    };
    return dls_results_write(path, &meta, sim->trace, sim->result, &sim->summary, err);
}

dls_status dls_simulation_write(const dls_simulation *sim, const char *path, const char *command,
                                dls_error *err)
{
    return dls_simulation_write_as(sim, path, command, NULL, err);
}
