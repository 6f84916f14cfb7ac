/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim trace: statistics of a trace, conversion, generation.
 */
#include "base/suggest.h"
#include "cli/replay.h"
#include "cli/trace_print.h"
#include "traces/assign.h"

#define MAX_TABLES 15

/* What becomes of jobs that took no time, in the order of the option's words. */
typedef enum zero { ZERO_KEEP, ZERO_RAISE, ZERO_DROP } zero;

typedef struct request {
    const char *format, *table, *output;
    int32_t zero; /* a zero */
    int64_t seed;
    bool json;
} request;

static dls_status load(const request *r, const dls_call *call, dls_trace **trace, dls_error *err)
{
    const dls_trace_options opts = {.keep_zero_duration = r->zero == ZERO_KEEP,
                                    .drop_zero_duration = r->zero == ZERO_DROP};
    DLS_TRY(dls_trace_load(call->word[0], r->format, &opts, trace, err));
    dls_trace_print_notes(stderr, *trace, false);
    return DLS_OK;
}

#define INPUT_ARGS                                                                                 \
    DLS_NAME(request, format, "format", 0, dls_names_format,                                       \
             "format of FILE; recognised if left out"),                                            \
        DLS_CHOICE(request, zero, "zero-duration", 0, "keep|raise|drop",                           \
                   "keep, raise (to 1 s) or drop jobs that took no time")

/* ---- stats ----------------------------------------------------------------------------------- */

static dls_status stats(void *user, dls_call *call, dls_error *err)
{
    const request *r = user;
    dls_trace *trace;
    dls_trace_stats s;
    DLS_TRY(load(r, call, &trace, err));
    dls_status status = dls_trace_stats_compute(trace, &s, err);
    if (status == DLS_OK) {
        if (r->json) {
            status = dls_trace_print_json(stdout, trace, &s, err);
        } else {
            dls_trace_print_text(stdout, trace, &s);
        }
        dls_trace_stats_fini(&s);
    }
    dls_trace_destroy(trace);
    return status;
}

static const dls_arg stats_args[] = {
    INPUT_ARGS, DLS_SWITCH(request, json, "json", 0, "one JSON object"), DLS_ARGS_END};

static const dls_command trace_stats = {
    .name = "trace stats",
    .summary = "what a trace looks like",
    .usage = "[OPTION]... FILE",
    .about = "Prints what a trace looks like: sizes, durations, arrivals, load.",
    .args = stats_args,
    .words = "a trace",
    .size = sizeof(request),
    .run = stats,
};

/* ---- convert --------------------------------------------------------------------------------- */

/* Replace *trace by one with models of the built-in table `name`. */
static dls_status assign(const char *name, uint64_t seed, dls_trace **trace, dls_error *err)
{
    const char *text = dls_assign_builtin_text(name);
    if (!text) {
        const char *names[MAX_TABLES + 1] = {NULL};
        for (int i = 0; i < MAX_TABLES && dls_assign_builtin_name(i); i++) {
            names[i] = dls_assign_builtin_name(i);
        }
        return dls_fail(err, DLS_EUSAGE, "--assign", "no workload table \"%s\"%s", name,
                        DLS_DID_YOU_MEAN(dls_suggest(name, names)));
    }
    dls_assign_table table;
    dls_trace *assigned;
    DLS_TRY(dls_assign_table_parse(text, name, &table, err));
    const dls_status status = dls_trace_assign(*trace, &table, seed, &assigned, err);
    dls_assign_table_fini(&table);
    if (status == DLS_OK) {
        dls_trace_destroy(*trace);
        *trace = assigned;
    }
    return status;
}

static dls_status convert(void *user, dls_call *call, dls_error *err)
{
    const request *r = user;
    dls_trace *trace;
    DLS_TRY(load(r, call, &trace, err));
    dls_status status = r->table ? assign(r->table, (uint64_t)r->seed, &trace, err) : DLS_OK;
    DLS_THEN(status, dls_trace_save_csv(trace, r->output, err));
    dls_trace_destroy(trace);
    return status;
}

static const dls_arg convert_args[] = {
    INPUT_ARGS,
    DLS_TEXT(request, table, "assign", 0, "TABLE",
             "give jobs without a model one from the built-in table tiresias, muri or sia"),
    DLS_INT(request, seed, "seed", 0, 0, INT64_MAX, "seed of --assign"),
    DLS_TEXT(request, output, "output", 'o', "OUT.csv", "where to write"), DLS_ARGS_END};

static const dls_command trace_convert = {
    .name = "trace convert",
    .summary = "any readable trace in the native CSV format",
    .usage = "[OPTION]... FILE -o OUT.csv",
    .about = "Writes any readable trace in the native CSV format.",
    .args = convert_args,
    .words = "a trace",
    .needs = "output",
    .size = sizeof(request),
    .initial = &(const request){.zero = ZERO_RAISE, .seed = 1},
    .run = convert,
};

/* trace_generate.c */
extern const dls_command dls_trace_generate;

/* ---- the command ----------------------------------------------------------------------------- */

static const dls_command *const parts[] = {&trace_stats, &trace_convert, &dls_trace_generate, NULL};

const dls_command dls_command_trace = {
    .name = "trace",
    .summary = "statistics of a trace, conversion, generation",
    .part = parts,
};
