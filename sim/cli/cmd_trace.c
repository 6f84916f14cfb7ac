/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim trace: statistics of a trace, conversion, generation.
 */
#include "cli/replay.h"
#include "cli/trace_print.h"

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

static dls_status convert(void *user, dls_call *call, dls_error *err)
{
    const request *r = user;
    dls_trace *trace;
    DLS_TRY(load(r, call, &trace, err));
    dls_trace *assigned = NULL;
    dls_status status = DLS_OK;
    if (r->table) {
        status = dls_trace_assign_builtin(trace, r->table, (uint64_t)r->seed, &assigned, err);
    }
    DLS_THEN(status, dls_trace_save_csv(assigned ? assigned : trace, r->output, err));
    dls_trace_destroy(assigned);
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
