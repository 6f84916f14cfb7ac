/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Policies where their answers are known: virtual clusters that lend and take back, the order of
 * AlloX, pairs of Gandiva.
 */
#include "support/fake_world.h"
#include "support/scratch.h"
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
        DLS_HOLD(dls_record_destroy) dls_record *rec = lending(quotas[q], true);
        for (int j = 0; j < 6; j++) {
            assert_int_equal(rec->start_us[j], S(j < 4 ? 0 : 100));
            assert_int_equal(rec->preempts[j], j == 2 || j == 3);
        }
        /* 100 s done, GPUs again when b's jobs end. */
        assert_int_equal(rec->end_us[2], S(1500));
        assert_int_equal(rec->end_us[5], S(600));
    }
}

TEST(test_not_taken_back)
{
    DLS_HOLD(dls_record_destroy) dls_record *rec = lending("a:2,b:2", false);
    assert_int_equal(rec->start_us[4], S(1000));
    assert_int_equal(rec->preempts[2], 0);
}

/* Who has no quota gets what nobody needs. */
TEST(test_only_borrows)
{
    DLS_HOLD(dls_record_destroy) dls_record *rec = lending("a:4", true);
    assert_int_equal(rec->start_us[4], S(1000));
    assert_int_equal(rec->preempts[3], 0);
}

/* a holds five of the eight GPUs, four of which are its own: its third job waits, rather than that its second loses
 * the one that is lent. */
TEST(test_nobody_is_preempted_by_its_own)
{
    static const case_job jobs[] = {
        {0, 100, 3, "a", NULL}, {0, 100, 3, "b", NULL}, {1, 100, 2, "a", NULL}, {10, 50, 1, "a", NULL}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 8, 0), case_trace(jobs, 4), "fair-share", "consolidated");
    setup_option(&s, "quotas")->s = "a:4,b:4";
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->preempts[2], 0);
    assert_int_equal(rec->start_us[3], S(100));
}

TEST(test_quotas)
{
    static const char *const wrong[] = {"a", "a:", "a:x", "a:1,,", ":2", "a:-1", "a:3,b:2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_engine *sim = NULL;
        dls_error err = {0};
        setup_init(&s, case_cluster(1, 4, 0), case_trace(lent, 6), "fair-share", "consolidated");
        setup_option(&s, "quotas")->s = wrong[i];
        assert_int_equal(dls_sim_create(&s.p, &sim, &err), DLS_ECONFIG);
        assert_string_equal(err.where, "scheduler.quotas");
    }
}

/* ---- cohorts --------------------------------------------------------------------------------- */

#define N_JOBS 14
/* a asks for all eight GPUs, then d for four, then b for two. */
static const case_job crowd[N_JOBS] = {
    {0, 1000, 1, "a", NULL},   {0, 1000, 1, "a", NULL},   {0, 1000, 1, "a", NULL},
    {0, 1000, 1, "a", NULL},   {0, 1000, 1, "a", NULL},   {0, 1000, 1, "a", NULL},
    {0, 1000, 1, "a", NULL},   {0, 1000, 1, "a", NULL},   {100, 1000, 1, "d", NULL},
    {100, 1000, 1, "d", NULL}, {100, 1000, 1, "d", NULL}, {100, 1000, 1, "d", NULL},
    {200, 1000, 1, "b", NULL}, {200, 1000, 1, "b", NULL}};

static const char cohort_columns[] = "name,parent,gpus,borrow,lend,weight,within,reclaim,borrowing,order\n";

/* Cohorts: whose queues reclaim what is theirs from anybody. */
static const char *table(const char *option, const char *rows)
{
    const char *path = in_folder("cohorts_case.csv");
    const bool queues = strcmp(option, "queues") == 0;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(queues ? "name,parent,gpus,limit,weight,priority\n" : cohort_columns, f);
    for (; *rows; rows += strcspn(rows, "\n") + 1) {
        fprintf(f, "%.*s%s\n", (int)strcspn(rows, "\n"), rows, queues ? "" : ",,,Any,,");
    }
    assert_int_equal(fclose(f), 0);
    return path;
}

/* Eight GPUs; how many of a's jobs run at 50 s, at 150 s and at 250 s, and when the jobs of d and b start. */
static void expect_table(const char *option, const char *rows, const case_job *jobs, const int *a,
                         const double *d, const double *b)
{
    static const double at_s[] = {50, 150, 250};
    for (int k = 0; k < 3; k++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(1, 8, 0), case_trace(jobs, N_JOBS),
                   strcmp(option, "queues") == 0 ? "fair-share" : "kueue", "consolidated");
        setup_option(&s, option)->s = table(option, rows);
        s.p.until_us = S(at_s[k]);
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        int runs = 0;
        for (int j = 0; j < 8; j++) {
            runs += rec->state[j] == DLS_JOB_RUNNING;
        }
        assert_int_equal(runs, a[k]);
        for (int j = 8; k == 2 && j < N_JOBS; j++) {
            const double want_s = j < 12 ? d[j - 8] : b[j - 12];
            assert_int_equal(rec->start_us[j], want_s < 0 ? -1 : S(want_s));
        }
    }
}

TEST(test_cohorts)
{
    const double all_d[] = {100, 100, 100, 100}, all_b[] = {200, 200}, none[] = {-1, -1};
    /* Two cohorts under one: a borrows two of b and four of the other cohort, and gives back each. */
    expect_table("cohorts", "root,,,,\nleft,root,,,\nright,root,,,\na,left,2,,\nb,left,2,,\nd,right,4,,\n", crowd,
                   (const int[]){8, 4, 2}, all_d, all_b);
    /* It may borrow three; b lends one of its two. */
    expect_table("cohorts", "a,left,2,3,\nb,left,2,,\nd,left,4,,\n", crowd, (const int[]){5, 4, 2}, all_d, all_b);
    expect_table("cohorts", "a,left,2,,\nb,left,2,,1\nd,left,4,,\n", crowd, (const int[]){7, 3, 2}, all_d, all_b);
    /* A cohort that may borrow one of the others, and one that lends two. */
    expect_table("cohorts", "left,root,,1,\na,left,2,,\nb,left,2,,\nd,root,4,,\n", crowd, (const int[]){5, 4, 2},
                   all_d, all_b);
    expect_table("cohorts", "right,root,,,2\na,root,2,,\nb,root,2,,\nd,right,4,,\n", crowd, (const int[]){6, 4, 2},
                   all_d, all_b);
    /* A cohort's own quota, which who borrows it first keeps: d takes back its own alone. Without a cohort nobody
     * borrows; who is not named gets what is left. */
    expect_table("cohorts", "left,,4,,\na,left,1,,\nd,left,1,,\n", crowd, (const int[]){6, 5, 5}, (const double[]){100, -1, -1, -1},
                   all_b);
    expect_table("cohorts", "a,,3,,\nd,,3,,\n", crowd, (const int[]){3, 3, 3}, (const double[]){100, 100, 100, -1}, all_b);
    expect_table("cohorts", "a,,5,,\nd,,3,,\n", crowd, (const int[]){5, 5, 5}, (const double[]){100, 100, 100, -1}, none);
}

/* Who borrows in its own cohort goes before who borrows from another: d has all eight, then a comes, and
 * gets its own two and the two of b, of the same cohort. In one cohort it would get its own two. */
TEST(test_cohort_first)
{
    case_job jobs[N_JOBS];
    for (int j = 0; j < N_JOBS; j++) {
        jobs[j] = (case_job){j < 8 ? 0 : 100, 1000, 1, j < 8 ? "d" : "a", NULL};
    }
    const double four[] = {100, 100, 100, 100}, two[] = {100, 100, -1, -1}, none[] = {-1, -1};
    expect_table("cohorts", "left,root,,,\nright,root,,,\na,left,2,,\nb,left,2,,\nd,right,4,,\n", jobs, (const int[]){8, 4, 4},
                   four, none);
    expect_table("cohorts", "a,root,2,,\nb,root,2,,\nd,root,4,,\n", jobs, (const int[]){8, 6, 6}, two, none);
}

/* Queues share what quotas leave. */
TEST(test_queues)
{
    const double all_d[] = {100, 100, 100, 100}, two[] = {100, 100, -1, -1}, all_b[] = {200, 200}, none[] = {-1, -1};
    expect_table("queues", "a,,2,,1,\nb,,2,,1,\nd,,4,,1,\n", crowd, (const int[]){8, 4, 2}, all_d, all_b);
    /* Of eight, a and d by one to three, and what d does not want goes to a; then by one to three to one. */
    expect_table("queues", "a,,0,,1,\nb,,0,,1,\nd,,0,,3,\n", crowd, (const int[]){8, 4, 2}, all_d, all_b);
    /* b has no weight, and nothing is left. */
    expect_table("queues", "a,,0,,3,\nb,,0,,0,\nd,,0,,1,\n", crowd, (const int[]){8, 6, 6}, two, none);
    expect_table("queues", "a,,0,5,1,\nb,,0,,1,\nd,,0,,1,\n", crowd, (const int[]){5, 4, 3}, all_d, all_b);
    /* Who comes first is decided where queues part: whatever d and b weigh, they are under `right`. */
    expect_table("queues", "a,left,0,,9,900\nb,right,0,,1,\nd,right,0,,1,\nleft,,0,,9,50\nright,,0,,1,\n", crowd,
                 (const int[]){8, 4, 2}, all_d, all_b);
    /* Who is not in the table gets what is left. */
    expect_table("queues", "a,,-1,,1,\nd,,0,,1,\n", crowd, (const int[]){8, 8, 8}, (const double[]){-1, -1, -1, -1}, none);
}

static double beside_fifth(void *state, const dls_place_index *index, const dls_request *r, int32_t host, const dls_shape *shape)
{
    return r->job == 8 && host >= 4;
}

/* Eight GPUs are a's, whose ninth job the placement made a guest; four of the others end when b's and c's come, which weigh two and one. a asks
 * for five GPUs, so two of three are b's and one is c's; the guest has none of its own, and the one that is left over is b's. If a asked for six as
 * long as nobody has looked at its line, b and c had two each. */
TEST(test_queues_guest)
{
    case_job jobs[15];
    int runs[3] = {0};
    for (int j = 0; j < 15; j++) {
        const int of = j < 9 ? 0 : j < 12 ? 1 : 2;
        jobs[j] = (case_job){of ? 100 : 0, j < 4 ? 100 : 1000, 1, (const char *const[]){"a", "b", "c"}[of], NULL};
    }
    sim_setup s;
    setup_init(&s, case_cluster(1, 8, 0), case_trace(jobs, 15), "fair-share", "first-fit");
    dls_placement_ops ops = *s.p.placement;
    ops.share = beside_fifth;
    s.p.placement = &ops;
    setup_option(&s, "queues")->s = table("queues", "a,,0,,1,900\nb,,0,,2,\nc,,0,,1,\n");
    s.p.until_us = S(150);
    dls_record *rec = case_run(&s.p);
    for (int j = 0; j < 15; j++) {
        runs[j < 9 ? 0 : j < 12 ? 1 : 2] += rec->state[j] == DLS_JOB_RUNNING;
    }
    assert_int_equal(rec->guest_starts, 1);
    assert_int_equal(runs[0], 5);
    assert_int_equal(runs[1], 3);
    assert_int_equal(runs[2], 1);
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* Who is taken back: cases of KAI's own test (NVIDIA/KAI-Scheduler, pkg/scheduler/actions/integration_tests/reclaim/reclaim_test.go), those
 * of whole GPUs on which neither nodes nor jobs that are never preempted decide. "QUEUE=GPUS ..." that run and that come; numbers of
 * those that run in the end. */
TEST(test_kai_reclaim)
{
    static const struct {
        int gpus;
        const char *rows, *jobs, *come, *want;
    } cases[] = {
        {2, "a,,1,,1,\nb,,1,,1,\n", "a=2", "b=1", "1"},
        {4, "a,,2,,2,\nb,,2,,2,\n", "a=1 b=2 b=1", "a=1", "0 1 3"},
        {4, "a,,2,,2,\nb,,2,,2,\n", "a=1 a=2 b=1", "b=1", "0 2 3"},
        {4, "a,,2,,2,\nb,,1,,1,\n", "a=1 a=2 b=1", "b=1", "0 1 2"},
        {8, "a,,6,,6,\nb,,5,,5,\n", "a=8", "b=5", "1"},
        {4, "a,,2,,2,\nb,,2,,2,\n", "a=2 a=1 b=1", "b=3 b=1 a=1", "0 2 4"},
        {4, "a,,1,,1,\nb,,1,,1,\nc,,0,,0,\n", "a=2 a=1 c=1", "b=1", "0 1 3"},
        {8, "a,,1,,1,\nb,,1,,1,\n", "a=1 a=3 a=4", "b=4 b=4", "0 1 3"},
        {7, "a,,2,,2,\nb,,1,,1,\n", "a=4 b=3", "a=1", "0 2"},
        {4, "x,,2,,1,\ny,,2,,1,\na,x,1,,1,\nb,y,1,,1,\nc,y,1,,1,\n", "a=3 b=1", "b=2", "0 1"},
        {8, "x,,1,,1,\ny,,1,,1,\na,x,1,,1,\nb,y,1,,1,\n", "a=4 a=1", "b=4", "0 2"},
        {8, "x,,1,,1,\na,x,1,,2,\nb,x,1,,1,\nc,x,0,,1,101\n", "a=1 a=1 a=1 a=1 a=1 b=1 b=1 b=1", "c=3", "0 1 2 5 6 8"},
        {4, "x,,0,,1,\ny,,4,,1,\na,x,1,,1,\nb,y,0,,0,\nc,y,4,,4,\n", "a=2 b=2", "c=4", "2"},
        {8, "a,,4,,4,\nb,,2,,2,\n", "a=5 a=1 a=1", "b=3", "0 3"},
        {9, "a,,4,,4,\nb,,4,,4,\nc,,10,,10,\n", "a=5 a=2 a=1", "c=1 b=3", "0 3 4"},
        {4, "a,,2,,2,\nb,,1,,1,\n", "a=3", "b=2", "0"},
        {6, "x,,3,,1,\ny,,3,,1,\na,x,3,,0,\nb,y,2,,0,\nc,y,1,,0,\n", "a=2 a=1 b=2 b=1", "c=1", "0 1 2 4"},
        {6, "x,,1,,1,\ny,,1,,1,\na,x,1,,1,\nb,y,1,,1,\n", "a=2 a=1 b=2 b=1", "b=1", "0 1 2 3"},
        {2, "x,,2,,1,\ny,,2,,1,\na,x,1,,0,\nb,y,1,,0,\n", "a=1 b=1", "b=1", "0 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        case_job jobs[16];
        static const char *const names[] = {"a", "b", "c"};
        char got[64] = "";
        int n = 0;
        for (int k = 0; k < 2; k++) {
            for (const char *at = k ? cases[i].come : cases[i].jobs; *at; at += strcspn(at, " "), at += *at == ' ') {
                jobs[n] = (case_job){k ? 100 : n, 1000, atoi(at + 2), names[*at - 'a'], NULL};
                n++;
            }
        }
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(1, cases[i].gpus, 0), case_trace(jobs, n), "fair-share", "consolidated");
        setup_option(&s, "queues")->s = table("queues", cases[i].rows);
        s.p.until_us = S(150);
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        for (int j = 0; j < n; j++) {
            const size_t length = strlen(got);
            if (rec->state[j] == DLS_JOB_RUNNING) {
                snprintf(got + length, sizeof got - length, "%s%d", *got ? " " : "", j);
            }
        }
        if (strcmp(got, cases[i].want) != 0) {
            fail_msg("case %zu: \"%s\" run", i, got);
        }
    }
}

TEST(test_bad_queues)
{
    static const struct {
        const char *rows, *quotas;
        dls_status status;
    } cases[] = {{"a,b,1,,,\nb,a,1,,,\n", "", DLS_ECONFIG}, {"a,,1,,-1,\n", "", DLS_EINPUT},
                 {"a,,1,,,high\n", "", DLS_EINPUT},           {"a,,-2,,,\n", "", DLS_EINPUT},
                 {"a,,1,,,\na,,1,,,\n", "", DLS_EINPUT},     {"a,,1,,,\n", "a:1", DLS_ECONFIG}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_engine *sim = NULL;
        dls_error err = {0};
        setup_init(&s, case_cluster(1, 8, 0), case_trace(crowd, N_JOBS), "fair-share", "consolidated");
        setup_option(&s, "queues")->s = table("queues", cases[i].rows);
        setup_option(&s, "quotas")->s = cases[i].quotas;
        assert_int_equal(dls_sim_create(&s.p, &sim, &err), cases[i].status);
    }
}

TEST(test_bad_cohorts)
{
    static const struct {
        const char *rows;
        dls_status status;
    } cases[] = {{"a,b,1,,\nb,c,1,,\nc,a,1,,\n", DLS_ECONFIG}, {"a,a,1,,\n", DLS_ECONFIG},
                 {"a,,1,,\na,,1,,\n", DLS_EINPUT},             {"a,,x,,\n", DLS_EINPUT},
                 {"a,,1,-1,\n", DLS_EINPUT},                    {",,1,,\n", DLS_EINPUT},
                 {"a,,1,\n", DLS_EINPUT}};
    static const char *const policies[] = {"-1,,,,", ",Any,,,", ",Lower,,,", ",,Newer,,", ",,,Any,", ",,,,LIFO"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_engine *sim = NULL;
        dls_error err = {0};
        setup_init(&s, case_cluster(1, 8, 0), case_trace(crowd, N_JOBS), "kueue", "consolidated");
        setup_option(&s, "cohorts")->s = table("cohorts", cases[i].rows);
        assert_int_equal(dls_sim_create(&s.p, &sim, &err), cases[i].status);
    }
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_engine *sim = NULL;
        dls_error err = {0};
        char text[128];
        snprintf(text, sizeof text, "%sa,,1,,,%s\n", cohort_columns, policies[i]);
        setup_init(&s, case_cluster(1, 8, 0), case_trace(crowd, N_JOBS), "kueue", "consolidated");
        setup_option(&s, "cohorts")->s = put("cohorts_bad.csv", text);
        assert_int_equal(dls_sim_create(&s.p, &sim, &err), DLS_EINPUT);
        assert_non_null(strstr(err.where, "cohorts_bad.csv:2"));
    }
}

/* Whole runs of one queue or cohort on eight GPUs; when each job starts first, and whether it was preempted. */
static void expect_kueue(const char *rows, const char *fair, const case_job *jobs, int n, const double *start, const int *preempts)
{
    DLS_OWN(setup_fini) sim_setup s = {0};
    char text[512];
    assert_true(snprintf(text, sizeof text, "%s%s", cohort_columns, rows) < (int)sizeof text);
    setup_init(&s, case_cluster(1, 8, 0), case_trace(jobs, n), "kueue", "consolidated");
    setup_option(&s, "cohorts")->s = put("kueue_run.csv", text);
    setup_option(&s, "fair_sharing")->i = strcmp(fair, "both") == 0 ? 3 : 0;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    for (int j = 0; j < n; j++) {
        if (rec->start_us[j] != S(start[j]) || (int)rec->preempts[j] != preempts[j]) {
            fail_msg("job %d starts at %g s, preempted %d times", j, 1e-6 * (double)rec->start_us[j], (int)rec->preempts[j]);
        }
    }
}

/* Worked by hand: a queue of two cohorts' quotas, who passes whom, and weights. */
TEST(test_kueue_runs)
{
    /* Seven GPUs are asked for behind four; two pass, or do not. */
    const case_job fifo[] = {{0, 100, 4, "a", NULL}, {10, 100, 7, "a", NULL}, {20, 100, 2, "a", NULL}};
    expect_kueue("a,,8,,,,,,,\n", "none", fifo, 3, (const double[]){0, 120, 20}, (const int[]){0, 0, 0});
    expect_kueue("a,,8,,,,,,,StrictFIFO\n", "none", fifo, 3, (const double[]){0, 100, 200}, (const int[]){0, 0, 0});
    /* Nobody passes there while another queue's job starts, either. */
    const case_job beside[] = {{0, 100, 2, "a", NULL}, {10, 100, 4, "a", NULL}, {20, 100, 1, "a", NULL}, {20, 100, 4, "b", NULL}};
    expect_kueue("a,,4,,,,,,,StrictFIFO\nb,,4,,,,,,,\n", "none", beside, 4, (const double[]){0, 100, 200, 20}, (const int[]){0, 0, 0, 0});
    /* a lends four to b, which holds six; what a reclaims, at any priority or of lower ones alone. */
    const case_job back[] = {{0, 100, 6, "b", NULL}, {10, 100, 4, "a", NULL}};
    expect_kueue("a,c,4,,,,,Any,,\nb,c,4,,,,,,,\n", "none", back, 2, (const double[]){0, 10}, (const int[]){1, 0});
    expect_kueue("a,c,4,,,,,LowerPriority,,\nb,c,4,,,,,,,\n", "none", back, 2, (const double[]){0, 100}, (const int[]){0, 0});
    /* c owns the GPUs that a and b borrow; with fair sharing b gives a its half, by weights of three to one six; once what was preempted is back, it waits for its quota. */
    const case_job share[] = {{0, 100, 2, "b", NULL}, {0, 100, 2, "b", NULL}, {0, 100, 2, "b", NULL}, {0, 100, 2, "b", NULL},
                              {10, 50, 2, "a", NULL}, {10, 50, 2, "a", NULL}, {10, 50, 2, "a", NULL}};
    const char *even = "a,r,0,,,,,Any,,\nb,r,0,,,,,Any,,\nr,,8,,,,,,,\n", *three = "a,r,0,,,3,,Any,,\nb,r,0,,,,,Any,,\nr,,8,,,,,,,\n";
    expect_kueue(even, "none", share, 7, (const double[]){0, 0, 0, 0, 100, 100, 100}, (const int[]){0, 0, 0, 0, 0, 0, 0});
    expect_kueue(even, "both", share, 7, (const double[]){0, 0, 0, 0, 10, 10, 60}, (const int[]){1, 1, 0, 0, 0, 0, 0});
    expect_kueue(three, "both", share, 7, (const double[]){0, 0, 0, 0, 10, 10, 10}, (const int[]){1, 1, 1, 0, 0, 0, 0});
}

/* Who gives way asks again at once, and so does who was passed over; who was just admitted may give way, too. */
TEST(test_kueue_at_once)
{
    /* a takes back what the second job of b has; that one makes the third, which is newer, give way, and stays. */
    const case_job newer[] = {{0, 5, 4, "b", NULL}, {1, 500, 1, "b", NULL}, {2, 500, 3, "b", NULL}, {10, 50, 1, "a", NULL}};
    expect_kueue("a,r,1,,,,,Any,,\nb,r,3,,,,LowerOrNewerEqualPriority,,,\n", "none", newer, 4, (const double[]){0, 5, 5, 10},
                 (const int[]){0, 0, 1, 0});
    /* The last job of b borrows what a's second needs and may reclaim; a's first is too large. */
    const case_job just[] = {{0, 1000, 2, "b", NULL}, {10, 50, 7, "a", NULL}, {10, 100, 4, "a", NULL}, {10, 100, 4, "b", NULL}};
    expect_kueue("a,r,4,,,,,Any,,\nb,r,4,,,,,,,\n", "none", just, 4, (const double[]){0, 1000, 10, 110}, (const int[]){0, 0, 0, 0});
}

typedef double share_fn(void *state, const dls_place_index *index, const dls_request *r, int32_t host, const dls_shape *shape);

static double third_beside_first(void *state, const dls_place_index *index, const dls_request *r, int32_t host, const dls_shape *shape)
{
    return r->job == 2 && host == 0;
}

static double second_beside_first(void *state, const dls_place_index *index, const dls_request *r, int32_t host, const dls_shape *shape)
{
    return r->job == 1 && host == 0;
}

/* The third job of b is a guest of the first while it stands in line behind the second, which nobody passes; a takes its
 * GPUs back from both, and when they are on them again, the second waits until both have ended. */
TEST(test_kueue_guest)
{
    const case_job jobs[] = {{0, 100, 8, "b", NULL}, {1, 10, 5, "b", NULL}, {2, 100, 8, "b", NULL}, {10, 50, 4, "a", NULL}};
    const double start_s[] = {0, 152, 2, 10};
    const int preempts[] = {1, 0, 1, 0};
    DLS_OWN(setup_fini) sim_setup s = {0};
    char text[512];
    snprintf(text, sizeof text, "%sa,r,4,,,,,Any,,\nb,r,4,,,,,,,StrictFIFO\n", cohort_columns);
    setup_init(&s, case_cluster(1, 8, 0), case_trace(jobs, 4), "kueue", "consolidated");
    dls_placement_ops ops = *s.p.placement;
    ops.share = third_beside_first;
    s.p.placement = &ops;
    setup_option(&s, "cohorts")->s = put("kueue_guest.csv", text);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->guest_starts, 2);
    for (int j = 0; j < 4; j++) {
        assert_int_equal(rec->start_us[j], S(start_s[j]));
        assert_int_equal(rec->preempts[j], preempts[j]);
    }
}

/* Four jobs on nodes of 8 GPUs, under a placement that lets them share as it is said. The caller's. */
static dls_record *run_sharing(int nodes, const case_job *jobs, const char *sched, share_fn *share)
{
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(nodes, 8, 0), case_trace(jobs, 4), sched, "consolidated");
    dls_placement_ops ops = *s.p.placement;
    ops.share = share;
    s.p.placement = &ops;
    return case_run(&s.p);
}

/* A guest has no GPUs of its own: those that the second job gave back are the fourth's at once. */
TEST(test_guests_hold_nothing)
{
    static const char *const scheds[] = {"kueue", "fair-share", "allox"};
    const case_job jobs[] = {{0, 500, 8, "b", NULL}, {0, 50, 8, "b", NULL}, {2, 500, 8, "b", NULL}, {60, 10, 8, "b", NULL}};
    for (size_t k = 0; k < sizeof scheds / sizeof *scheds; k++) {
        DLS_HOLD(dls_record_destroy) dls_record *rec = run_sharing(2, jobs, scheds[k], third_beside_first);
        assert_int_equal(rec->guest_starts, 1);
        assert_int_equal(rec->start_us[2], S(2));
        assert_int_equal(rec->start_us[3], S(60));
    }
}

/* Rounds leave a guest where the placement put it, with its host: the second job runs beside the first from 1 s on, and
 * neither is ever preempted, though jobs come that have no room, and rounds pass. */
TEST(test_guests_stay)
{
    static const char *const scheds[] = {"edf", "elasticflow", "optimus", "pollux", "sia",
                                         "fair-share", "kueue", "allox"};
    const case_job jobs[] = {{0, 5000, 8, "b", NULL}, {1, 3000, 8, "b", NULL}, {700, 50, 8, "b", NULL}, {1300, 50, 8, "b", NULL}};
    for (size_t k = 0; k < sizeof scheds / sizeof *scheds; k++) {
        DLS_HOLD(dls_record_destroy) dls_record *rec = run_sharing(1, jobs, scheds[k], second_beside_first);
        if (rec->guest_starts != 1 || rec->preempts[1] != 0) {
            fail_msg("%s: %d guests, preempted %d times", scheds[k], (int)rec->guest_starts, (int)rec->preempts[1]);
        }
    }
}

/* A cohort is as high as the way down to its furthest queue: a and c borrow alike, and a came first. Who can neither start nor
 * preempt keeps nothing free. */
TEST(test_kueue_order)
{
    const case_job both[] = {{0, 100, 3, "a", NULL}, {0, 100, 3, "c", NULL}};
    expect_kueue("r,,4,,,,,,,\nm,r,0,,,,,,,\na,m,0,,,,,,,\nc,r,0,,,,,,,\n", "none", both, 2, (const double[]){0, 100}, (const int[]){0, 0});
    const case_job large[] = {{0, 100, 4, "a", NULL}, {10, 100, 6, "a", NULL}, {20, 50, 4, "b", NULL}, {21, 10, 2, "b", NULL}};
    expect_kueue("a,r,2,,,,,,,StrictFIFO\nb,r,2,,,,,,,\nr,,4,,,,,,,\n", "none", large, 4, (const double[]){0, 100, 20, 70},
                 (const int[]){0, 0, 0, 0});
}

/* Each queue has its turn in a cycle, whatever has become known: in the first both first jobs are too large, in the second
 * a's second, too, and b's second gets the two GPUs that are free, before a's third. */
TEST(test_kueue_turns)
{
    const case_job jobs[] = {{0, 1000, 6, "b", NULL}, {10, 50, 7, "a", NULL}, {10, 50, 8, "a", NULL},
                             {10, 100, 2, "a", NULL}, {10, 50, 7, "b", NULL}, {10, 100, 2, "b", NULL}};
    expect_kueue("a,r,4,,,,,,,\nb,r,4,,,,,,,\n", "none", jobs, 6, (const double[]){0, 1000, 1050, 110, 1100, 10},
                 (const int[]){0, 0, 0, 0, 0, 0});
}

/* One GPU: the sum of completion times is least if the shortest goes first; a gang of two with half
 * the run time counts as much as two that run so long. */
TEST(test_allox)
{
    static const case_job jobs[] = {{0, 300, 1, NULL, NULL},
                                    {0, 200, 1, NULL, NULL},
                                    {0, 100, 1, NULL, NULL},
                                    {10, 50, 1, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 4), "allox", "consolidated");
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[2], S(100));
    assert_int_equal(rec->end_us[3], S(150));
    assert_int_equal(rec->end_us[1], S(350));
    assert_int_equal(rec->end_us[0], S(650));
}

/* ---- pairs ------------------------------------------------------------------------------------ */

static int64_t beside; /* rate of a job beside another; alone it is DLS_RATE_ONE */

static dls_status settle_pairs(dls_world *w, const dls_rate_change **changed, size_t *n, dls_error *err)
{
    *n = 0;
    for (int32_t j = 0; j < FAKE_JOBS; j++) {
        bool alone = true;
        for (int32_t k = 0; k < FAKE_JOBS; k++) {
            alone = alone && !(w->running[j] && w->running[k] && fake_shares_gpu(w, j, k));
        }
        const int64_t rate = alone ? DLS_RATE_ONE : beside;
        if (w->running[j] && rate != w->rate[j]) {
            w->rate[j] = rate;
            w->change[(*n)++] = (dls_rate_change){j, rate};
        }
    }
    *changed = w->change;
    return DLS_OK;
}

static dls_record *run_pairs(const case_job *jobs, size_t n, int gpus, double rate)
{
    sim_setup s;
    fake_world w;
    setup_init(&s, case_cluster(1, gpus, 0), case_trace(jobs, n), "gandiva-pack", "consolidated");
    setup_option(&s, "round")->f = 100;
    beside = llround(rate * DLS_RATE_ONE);
    dls_pace pace = fake_pace(&w, s.trace);
    pace.settle = settle_pairs;
    pace.solo = NULL;
    pace.alone = NULL;
    s.p.pace = &pace;
    dls_record *rec = case_run(&s.p);
    setup_fini(&s);
    return rec;
}

/* A GPU for each of two: they do not share. */
TEST(test_gandiva_room_for_all)
{
    static const case_job jobs[] = {{0, 1000, 1, NULL, NULL}, {0, 1000, 1, NULL, NULL}};
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_pairs(jobs, 2, 2, 0.75);
    assert_int_equal(rec->guest_starts, 0);
    assert_int_equal(rec->end_us[1], S(1000));
}

/* Two jobs and one GPU: each runs alone for a round, then they share it for as long as that pays. */
TEST(test_gandiva_pair_pays)
{
    static const case_job jobs[] = {{0, 1000, 1, NULL, NULL}, {0, 1000, 1, NULL, NULL}};
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_pairs(jobs, 2, 1, 0.75);
    assert_int_equal(rec->guest_starts, 1);
    for (int j = 0; j < 2; j++) {
        assert_int_equal(rec->start_us[j], S(100 * j));
        assert_int_equal(rec->end_us[j], S(200 + 900 / 0.75));
    }
}

/* Where it does not they are parted after a round, and do not share again. */
TEST(test_gandiva_pair_does_not_pay)
{
    static const case_job jobs[] = {{0, 1000, 1, NULL, NULL}, {0, 1000, 1, NULL, NULL}};
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_pairs(jobs, 2, 1, 0.25);
    assert_int_equal(rec->guest_starts, 1);
    const int64_t first = rec->end_us[0] < rec->end_us[1] ? rec->end_us[0] : rec->end_us[1];
    const int64_t last = rec->end_us[0] + rec->end_us[1] - first;
    assert_in_range(first, S(1000), last);
    /* Alone, but for 100 s in which both do a quarter; and the GPU is idle for the rest of the round in which the
     * first ends. */
    assert_int_equal(last, S(2 * 1000 + 100 - 2 * 25 + 25));
}

/* Three jobs on one GPU: each pair is tried, none pays, and then they take turns. */
TEST(test_gandiva_tries_others)
{
    static const case_job jobs[] = {{0, 3000, 1, NULL, NULL}, {0, 3000, 1, NULL, NULL}, {0, 3000, 1, NULL, NULL}};
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_pairs(jobs, 3, 1, 0.25);
    assert_int_equal(rec->guest_starts, 3);
}

GROUP(make_folder, drop_folder)
