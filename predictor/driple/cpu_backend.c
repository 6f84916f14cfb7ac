/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The CPU backend: picks an engine for this machine, cuts a job into items of one graph size, and
 * lets threads take them. All memory is had before the first thread starts. The result of a pair
 * does not depend on the cut or on the threads.
 */
#include "predictor/driple/cpu_engine.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/team.h"

#include <stdio.h>
#include <string.h>
#if defined(DLS_CPU_AMX)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* Rows in an item, graphs or settings with layers of their own: two blocks of the LSTM's rows share
 * the reading of its weights; with a matrix unit, its rows. */
#define ITEM_ROWS 12
#define ITEM_ROWS_BF16 16
#define DEFAULT_MEMORY_BYTES ((size_t)256 << 20)

#if defined(DLS_CPU_AMX)
/* The unit's registers are large, so Linux wants to be asked once per process; it refuses where the
 * processor or the system has them not. */
static bool has_amx(void)
{
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18, AMX_BF16 = 1 << 22 };
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __builtin_cpu_supports("avx512bf16") && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (d & AMX_BF16) && syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}
#endif

const dls_cpu_engine *dls_cpu_engine_find(dls_precision precision, const char *isa)
{
    const dls_cpu_engine *list[5] = {0};
    size_t n = 0;
    if (precision == DLS_PRECISION_F64) {
        list[n++] = &dls_cpu_f64_scalar;
    } else {
#if defined(__x86_64__)
        __builtin_cpu_init();
        const bool avx512 =
            __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#if defined(DLS_CPU_AMX)
        if (precision == DLS_PRECISION_FAST && avx512 && has_amx()) {
            list[n++] = &dls_cpu_bf16_amx;
        }
#endif
        if (avx512) {
            list[n++] = &dls_cpu_f32_avx512;
        }
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
            list[n++] = &dls_cpu_f32_avx2;
        }
#endif
        list[n++] = &dls_cpu_f32_scalar;
        if (precision == DLS_PRECISION_FAST) {
            list[n++] = &dls_cpu_bf16_emulated;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!isa || strcmp(list[i]->isa, isa) == 0) {
            return list[i];
        }
    }
    return NULL;
}

typedef struct cpu {
    const dls_cpu_engine *engine;
    const dls_inspector *insp;
    void *packed;
    size_t memory_bytes;
    int32_t threads;
    void **memory; /* [threads] kept between calls */
    size_t *bytes; /* [threads] */
    size_t *cut;   /* item i: pairs cut[i] .. cut[i + 1] - 1 */
    size_t n_items, cap_cut;
    bool fell_back; /* to float32, and it has not been said */
} cpu;

static void cpu_close(void *state)
{
    cpu *c = state;
    if (!c) {
        return;
    }
    for (int32_t i = 0; c->memory && i < c->threads; i++) {
        dls_free(c->memory[i]);
    }
    c->engine->unpack(c->packed);
    DLS_FREE_ALL(c->memory, c->bytes, c->cut, c);
}

DLS_OWNER(cpu, cpu_close)

static dls_status cpu_open(const dls_inspector *insp, const dls_driple_config *config, void **state,
                           dls_error *err)
{
    *state = NULL;
    const dls_cpu_engine *engine = dls_cpu_engine_find(config->precision, config->cpu_isa);
    if (!engine) {
        return dls_fail(
            err, DLS_EPREDICTOR, NULL,
            "no CPU engine \"%s\" here (scalar, avx2, avx512, amx and emulated for fast; "
            "float64 has scalar only)",
            config->cpu_isa);
    }
    DLS_HOLD(cpu_close) cpu *c = NULL;
    DLS_TRY(dls_alloc_array(&c, 1, sizeof *c, "CPU backend", err));
    c->engine = engine;
    c->insp = insp;
    c->fell_back = config->precision == DLS_PRECISION_FAST && !engine->bf16;
    c->memory_bytes = config->memory_bytes ? config->memory_bytes : DEFAULT_MEMORY_BYTES;
    c->threads = config->threads > 0 ? config->threads : dls_team_cores();
    c->threads = c->threads > DLS_TEAM_MAX ? DLS_TEAM_MAX : c->threads;
    DLS_TRY(dls_alloc_array(&c->memory, (size_t)c->threads, sizeof *c->memory, "threads", err));
    DLS_TRY(dls_alloc_array(&c->bytes, (size_t)c->threads, sizeof *c->bytes, "threads", err));
    DLS_TRY(engine->pack(insp, &c->packed, err));
    *state = dls_take(&c);
    return DLS_OK;
}

static dls_status cpu_extend(void *state, dls_error *err)
{
    cpu *c = state;
    return c->engine->extend(c->packed, err);
}

static int32_t nodes_of(const dls_driple_job *job, size_t pair)
{
    return job->graphs[job->pairs[pair].graph].n_nodes;
}

/* Does pair i need layers that the one before it does not? */
static bool is_row(const cpu *c, const dls_driple_job *job, size_t i)
{
    const int32_t setting = job->pairs[i].setting;
    return i == 0 || job->pairs[i].graph != job->pairs[i - 1].graph ||
           (setting >= 0 && c->insp->settings[setting].has_conv);
}

/* Items: of one size, at most `most` rows, not cutting through a graph's settings (which would
 * repeat its prefix) unless there are fewer graphs than threads. */
static dls_status cut_items(cpu *c, const dls_driple_job *job, dls_error *err)
{
    size_t n_graphs = 0;
    size_t n_rows = 0;
    for (size_t i = 0; i < job->n_pairs; i++) {
        n_graphs += i == 0 || job->pairs[i].graph != job->pairs[i - 1].graph;
        n_rows += is_row(c, job, i);
    }
    const size_t threads = (size_t)c->threads;
    const bool may_split = n_graphs < threads;
    n_rows = may_split ? job->n_pairs : n_rows;
    /* as many items for every thread, all of about the same size */
    const size_t item = c->engine->bf16 ? ITEM_ROWS_BF16 : ITEM_ROWS;
    const size_t share = (n_rows + threads - 1) / threads;
    const size_t rounds = (share + item - 1) / item;
    const size_t most = (share + rounds - 1) / rounds;
    c->n_items = 0;
    for (size_t i = 0; i < job->n_pairs;) {
        size_t end = i + 1;
        size_t rows = 1;
        const size_t one = c->engine->work_bytes(c->packed, job, i, end);
        const size_t fit = c->memory_bytes / threads / (one ? one : 1);
        const size_t budget = fit < most ? (fit < 1 ? 1 : fit) : most;
        for (; end < job->n_pairs && nodes_of(job, end) == nodes_of(job, i); end++) {
            const bool cuts = job->pairs[end].graph == job->pairs[end - 1].graph;
            rows += may_split || is_row(c, job, end);
            if (rows > budget && (may_split || !cuts || rows > fit)) {
                break;
            }
        }
        DLS_TRY(dls_grow(&c->cut, &c->cap_cut, c->n_items + 2, sizeof *c->cut, err));
        c->cut[c->n_items++] = i;
        c->cut[c->n_items] = end;
        i = end;
    }
    return DLS_OK;
}

typedef struct shift {
    const cpu *c;
    const dls_driple_job *job;
} shift;

static void run_item(void *user, int32_t seat, size_t item)
{
    const shift *s = user;
    const cpu *c = s->c;
    const dls_cpu_work w = {
        .memory = c->memory[seat], .bytes = c->bytes[seat], .dense_above = DLS_CPU_DENSE_ABOVE};
    c->engine->run(c->packed, &w, s->job, c->cut[item], c->cut[item + 1]);
}

static dls_status cpu_forward(void *state, const dls_driple_job *job, dls_error *err)
{
    cpu *c = state;
    if (job->n_pairs == 0) {
        return DLS_OK;
    }
    DLS_TRY(cut_items(c, job, err));
    size_t need = 0;
    for (size_t i = 0; i < c->n_items; i++) {
        const size_t b = c->engine->work_bytes(c->packed, job, c->cut[i], c->cut[i + 1]);
        need = b > need ? b : need;
    }
    const int32_t threads = c->n_items < (size_t)c->threads ? (int32_t)c->n_items : c->threads;
    for (int32_t i = 0; i < threads; i++) {
        if (c->bytes[i] < need) {
            dls_free(c->memory[i]);
            c->bytes[i] = 0;
            c->memory[i] = dls_alloc_aligned(need);
            if (!c->memory[i]) {
                return dls_nomem(err, "working memory of the inspector", need);
            }
            c->bytes[i] = need;
        }
    }
    shift s = {c, job};
    dls_team_run(threads, c->n_items, run_item, &s);
    return DLS_OK;
}

static void cpu_describe(const void *state, char *text, size_t size)
{
    const cpu *c = state;
    snprintf(text, size, "%s, %s, %d thread%s", c->engine->isa,
             c->engine->f64    ? "f64"
             : c->engine->bf16 ? "bf16"
                               : "f32",
             (int)c->threads, c->threads == 1 ? "" : "s");
}

static void cpu_notes(void *state, char *text, size_t size)
{
    cpu *c = state;
    snprintf(text, size, "%s",
             c->fell_back
                 ? "float32: no matrix unit for bf16 (AMX) in this processor, system or build"
                 : "");
    c->fell_back = false;
}

const dls_driple_ops dls_driple_cpu = {.abi = DLS_DRIPLE_ABI,
                                       .name = "cpu",
                                       .open = cpu_open,
                                       .close = cpu_close,
                                       .forward = cpu_forward,
                                       .describe = cpu_describe,
                                       .notes = cpu_notes,
                                       .extend = cpu_extend};
