/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Digests of fixed scenarios: 2,000 random jobs under twelve schedulers. Every compiler and every
 * level of optimisation must give these numbers, with or without the tables of a record and the
 * audit. They change only with a decision about what is simulated; the output then shows the new
 * ones.
 */
#include "support/sim_setup.h"
#include "support/test.h"

typedef struct scenario {
    const char *sched, *placement;
    double restore_s;
    bool mixed; /* two GPU types and two virtual clusters */
    bool exact; /* run times are known */
    uint64_t digest;
} scenario;

static const scenario scenarios[] = {
    {"fifo", "consolidated", 0, false, true, 0x8a5968ac6ce8b4b9},
    {"srtf", "yarn", 3, false, true, 0x5b82e3384dc3a213},
    {"srsf", "spread", 0, true, true, 0xf4aac45b992a7486},
    {"dlas-gpu", "random", 3, false, true, 0xca8f84c82e79764b},
    {"gittins", "crandom", 2, false, true, 0xd584e81b3e404099},
    {"easy", "consolidated", 0, true, false, 0xc1b131a91987b3b2},
    {"easy", "yarn", 0, true, false, 0xb7c4a0a699dc2c3b}, /* nodes are reserved */
    {"gandiva", "first-fit", 1, false, true, 0x67ff72bb060c755b},
    {"multi-dlas-gpu", "consolidated", 2, false, true, 0x0480c15858a9627e},
    {"lucid", "random", 0, true, false, 0x27b88ce706fc8441},
    {"antman", "consolidated", 1, true, false, 0x0641a3aec7a91bb6},
    {"fair-share", "consolidated", 1, true, false, 0xf4c1c863db842848},
    {"kueue", "consolidated", 1, true, false, 0x79faa0a01ce5fc66},
};

#define N_SCENARIOS (sizeof scenarios / sizeof *scenarios)

static void make(sim_setup *s, const scenario *c)
{
    static const char *const types[4] = {"V100", "P100", "V100|P100", NULL};
    static const char *const names[4] = {"a", "b", "c", NULL};
    static dls_vc_spec vcs[2] = {{.name = "a", .quota_gpus = {6, 2}},
                                 {.name = "b", .quota_gpus = {2, 6}}};
    const dls_cluster_spec cluster = c->mixed ? two_types(2, 2, 8, 2) : case_cluster(4, 8, 2);
    setup_init(s, cluster,
               random_trace(2019, 2000, 16, 11, c->mixed ? names : NULL, c->mixed ? types : NULL),
               c->sched, c->placement);
    if (c->mixed) {
        s->cluster.vcs = vcs;
        s->cluster.n_vcs = 2;
    }
    s->p.reserve_nodes = strcmp(c->sched, "easy") == 0 && strcmp(c->placement, "yarn") == 0;
    if (strcmp(c->sched, "dlas-gpu") == 0 || strcmp(c->sched, "gittins") == 0) {
        setup_limits(s, 2, (double[]){40, 200});
        setup_option(s, "promote_knob")->f = 3;
    }
    if (strcmp(c->sched, "gittins") == 0) {
        setup_option(s, "delta")->f = 0;
    }
    if (strcmp(c->sched, "multi-dlas-gpu") == 0) {
        setup_limits(s, 1, (double[]){60});
        setup_option(s, "period")->f = 100;
    }
    s->p.seed = 42;
    s->p.restore_us = S(c->restore_s);
    s->p.estimates_exact = c->exact;
    s->p.audit = false;
}

static uint64_t digest_of(const sim_setup *s)
{
    dls_record *rec = case_run(&s->p);
    const uint64_t digest = dls_record_digest(rec);
    assert_true(rec->complete);
    dls_record_destroy(rec);
    return digest;
}

TEST(test_digests)
{
    int wrong = 0;
    for (size_t i = 0; i < N_SCENARIOS; i++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        make(&s, &scenarios[i]);
        const uint64_t digest = digest_of(&s);
        const bool good = digest == scenarios[i].digest;
        print_message("%-16s%-14s%016llx%s\n", scenarios[i].sched, scenarios[i].placement,
                      (unsigned long long)digest, good ? "" : "  <- not as before");
        wrong += !good;
    }
    assert_int_equal(wrong, 0);
}

/* What is recorded and checked beside changes nothing; the seed changes what is random. */
TEST(test_digest_depends_on)
{
    for (size_t i = 0; i < N_SCENARIOS; i++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        make(&s, &scenarios[i]);
        const uint64_t digest = digest_of(&s);
        assert_true(digest_of(&s) == digest);
        s.p.want_allocs = s.p.want_series = false;
        assert_true(digest_of(&s) == digest);
        s.p.want_allocs = s.p.want_series = true;
        s.p.audit = true;
        assert_true(digest_of(&s) == digest);
        s.p.audit = false;
        s.p.restore_us += 1;
        const bool preempts = s.p.sched->discipline == DLS_PREEMPT;
        if (!s.p.sched->round && (digest_of(&s) != digest) != preempts) {
            fail_msg("%s: restoring counts or not", scenarios[i].sched);
        }
    }
}
