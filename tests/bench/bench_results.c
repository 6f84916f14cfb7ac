/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What it costs to summarise and to write a run. Prints JSON. --smoke: small sizes only.
 */
#include "../support/results_sample.h"

#include "results/write.h"
#include "support/bench.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static long peak_kib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

static dls_status measure(size_t n, const char *path, bool last, dls_error *err)
{
    dls_trace *trace = NULL;
    dls_record *rec = NULL;
    static dls_summary summary;
    DLS_TRY(sample_trace(n, &trace, err));
    dls_status status = sample_record(trace, 4, 3, &rec, err);
    const double t0 = clock_s(CLOCK_MONOTONIC);
    if (status == DLS_OK) {
        status = dls_summary_make(trace, rec, 0, 0, 1, &summary, err);
    }
    const double t1 = clock_s(CLOCK_MONOTONIC), cpu1 = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    const long before_kib = peak_kib();
    const dls_results_meta meta = {.scheduler = "none", .placement = "none"};
    if (status == DLS_OK) {
        status = dls_results_write(path, &meta, trace, rec, &summary, err);
    }
    const double t2 = clock_s(CLOCK_MONOTONIC), cpu2 = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    struct stat st;
    if (status == DLS_OK && stat(path, &st) == 0) {
        printf("  {\"jobs\": %zu, \"allocations\": %zu, \"series\": %zu, \"summary_s\": %.4f, "
               "\"write_s\": %.4f, \"write_cpu_s\": %.4f, \"extra_mib\": %.1f, "
               "\"file_mib\": %.3f}%s\n",
               n, rec->allocs.n, rec->series.n, t1 - t0, t2 - t1, cpu2 - cpu1,
               (double)(peak_kib() - before_kib) / 1024, (double)st.st_size / 1048576,
               last ? "" : ",");
    }
    unlink(path);
    dls_record_destroy(rec);
    dls_trace_destroy(trace);
    return status;
}

int main(int argc, char **argv)
{
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    const char *folder = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/dlsim-bench-%ld.h5", folder ? folder : "/tmp", (long)getpid());
    /* The first file pays for HDF5's own start. */
    static const size_t sizes[] = {100, 5000, 5000, 100000, 1000000};
    const size_t n = smoke ? 3 : sizeof sizes / sizeof sizes[0];
    puts("{\"results\": [");
    for (size_t i = 0; i < n; i++) {
        dls_error err;
        if (measure(sizes[i], path, i + 1 == n, &err) != DLS_OK) {
            fprintf(stderr, "bench_results: %s: %s\n", err.where, err.msg);
            return 1;
        }
    }
    puts("]}");
    return 0;
}
