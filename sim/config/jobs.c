/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From a configuration to its jobs: the trace that it names, and models for jobs that have none.
 */
#include "base/alloc.h"
#include "config/load.h"
#include "config/prepare.h"
#include "traces/assign.h"

dls_status dls_config_load_trace(const dls_config *config, dls_trace **out, dls_error *err)
{
    if (*config->trace_path == '\0') {
        return dls_fail(err, DLS_ECONFIG, "trace.path", "no trace is named");
    }
    return dls_trace_load(config->trace_path, config->trace_format, &config->trace_options, out,
                          err);
}

dls_status dls_config_assign_models(const dls_config *config, const dls_trace *trace,
                                    dls_trace **out, dls_error *err)
{
    const char *name = config->trace_assign;
    const char *text = dls_assign_builtin_text(name);
    char *file = NULL;
    dls_assign_table table = {0};
    dls_status status = DLS_OK;
    if (!text) {
        size_t len;
        status = dls_config_read_text(name, &file, &len, err);
        text = file;
    }
    if (status == DLS_OK) {
        status = dls_assign_table_parse(text, name, &table, err);
    }
    if (status == DLS_OK) {
        status = dls_trace_assign(trace, &table, config->sim.seed, out, err);
    }
    dls_assign_table_fini(&table);
    dls_free(file);
    return status;
}

dls_status dls_config_make_trace(const dls_config *config, dls_trace **out, dls_error *err)
{
    dls_trace *read;
    DLS_TRY(dls_config_load_trace(config, &read, err));
    if (*config->trace_assign == '\0') {
        *out = read;
        return DLS_OK;
    }
    const dls_status status = dls_config_assign_models(config, read, out, err);
    dls_trace_destroy(read);
    return status;
}
