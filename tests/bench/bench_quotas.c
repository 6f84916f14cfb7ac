/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a tree of quotas costs to read: a chain of cohorts, each in the next, the deepest first. One JSON object a
 * line, with the exponent from one size to the next.
 *
 *   bench_quotas           400 to 6,400 cohorts
 *   bench_quotas --smoke   100 cohorts; fails if the deepest cannot use what all own
 */
#include "sched/quota_tree.h"
#include "support/bench.h"

#include <math.h>
#include <unistd.h>

static dls_error err;

/* Seconds; the deepest of n cohorts that own a GPU each may use n. */
static double read_s(const char *path, int n)
{
    dls_quota_tree t = {0};
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(1);
    }
    fputs("name,parent,gpus,borrow,lend\n", f);
    for (int i = 0; i < n; i++) {
        fprintf(f, i + 1 < n ? "c%d,c%d,1,,\n" : "c%d,,1,,\n", i, i + 1);
    }
    if (fclose(f) != 0) {
        perror(path);
        exit(1);
    }
    const double from_s = cpu_s();
    must(dls_quota_cohorts_read(&t, path, &err), &err);
    const double took_s = cpu_s() - from_s;
    if (dls_quota_free(&t, dls_quota_find(&t, "c0"), t.steps) != n) {
        fprintf(stderr, "%d cohorts that own a GPU each lend another number\n", n);
        exit(1);
    }
    dls_quota_tree_fini(&t);
    return took_s;
}

int main(int argc, char **argv)
{
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    char path[] = "/tmp/dlsim-bench-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0 || close(file) != 0) {
        perror(path);
        return 1;
    }
    double before = 0;
    for (int n = smoke ? 100 : 400; n <= (smoke ? 100 : 6400); n *= 2) {
        const double s = read_s(path, n);
        printf("{\"bench\": \"chain of cohorts\", \"cohorts\": %d, \"ms\": %.2f, \"exponent\": %.2f}\n", n, 1e3 * s,
               before > 0 ? log2(s / before) : 0);
        fflush(stdout);
        before = s;
    }
    return unlink(path) == 0 ? 0 : 1;
}
