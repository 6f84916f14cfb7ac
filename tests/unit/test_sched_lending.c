/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Policies where their answers are known: virtual clusters that lend and take back, the order of
 * AlloX, pairs of Gandiva.
 */
#include "support/sim_setup.h"
#include "support/test.h"

/* `a` has six jobs on four GPUs of which two are its own; then two come that belong to `b`. */
static const case_job lent[] = {{0, 1000, 1, "a", NULL},  {0, 1000, 1, "a", NULL},
                                {0, 1000, 1, "a", NULL},  {0, 1000, 1, "a", NULL},
                                {100, 500, 1, "b", NULL}, {100, 500, 1, "b", NULL}};

static dls_record *lending(const char *quotas, bool reclaim)
{
    sim_setup s;
    setup_init(&s, case_cluster(1, 4, 0), case_trace(lent, 6), "fair-share", "consolidated");
    setup_option(&s, "quotas")->s = quotas;
    setup_option(&s, "reclaim")->b = reclaim;
    dls_record *rec = case_run(&s.p);
    setup_fini(&s);
    return rec;
}

TEST(test_taken_back)
{
    static const char *const quotas[] = {"a:2,b:2", ""};
    for (size_t q = 0; q < 2; q++) {
        dls_record *rec = lending(quotas[q], true);
        for (int j = 0; j < 6; j++) {
            assert_int_equal(rec->start_us[j], S(j < 4 ? 0 : 100));
            assert_int_equal(rec->preempts[j], j == 2 || j == 3);
        }
        /* 100 s done, GPUs again when b's jobs end. */
        assert_int_equal(rec->end_us[2], S(1500));
        assert_int_equal(rec->end_us[5], S(600));
        dls_record_destroy(rec);
    }
}

TEST(test_not_taken_back)
{
    dls_record *rec = lending("a:2,b:2", false);
    assert_int_equal(rec->start_us[4], S(1000));
    assert_int_equal(rec->preempts[2], 0);
    dls_record_destroy(rec);
}

/* Who has no quota gets what nobody needs. */
TEST(test_only_borrows)
{
    dls_record *rec = lending("a:4", true);
    assert_int_equal(rec->start_us[4], S(1000));
    assert_int_equal(rec->preempts[3], 0);
    dls_record_destroy(rec);
}

TEST(test_quotas)
{
    static const char *const wrong[] = {"a", "a:", "a:x", "a:1,,", ":2", "a:-1", "a:3,b:2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sim_setup s;
        dls_engine *sim = NULL;
        dls_error err = {0};
        setup_init(&s, case_cluster(1, 4, 0), case_trace(lent, 6), "fair-share", "consolidated");
        setup_option(&s, "quotas")->s = wrong[i];
        assert_int_equal(dls_sim_create(&s.p, &sim, &err), DLS_ECONFIG);
        assert_string_equal(err.where, "scheduler.quotas");
        setup_fini(&s);
    }
}

/* One GPU: the sum of completion times is least if the shortest goes first; a gang of two with half
 * the run time counts as much as two that run so long. */
TEST(test_allox)
{
    static const case_job jobs[] = {{0, 300, 1, NULL, NULL},
                                    {0, 200, 1, NULL, NULL},
                                    {0, 100, 1, NULL, NULL},
                                    {10, 50, 1, NULL, NULL}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 4), "allox", "consolidated");
    dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[2], S(100));
    assert_int_equal(rec->end_us[3], S(150));
    assert_int_equal(rec->end_us[1], S(350));
    assert_int_equal(rec->end_us[0], S(650));
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* Two jobs and one GPU: they share it; a third with a GPU for each does not. */
TEST(test_gandiva_pairs)
{
    static const case_job jobs[] = {{0, 100, 1, NULL, NULL}, {0, 100, 1, NULL, NULL}};
    for (int gpus = 1; gpus <= 2; gpus++) {
        sim_setup s;
        setup_init(&s, case_cluster(1, gpus, 0), case_trace(jobs, 2), "gandiva-pack",
                   "consolidated");
        dls_record *rec = case_run(&s.p);
        for (int j = 0; j < 2; j++) {
            assert_int_equal(rec->start_us[j], 0);
            assert_int_equal(rec->preempts[j], 0);
        }
        dls_record_destroy(rec);
        setup_fini(&s);
    }
}
