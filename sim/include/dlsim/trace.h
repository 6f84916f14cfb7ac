/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A job trace in memory: one column per field, rows in order of submission.
 *
 * A trace is built once by a reader or the generator through a dls_trace_builder, sorted, and read
 * only afterwards: several simulations may share it. Times are integer microseconds since the
 * trace's own zero; GPUs are whole and form a gang (all or nothing).
 *
 *      #include <dlsim/trace.h>
 *
 *      dls_status two_jobs(dls_trace **out, dls_error *err)
 *      {
 *          dls_trace_builder *builder;
 *          DLS_TRY(dls_trace_builder_create(NULL, &builder, err));
 *          dls_status status = DLS_OK;
 *          for (int64_t i = 0; i < 2 && status == DLS_OK; i++) {
 *              dls_job_rec job;
 *              dls_job_rec_init(&job);
 *              job.submit_us = i * 60 * DLS_US_PER_S;
 *              job.duration_us = 3600 * DLS_US_PER_S;
 *              job.gpus_milli = 4000;
 *              status = dls_trace_builder_add(builder, &job, "two jobs", err);
 *          }
 *          status = status ? status : dls_trace_builder_finish(builder, out, err);
 *          if (status != DLS_OK) {
 *              dls_trace_builder_destroy(builder);
 *          }
 *          return status;
 *      }
 */
#ifndef DLSIM_TRACE_H
#define DLSIM_TRACE_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLS_US_PER_S INT64_C(1000000)
/* "Not in the file", for every optional number. */
#define DLS_ABSENT INT64_C(-1)
/* No time of a trace may lie beyond: 1000 years in microseconds, so sums never overflow. */
#define DLS_TIME_MAX_US (INT64_C(31557600000) * DLS_US_PER_S)
/* A gang of more GPUs than this is refused as a mistake in the file. */
#define DLS_GPUS_MAX 1000000

/* How a job ended in the world that the trace was recorded in. XX(NAME, text) */
#define DLS_OUTCOME_MAP(XX)                                                                        \
    XX(COMPLETED, "completed")                                                                     \
    XX(KILLED, "killed")                                                                           \
    XX(FAILED, "failed")                                                                           \
    XX(TIMEOUT, "timeout")                                                                         \
    XX(NODE_FAIL, "node_fail")                                                                     \
    XX(PREEMPTED, "preempted")                                                                     \
    XX(RUNNING, "running")                                                                         \
    XX(PENDING, "pending")                                                                         \
    XX(UNKNOWN, "unknown")

typedef enum dls_outcome {
#define XX(name, text) DLS_OUTCOME_##name,
    DLS_OUTCOME_MAP(XX) DLS_OUTCOME_COUNT
#undef XX
} dls_outcome;

/* What is odd about a job, because every public trace breaks some assumption. XX(NAME, bit, text) */
#define DLS_JOB_FLAG_MAP(XX)                                                                       \
    XX(CLAMPED, 0, "duration cut off by whoever made the file")                                    \
    XX(ZERO_DURATION, 1, "zero or negative duration in the file")                                  \
    XX(SPAN_INCLUDES_GAPS, 2, "duration contains the gaps between attempts")                       \
    XX(DURATION_INCLUDES_QUEUE, 3, "duration contains the queueing delay")                         \
    XX(CENSORED, 4, "end not seen by the recorder")                                                \
    XX(SYNTHETIC_MODEL, 5, "model drawn at random by whoever made the file")                       \
    XX(FRACTIONAL_GPUS, 6, "fractional GPU request rounded up")                                    \
    XX(ASSIGNED_MODEL, 7, "model taken from a workload_assign table")                              \
    XX(NO_DURATION, 8, "no duration in the file; taken from iterations or a profile")

typedef enum dls_job_flag {
#define XX(name, bit, text) DLS_JOB_##name = 1 << (bit),
    DLS_JOB_FLAG_MAP(XX)
#undef XX
} dls_job_flag;
#define DLS_JOB_FLAG_COUNT 9

/* One job on its way into a trace. Strings are borrowed during the call only and have at most 65,536
 * bytes, as cells of CSV files; NULL means absent.
 * Set it up with dls_job_rec_init, then fill in what the file has. */
typedef struct dls_job_rec {
    const char *id;         /* as in the file; NULL: the 0-based row number */
    int64_t submit_us;      /* >= 0 */
    int64_t gpus_milli;     /* 1/1000 GPU over the whole job, > 0 */
    int64_t duration_us;    /* run time on the recorded GPUs without queueing; DLS_ABSENT */
    int64_t iterations;     /* DLS_ABSENT */
    const char *model;
    int64_t batch;          /* global batch size; DLS_ABSENT */
    const char *user, *vc;  /* vc: virtual cluster, tenant, organisation */
    dls_outcome outcome;
    int64_t queue_us;       /* recorded wait: for reference, never an input of a policy */
    int64_t nodes;          /* asked for or used; DLS_ABSENT */
    const char *gpu_types;  /* alternatives joined by '|'; NULL or "": any */
    int64_t cpu_milli;      /* 1/1000 core over the whole job; DLS_ABSENT */
    int64_t mem_mib;        /* over the whole job; DLS_ABSENT */
    int64_t priority;       /* larger is more important; DLS_ABSENT */
    const char *job_class;  /* qos, type, category */
    int64_t deadline_us;    /* absolute; DLS_ABSENT */
    int64_t limit_us;       /* the user's run time limit; DLS_ABSENT */
    int64_t estimate_us;    /* a prediction shipped with the trace; DLS_ABSENT */
    int64_t min_gpus, max_gpus; /* an elastic job can use these; DLS_ABSENT: no fewer, no more */
    int64_t attempts;       /* scheduling attempts recorded; DLS_ABSENT */
    uint32_t flags;         /* dls_job_flag bits */
} dls_job_rec;

DLS_API void dls_job_rec_init(dls_job_rec *rec);

typedef struct dls_trace dls_trace;
typedef struct dls_trace_builder dls_trace_builder;

/* The columns. Each pointer is an array of n jobs, owned by the trace; an optional column that no
 * job fills is NULL (read it through dls_trace_i64). Codes index the string tables below. */
typedef struct dls_trace_columns {
    size_t n;
    const int64_t *submit_us;   /* ascending */
    const int64_t *duration_us; /* >= 0, or DLS_ABSENT */
    const int32_t *gpus;        /* >= 1, fractions rounded up */
    const int32_t *model;       /* code in models, -1 absent */
    const int32_t *vc;          /* code in vcs, -1 absent */
    const int32_t *gpu_types;   /* code in gpu_type_sets, -1 any */
    const uint8_t *outcome;     /* dls_outcome */
    const uint32_t *flags;      /* dls_job_flag bits */
    const uint32_t *row;        /* 0-based data row in the file: breaks ties of submit_us */
    /* optional */
    const int64_t *gpus_milli;
    const int64_t *iterations, *batch, *queue_us, *nodes, *cpu_milli, *mem_mib, *priority;
    const int64_t *deadline_us, *limit_us, *estimate_us, *attempts;
    const int64_t *min_gpus, *max_gpus;
    const int32_t *user, *job_class; /* codes in users, classes */
} dls_trace_columns;

/* What a reader saw, for the report that every replay starts with. */
typedef struct dls_trace_info {
    char path[512];
    char format[32];
    char sha256[65];            /* of the bytes of the file, hexadecimal; "" for a generated trace */
    char epoch[40];             /* wall-clock text of time 0, "" if unknown */
    uint64_t rows_read;         /* data rows seen */
    uint64_t rows_skipped;      /* left out, see notes */
    uint64_t rows_changed;      /* mended, see notes */
    uint64_t flag_count[DLS_JOB_FLAG_COUNT];
    char notes[3072];           /* "reason: count" lines, some with the first line of the file that
                                   counts, each ended by '\n' */
} dls_trace_info;

DLS_API void dls_trace_destroy(dls_trace *trace); /* NULL-safe */
DLS_API const dls_trace_columns *dls_trace_cols(const dls_trace *trace);
DLS_API const dls_trace_info *dls_trace_about(const dls_trace *trace);
/* Borrowed strings; "" if absent. */
DLS_API const char *dls_trace_id(const dls_trace *trace, size_t job);
/* Of a job that 'dlsim whatif --load' has copied from another: the other's id. */
DLS_API const char *dls_trace_origin(const dls_trace *trace, size_t job);
DLS_API const char *dls_trace_model(const dls_trace *trace, int32_t code);
DLS_API const char *dls_trace_vc(const dls_trace *trace, int32_t code);
DLS_API const char *dls_trace_user(const dls_trace *trace, int32_t code);
DLS_API const char *dls_trace_class(const dls_trace *trace, int32_t code);
DLS_API const char *dls_trace_gpu_types(const dls_trace *trace, int32_t code);
/* How many distinct codes there are. */
DLS_API size_t dls_trace_n_models(const dls_trace *trace);
DLS_API size_t dls_trace_n_vcs(const dls_trace *trace);
DLS_API size_t dls_trace_n_users(const dls_trace *trace);
DLS_API size_t dls_trace_n_classes(const dls_trace *trace);
DLS_API size_t dls_trace_n_gpu_types(const dls_trace *trace);
/* The error (EINPUT) of a run that needs the duration of a job which has none: no job has one, or only
 * some have not. */
DLS_API dls_status dls_trace_no_duration(const dls_trace *trace, size_t job,
                                         dls_error *err) DLS_MUST_CHECK;
/* column[job], or DLS_ABSENT when the trace does not have the column. */
static inline int64_t dls_trace_i64(const int64_t *column, size_t job)
{
    return column ? column[job] : DLS_ABSENT;
}

/* ---- building ---------------------------------------------------------------------------------- */

/* What a reader does with a zero or negative duration, and with ids that repeat. */
typedef struct dls_trace_options {
    bool keep_zero_duration;   /* false (default): raise to 1 s and flag; true: keep 0 and flag */
    bool drop_zero_duration;   /* leave such jobs out, counted */
    bool allow_duplicate_ids;  /* false (default): a repeated id is an error */
    bool philly_span;          /* Philly log: duration from first start to last end, gaps inside */
    bool swf_processor_is_gpu; /* SWF: 1 processor = 1 GPU (must be asked for) */
    int64_t max_jobs;          /* read at most so many jobs; <= 0: all */
} dls_trace_options;

/* A builder fails early: add checks ranges (DLS_TIME_MAX_US, DLS_GPUS_MAX, signs), lengths of
 * texts and duplicate ids, with `where` ("file:line") in the report. finish sorts by (submit_us, row), counts the
 * flags, and *takes* the builder. On any failure the builder stays destroyable. */
DLS_API dls_status dls_trace_builder_create(const dls_trace_options *opts, dls_trace_builder **out,
                                            dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_trace_builder_destroy(dls_trace_builder *b); /* NULL-safe */
DLS_API dls_status dls_trace_builder_add(dls_trace_builder *b, const dls_job_rec *rec,
                                         const char *where, dls_error *err) DLS_MUST_CHECK;
/* Count a row that was left out or mended, with a short reason ("no attempt", "duration raised"). */
DLS_API void dls_trace_builder_skipped(dls_trace_builder *b, const char *reason);
DLS_API void dls_trace_builder_changed(dls_trace_builder *b, const char *reason);
DLS_API dls_trace_info *dls_trace_builder_info(dls_trace_builder *b); /* path, format, epoch, ... */
DLS_API dls_status dls_trace_builder_finish(dls_trace_builder *b, dls_trace **out,
                                            dls_error *err) DLS_MUST_CHECK;

/* ---- formats ----------------------------------------------------------------------------------- */

/* A whole input in memory, decompressed; text[len] is '\0'. */
typedef struct dls_trace_source {
    const char *path; /* for messages */
    const char *text; /* without a UTF-8 byte order mark */
    size_t len;
    const dls_trace_options *opts; /* not NULL */
} dls_trace_source;

/* One trace format. A file under traces/ that defines `const dls_trace_format dls_trace_format_X`
 * with X its own name is found by the build; nothing else is edited. */
typedef struct dls_trace_format {
    const char *name;    /* "philly-csv" */
    const char *summary; /* one line for `dlsim list formats` */
    /* How sure the format is that src is its own, from the first bytes: 0 no, 100 certain. */
    int (*sniff)(const dls_trace_source *src);
    dls_status (*read)(const dls_trace_source *src, dls_trace_builder *b, dls_error *err);
    /* For tables of text, in place of either function: which columns there are (traces/table.h). */
    const struct dls_trace_table *table;
} dls_trace_format;

/* All formats by name, ended by NULL. */
DLS_API const dls_trace_format *const *dls_trace_formats(void);

/* Read a trace: plain or gzip, "-" for standard input; format NULL or "auto" recognises it from its
 * first bytes. Errors name file, line and column and what was expected. opts may be NULL. */
DLS_API dls_status dls_trace_load(const char *path, const char *format,
                                  const dls_trace_options *opts, dls_trace **out,
                                  dls_error *err) DLS_MUST_CHECK;

/* The same of a text in memory, not gzip; src->path is what messages and results call it. Nothing
 * of src is kept. */
DLS_API dls_status dls_trace_of_text(const dls_trace_source *src, const char *format,
                                     dls_trace **out, dls_error *err) DLS_MUST_CHECK;

/* Write the native CSV (see docs/traces.md), "-" for standard output: what dls_trace_load reads back to an equal
 * trace. */
DLS_API dls_status dls_trace_save_csv(const dls_trace *trace, const char *path,
                                      dls_error *err) DLS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
