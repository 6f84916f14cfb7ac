/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The CPU as a device: one core, products by the system's BLAS, and times the thread's own, so that
 * other programs on the machine count little.
 */
#include "workload/operator/meter.h"

#include "base/alloc.h"

#include <dlfcn.h>
#include <gsl/gsl_cblas.h>
#include <gsl/gsl_sort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS_LEAST 3
#define RUNS_MOST 101
/* Operands take turns until they are more than any cache holds, as those of a training step. */
#define OPERANDS_BYTES ((size_t)96 << 20)

typedef void (*sgemm)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, int, int, int,
                      float, const float *, int, const float *, int, float, float *, int);

/* *device becomes cblas_sgemm: OpenBLAS's, the system's or the loops that come with GSL. */
static int cpu_open(void **device, char *name, size_t name_size, char *err, size_t err_size)
{
    static const char *const libraries[] = {"libopenblas.so.0", "libblas.so.3"};
    const sgemm loops = cblas_sgemm;
    const char *whose = "GSL";
    void (*set_threads)(int) = NULL;
    memcpy(device, &loops, sizeof loops);
    for (size_t i = sizeof libraries / sizeof libraries[0]; i-- > 0;) {
        void *const library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL); /* stays */
        void *const product = library ? dlsym(library, "cblas_sgemm") : NULL;
        void *const threads = library ? dlsym(library, "openblas_set_num_threads") : NULL;
        if (product) {
            *device = product;
            whose = libraries[i];
            memcpy(&set_threads, &threads, sizeof threads);
        }
    }
    if (set_threads) {
        set_threads(1);
    }
    snprintf(name, name_size, "one core of the CPU, products by %s", whose);
    return 0;
}

static void cpu_close(void *device)
{
}

typedef struct job {
    float *a, *b, *c;
    sgemm product;
    int64_t count, m, n, k; /* of products */
    size_t half;            /* of moves, bytes */
    size_t sets;            /* of operands, one behind the other */
} job;

static size_t sets_for(size_t bytes)
{
    return 1 + OPERANDS_BYTES / (bytes + 1);
}

/* All pages touched, with numbers in -1..1, one set and copies of it: zeros are cheaper to add and
 * to move than what networks hold. */
static void fill(float *x, size_t n, size_t sets)
{
    uint32_t state = 2463534242u; /* Marsaglia's xorshift */
    for (size_t i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        x[i] = (float)state / 2147483648.0f - 1;
    }
    for (size_t set = 1; set < sets; set++) {
        memcpy(x + set * n, x, n * sizeof *x);
    }
}

static void product_once(const job *j, size_t set)
{
    const int64_t first = (int64_t)set * j->count;
    const int m = (int)j->m, n = (int)j->n, k = (int)j->k;
    for (int64_t p = first; p < first + j->count; p++) {
        j->product(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, j->a + p * j->m * j->k, k,
                   j->b + p * j->k * j->n, n, 0, j->c + p * j->m * j->n, n);
    }
}

static void move_once(const job *j, size_t set)
{
    memcpy((char *)j->c + set * j->half, (const char *)j->a + set * j->half, j->half);
}

/* Of the processor: whoever else wants it does not count. */
static double clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double median_s(const job *j, void (*once)(const job *, size_t), double budget_s)
{
    double run[RUNS_MOST];
    size_t n = 0;
    for (size_t set = 0; set < j->sets && set < RUNS_LEAST; set++) {
        once(j, set); /* caches of instructions */
    }
    const double start_s = clock_s();
    do {
        const double before_s = clock_s();
        once(j, n % j->sets);
        const double s = clock_s() - before_s;
        run[n++] = s > 1e-9 ? s : 1e-9; /* what the clock can tell */
    } while (n < RUNS_MOST && (n < RUNS_LEAST || clock_s() - start_s < budget_s));
    gsl_sort(run, 1, n);
    return run[n / 2];
}

static void job_fini(job *j)
{
    DLS_FREE_ALL(j->a, j->b, j->c);
}

static int no_memory(job *j, char *err, size_t err_size)
{
    job_fini(j);
    snprintf(err, err_size, "out of memory");
    return 1;
}

static int cpu_product(void *device, int precision, int64_t count, int64_t m, int64_t n, int64_t k,
                       double budget_s, double *seconds, char *err, size_t err_size)
{
    if (precision != DLS_METER_FP32 || m > INT32_MAX || n > INT32_MAX || k > INT32_MAX) {
        snprintf(err, err_size, "the CPU measures fp32 only, and at most 2^31 rows");
        return 1;
    }
    job j = {.count = count, .m = m, .n = n, .k = k};
    memcpy(&j.product, &device, sizeof j.product);
    j.sets = sets_for((size_t)(count * (m * k + k * n + m * n)) * sizeof *j.a);
    const size_t all = j.sets * (size_t)count;
    j.a = dls_alloc_zero(all, (size_t)(m * k) * sizeof *j.a);
    j.b = dls_alloc_zero(all, (size_t)(k * n) * sizeof *j.b);
    j.c = dls_alloc_zero(all, (size_t)(m * n) * sizeof *j.c);
    if (!j.a || !j.b || !j.c) {
        return no_memory(&j, err, err_size);
    }
    fill(j.a, (size_t)(m * k), all);
    fill(j.b, (size_t)(k * n), all);
    fill(j.c, (size_t)(m * n), all);
    *seconds = median_s(&j, product_once, budget_s);
    job_fini(&j);
    return 0;
}

static int cpu_move(void *device, int64_t bytes, double budget_s, double *seconds, char *err,
                    size_t err_size)
{
    job j = {.half = (size_t)(bytes + 1) / 2};
    j.sets = sets_for(2 * j.half);
    j.a = dls_alloc_zero(j.sets, j.half);
    j.c = dls_alloc_zero(j.sets, j.half);
    if (!j.a || !j.c) {
        return no_memory(&j, err, err_size);
    }
    const size_t floats = j.half / sizeof *j.a;
    fill(j.a, floats, j.sets);
    fill(j.c, floats, j.sets);
    *seconds = median_s(&j, move_once, budget_s);
    job_fini(&j);
    return 0;
}

const dls_meter_ops dls_meter_cpu = {.abi = DLS_METER_ABI,
                                     .method = "cpu",
                                     .open = cpu_open,
                                     .close = cpu_close,
                                     .product = cpu_product,
                                     .move = cpu_move};
