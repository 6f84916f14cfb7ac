/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The placement index and the placement policies that ask no predictor on random clusters (several
 * groups, node sizes, racks, GPU types, with and without CPU and memory) under random takes and
 * gives: each query against a search of all nodes, each grant against what its policy promises.
 */
#include "placement/fit.h"
#include "support/place_world.h"
#include "support/sim_setup.h"

#include <time.h>

/* ---- queries --------------------------------------------------------------------------------- */

static void check_first(const world *w, const dls_request *r, int32_t min, int32_t max,
                        int32_t from)
{
    int32_t want = -1;
    for (int32_t i = w->x->n_nodes - 1; i >= from; i--) {
        const dls_node *p = &w->x->node[i];
        if (p->type == r->type && p->free >= min && p->free <= max && usable(w, r, i) >= min) {
            want = i;
        }
    }
    assert_int_equal(dls_place_first(w->x, r, min, max, from), want);
}

static void check_racks(const world *w, int32_t type, int32_t f)
{
    const dls_place_index *x = w->x;
    int32_t count = 0, fullest = -1, most = 0, have[64];
    assert_true(x->n_racks <= 64);
    for (int32_t k = 0; k < x->n_racks; k++) {
        int32_t first, end;
        dls_place_rack_range(x, k, &first, &end);
        assert_true(first < end);
        have[k] = 0;
        for (int32_t i = first; i < end; i++) {
            assert_int_equal(dls_place_rack(x, i), k);
            have[k] += x->node[i].type == type && x->node[i].free == f;
        }
        count += have[k];
        if (have[k] > most) {
            most = have[k];
            fullest = k;
        }
    }
    int32_t got;
    assert_int_equal(dls_place_count(x, type, f), count);
    assert_int_equal(dls_place_fullest_rack(x, type, f, &got), fullest);
    assert_int_equal(got, most);
    for (int32_t nodes = 1; nodes <= most + 1; nodes++) {
        int32_t want = -1;
        for (int32_t from = x->n_racks; from >= 0; from--) {
            want = from < x->n_racks && have[from] >= nodes ? from : want;
            assert_int_equal(dls_place_first_rack(x, type, f, nodes, from), want);
        }
    }
}

/* Requests that were refused have room exactly if all nodes together have it for the gang. */
static void check_room(const world *w, const dls_request *r)
{
    dls_error err;
    dls_request as = *r;
    int32_t room = 0;
    for (int32_t i = 0; i < w->x->n_nodes; i++) {
        room += usable(w, r, i);
    }
    if (dls_place_refused(w->x, r, &err) != DLS_OK) {
        case_fail(&err);
    }
    if (r->cpu_milli_per_gpu > 0 || r->mem_mib_per_gpu > 0) {
        for (as.gpus = room > 1 ? room - 1 : 1; as.gpus <= room + 2; as.gpus++) {
            assert_int_equal(dls_place_has_room(w->x, &as), as.gpus <= room);
        }
    }
}

static void check_queries(world *w)
{
    const dls_place_index *x = w->x;
    dls_error err;
    if (dls_place_index_check(x, &err) != DLS_OK) {
        case_fail(&err);
    }
    const dls_request r = draw_request(w, true);
    const int32_t most = dls_place_max_gpus(x, r.type);
    int32_t sum = 0;
    for (int32_t i = 0; i < dls_place_nodes(x); i++) {
        sum += dls_place_free(x, i);
        assert_true(dls_place_free(x, i) <= dls_place_capacity(x, i));
        if (x->node[i].type == r.type) {
            assert_int_equal(dls_place_cpu_limit(x, &r, i), usable(w, &r, i));
            assert_true(dls_place_capacity(x, i) <= most);
        }
    }
    assert_int_equal(sum, x->free_gpus);
    for (int32_t min = 1; min <= most + 1; min++) {
        check_first(w, &r, min, most, below(w, (uint64_t)x->n_nodes + 1));
        check_first(w, &r, min, min + below(w, 4), below(w, (uint64_t)x->n_nodes));
        int32_t best = -1;
        for (int32_t i = 0; i < x->n_nodes; i++) {
            if (usable(w, &r, i) >= min && (best < 0 || x->node[i].free < x->node[best].free)) {
                best = i;
            }
        }
        assert_int_equal(dls_place_best(x, &r, min), best);
    }
    check_room(w, &r);
    check_racks(w, r.type, below(w, (uint64_t)most + 1));
    assert_int_equal(dls_place_count(x, r.type, -1), 0);
    assert_int_equal(dls_place_count(x, r.type, most + 1), 0);
}

/* ---- grants ---------------------------------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
    return *(const int32_t *)b - *(const int32_t *)a;
}

/* Fewest nodes whose usable GPUs reach the gang; 0: it does not fit. */
static size_t fewest_nodes(const world *w, const dls_request *r)
{
    int32_t room[64], left = r->gpus;
    size_t n = 0;
    assert_true(w->x->n_nodes <= 64);
    for (int32_t i = 0; i < w->x->n_nodes; i++) {
        room[i] = usable(w, r, i);
    }
    qsort(room, (size_t)w->x->n_nodes, sizeof *room, descending);
    while (left > 0 && n < (size_t)w->x->n_nodes && room[n] > 0) {
        left -= room[n++];
    }
    return left > 0 ? 0 : n;
}

static bool has_side(const dls_request *r)
{
    return r->cpu_milli_per_gpu > 0 || r->mem_mib_per_gpu > 0;
}

static void check_consolidated(const world *w, const dls_request *r)
{
    const answer a = ask(w, "consolidated", NULL, r);
    const size_t fewest = fewest_nodes(w, r);
    assert_int_equal(a.placed, fewest > 0);
    if (!a.placed) {
        return;
    }
    check_legal(w, r, &a);
    if (fewest == 1) {
        assert_int_equal(a.n, 1);
        assert_int_equal(a.node[0], dls_place_best(w->x, r, r->gpus));
    }
    assert_int_equal(a.n, fewest);
    /* Nothing beside the grant is a tighter fit for the piece that leaves GPUs of its node free. */
    for (size_t i = 0; i < a.n; i++) {
        for (int32_t k = 0; k < w->x->n_nodes && a.gpus[i] < w->x->node[a.node[i]].free; k++) {
            bool used = false;
            for (size_t m = 0; m < a.n; m++) {
                used = used || a.node[m] == k;
            }
            assert_true(used || usable(w, r, k) < a.gpus[i] ||
                        w->x->node[k].free >= w->x->node[a.node[i]].free);
        }
    }
    if (has_side(r)) {
        return; /* with CPU or memory short racks are not looked at */
    }
    /* Whole nodes of the emptiest kind: one rack if one has enough of them. */
    const int32_t g = a.gpus[0];
    bool whole = true;
    for (size_t i = 0; i < a.n; i++) {
        whole = whole && a.gpus[i] == g && w->x->node[a.node[i]].free == g;
    }
    const bool one_rack = dls_place_first_rack(w->x, r->type, g, (int32_t)a.n, 0) >= 0;
    for (size_t i = 1; whole && one_rack && i < a.n; i++) {
        assert_int_equal(dls_place_rack(w->x, a.node[i]), dls_place_rack(w->x, a.node[0]));
    }
}

/* Leftovers: never refused when there is room, and a node with more free GPUs only when all usable ones of those with
 * fewer are taken. */
static void check_fragments(const world *w, const dls_request *r)
{
    dls_grant grant = {0};
    int32_t got[64] = {0}, fullest = 0;
    assert_int_equal(dls_fit_fragments(w->x, r, &grant), fewest_nodes(w, r) > 0);
    for (size_t i = 0; fewest_nodes(w, r) > 0 && i < grant.n; i++) {
        const int32_t node = grant.part[i].node, free = w->x->node[node].free;
        got[node] += grant.part[i].gpus;
        fullest = free > fullest ? free : fullest;
        assert_true(got[node] <= usable(w, r, node));
    }
    for (int32_t i = 0; i < w->x->n_nodes; i++) {
        assert_true(w->x->node[i].free >= fullest || got[i] == usable(w, r, i));
    }
    dls_grant_fini(&grant);
}

/* Is there a rack with g / G nodes that can give G GPUs and another that can give the rest? */
static bool some_rack_holds(const world *w, const dls_request *r)
{
    const int32_t most = w->x->type[r->type].max_gpus;
    const int32_t idle = r->gpus > most ? r->gpus / most : 0;
    const int32_t rest = r->gpus > most ? r->gpus % most : r->gpus;
    for (int32_t k = 0; k < w->x->n_racks; k++) {
        int32_t wholes = 0, others = 0;
        for (int32_t i = w->x->rack[k].first; i < w->x->rack[k].end; i++) {
            wholes += usable(w, r, i) == most;
            others += usable(w, r, i) < most && rest > 0 && usable(w, r, i) >= rest;
        }
        if (wholes >= idle && (rest == 0 || others > 0 || wholes > idle)) {
            return true;
        }
    }
    return false;
}

static void check_yarn(const world *w, const dls_request *r)
{
    const answer a = ask(w, "yarn", NULL, r);
    const int32_t most = w->x->type[r->type].max_gpus;
    assert_int_equal(a.placed, some_rack_holds(w, r));
    if (!a.placed) {
        return;
    }
    check_legal(w, r, &a);
    assert_int_equal(a.n, (r->gpus + most - 1) / most);
    for (size_t i = 0; i < a.n; i++) {
        assert_int_equal(dls_place_rack(w->x, a.node[i]), dls_place_rack(w->x, a.node[0]));
        assert_true(a.gpus[i] == most || a.gpus[i] == r->gpus % most);
    }
    if (a.n == 1) {
        check_first(w, r, r->gpus, most, 0);
        assert_int_equal(a.node[0], dls_place_first(w->x, r, r->gpus, most, 0));
    }
}

static void check_spread(const world *w, const dls_request *r)
{
    const answer a = ask(w, "spread", NULL, r);
    int64_t room = 0;
    size_t nodes = 0;
    for (int32_t i = 0; i < w->x->n_nodes; i++) {
        room += usable(w, r, i);
        nodes += usable(w, r, i) > 0;
    }
    assert_int_equal(a.placed, room >= r->gpus);
    if (a.placed) {
        check_legal(w, r, &a);
        assert_int_equal(a.n, nodes < (size_t)r->gpus ? nodes : (size_t)r->gpus);
    }
}

static void check_first_fit(const world *w, const dls_request *r)
{
    const answer a = ask(w, "first-fit", NULL, r);
    const int32_t most = w->x->type[r->type].max_gpus;
    assert_int_equal(a.placed, fewest_nodes(w, r) > 0);
    if (!a.placed) {
        return;
    }
    check_legal(w, r, &a);
    const int32_t whole = dls_place_first(w->x, r, r->gpus, most, 0);
    if (whole >= 0) {
        assert_int_equal(a.n, 1);
        assert_int_equal(a.node[0], whole);
        return;
    }
    /* All usable GPUs of each usable node from the first on, but for the last. */
    int32_t left = r->gpus;
    size_t k = 0;
    for (int32_t i = 0; i < w->x->n_nodes && left > 0; i++) {
        const int32_t room = usable(w, r, i);
        if (room > 0) {
            assert_true(k < a.n);
            assert_int_equal(a.node[k], i);
            assert_int_equal(a.gpus[k], room < left ? room : left);
            left -= a.gpus[k++];
        }
    }
    assert_int_equal(k, a.n);
}

static void check_count(const world *w, const dls_request *r)
{
    dls_request bare = *r;
    bare.cpu_milli_per_gpu = bare.mem_mib_per_gpu = 0;
    const answer a = ask(w, "count", NULL, &bare);
    assert_int_equal(a.placed, w->x->type[r->type].free_gpus >= r->gpus);
    if (a.placed) {
        check_legal(w, &bare, &a);
    }
}

/* Random places: never refused when there is room, and fixed by (seed, job, attempt). */
static void check_random(const world *w, const char *policy, const dls_request *r)
{
    const answer a = ask(w, policy, NULL, r), b = ask(w, policy, NULL, r);
    assert_int_equal(a.placed, fewest_nodes(w, r) > 0);
    assert_memory_equal(&a, &b, sizeof a);
    if (a.placed) {
        check_legal(w, r, &a);
    }
}

/* ---- random histories ------------------------------------------------------------------------ */

static void one_history(uint64_t seed, int64_t *asked, int64_t *placed)
{
    static const char *const policies[] = {"consolidated", "yarn",  "spread",   "random",
                                           "crandom",      "count", "first-fit"};
    world w;
    make_world(&w, seed);
    const int64_t total = w.x->total_gpus;
    for (int step = 0; step < 60; step++) {
        const dls_request r = draw_request(&w, true);
        check_queries(&w);
        check_consolidated(&w, &r);
        check_fragments(&w, &r);
        check_yarn(&w, &r);
        check_spread(&w, &r);
        check_first_fit(&w, &r);
        check_count(&w, &r);
        check_random(&w, "random", &r);
        check_random(&w, "crandom", &r);
        if (w.n_held > 0 && (w.n_held == MAX_HELD || below(&w, 5) < 2)) {
            give(&w, below(&w, (uint64_t)w.n_held));
        } else {
            dls_request small = r;
            small.gpus = 1 + below(&w, below(&w, 3) ? 4 : 20);
            const char *policy = policies[below(&w, sizeof policies / sizeof *policies)];
            if (case_placement(policy)->gpus_only) {
                small.cpu_milli_per_gpu = small.mem_mib_per_gpu = 0;
            }
            const answer a = ask(&w, policy, NULL, &small);
            (*asked)++;
            if (a.placed) {
                take(&w, &small, &a);
                (*placed)++;
            }
        }
    }
    while (w.n_held > 0) {
        give(&w, 0);
    }
    check_queries(&w);
    assert_int_equal(w.x->free_gpus, total);
    assert_int_equal(w.x->busy_nodes, 0);
    dls_place_index_destroy(w.x);
    free(w.spec.groups);
}

TEST(test_random_histories)
{
    int64_t asked = 0, placed = 0;
    for (uint64_t seed = 0; seed < FEWER(1500); seed++) {
        one_history(seed, &asked, &placed);
    }
    assert_true(placed > asked / 2 && placed < asked);
}

/* Draws differ from seed to seed, from job to job and from one attempt to the next. */
/* As few NVLink domains of a node as can be, and of one that holds the gang the one with least room. */
TEST(test_domains)
{
    const int32_t sizes[] = {1, 2, 4, 8};
    for (uint64_t seed = 0; seed < FEWER(400); seed++) {
        dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 0);
        dls_node_group group = {.name = "n", .nodes = 1, .gpus_per_node = 16, .domain_bps = 1e9};
        dls_cluster_spec spec = {.groups = &group, .n_groups = 1, .n_types = 1};
        DLS_HOLD(dls_place_index_destroy) dls_place_index *x = NULL;
        group.domain_gpus = sizes[seed % 4];
        spec.types[0] = *dls_gpu_find("V100");
        assert_int_equal(dls_place_index_create(&spec, &x, NULL), DLS_OK);
        uint64_t free = dls_rng_u64(&rng) & 0xffff;
        free |= UINT64_C(1) << dls_rng_below(&rng, 16);
        if (free != 0xffff) {
            assert_true(dls_place_retake(x, 0, 0xffff & ~free, 0, 0));
        }
        const int32_t gpus = 1 + (int32_t)dls_rng_below(&rng, (uint64_t)dls_gpus_of(free));
        const uint64_t taken = dls_place_take(x, 0, gpus, 0, 0);
        assert_true((taken & ~free) == 0 && dls_gpus_of(taken) == gpus);
        assert_true(x->node[0].free_mask == (free & ~taken));
        const int32_t size = group.domain_gpus, n = 16 / size;
        int32_t least = 17, touched = 0, room = 0;
        for (uint32_t some = 1; some < UINT32_C(1) << n; some++) { /* every set of domains */
            int32_t have = 0;
            for (int32_t d = 0; d < n; d++) {
                const uint64_t here = ((UINT64_C(1) << size) - 1) << d * size;
                have += some >> d & 1 ? dls_gpus_of(free & here) : 0;
            }
            const int32_t domains = __builtin_popcount(some);
            least = have >= gpus && domains < least ? domains : least;
            room = have >= gpus && domains == 1 && (room == 0 || have < room) ? have : room;
        }
        for (int32_t d = 0; d < n; d++) {
            const uint64_t here = ((UINT64_C(1) << size) - 1) << d * size;
            touched += (taken & here) != 0;
            assert_true(least > 1 || !(taken & here) || dls_gpus_of(free & here) == room);
        }
        assert_int_equal(touched, least);
    }
}

TEST(test_random_differs)
{
    static const char *const policies[] = {"random", "crandom"};
    world w;
    memset(&w, 0, sizeof w);
    w.spec = case_cluster(60, 8, 10);
    assert_int_equal(dls_place_index_create(&w.spec, &w.x, NULL), DLS_OK);
    for (size_t k = 0; k < 2; k++) {
        const dls_request base = {.job = 3, .gpus = 8, .attempt = 1, .seed = 11};
        const answer a = ask(&w, policies[k], NULL, &base);
        int differ[3] = {0};
        for (int i = 1; i <= 20; i++) {
            dls_request r[3] = {base, base, base};
            r[0].seed += (uint64_t)i + 100;
            r[1].job += i;
            r[2].attempt += i;
            for (int v = 0; v < 3; v++) {
                const answer b = ask(&w, policies[k], NULL, &r[v]);
                differ[v] += memcmp(&a, &b, sizeof a) != 0;
            }
        }
        /* Of 60 places crandom hits the same one in a 60th of the cases. */
        assert_true(differ[0] > 15 && differ[1] > 15 && differ[2] > 15);
    }
    dls_place_index_destroy(w.x);
    free(w.spec.groups);
}

/* Six nodes of one type behind ten of another, two of which are full: the other four are as likely as each other,
 * for a GPU and for four. Chi-square of three degrees of freedom is above 30.7 in one case of a million. */
TEST(test_random_is_uniform)
{
    static const char *const policies[] = {"random", "crandom"};
    enum { DRAWS = 4000 };
    world w;
    memset(&w, 0, sizeof w);
    w.spec = two_types(10, 6, 4, 2);
    assert_int_equal(dls_place_index_create(&w.spec, &w.x, NULL), DLS_OK);
    for (int32_t node = 10; node < 12; node++) {
        dls_place_take(w.x, node, 4, 0, 0);
    }
    for (int k = 0; k < 4; k++) {
        int drawn[16] = {0};
        double chi2 = 0;
        for (int32_t i = 0; i < DRAWS; i++) {
            const dls_request r = {.job = i, .gpus = k < 2 ? 1 : 4, .attempt = 1, .seed = 5, .type = 1};
            const answer a = ask(&w, policies[k % 2], NULL, &r);
            assert_true(a.placed);
            drawn[a.node[0]]++;
        }
        for (int32_t node = 0; node < 16; node++) {
            const double want = node >= 12 ? DRAWS / 4. : 0;
            assert_true(want > 0 || drawn[node] == 0);
            chi2 += want > 0 ? (drawn[node] - want) * (drawn[node] - want) / want : 0;
        }
        assert_true(chi2 < 30.7);
    }
    dls_place_index_destroy(w.x);
    free(w.spec.groups);
}

/* ---- grants ---------------------------------------------------------------------------------- */

/* Parts are merged by node, whatever was granted before with the same memory. */
TEST(test_grant_by_node)
{
    dls_cluster_spec spec = case_cluster(300, 8, 4);
    dls_place_index *x;
    dls_grant grant = {0};
    assert_int_equal(dls_place_index_create(&spec, &x, NULL), DLS_OK);
    dls_rng rng = dls_rng_stream(3, DLS_RNG_TEST, 1);
    for (int round = 0; round < 200; round++) {
        int32_t taken[300] = {0};
        int64_t sum = 0;
        size_t n = 0;
        dls_grant_reset(&grant);
        for (uint64_t k = dls_rng_below(&rng, 400); k > 0; k--) {
            const int32_t node = (int32_t)dls_rng_below(&rng, 1 + dls_rng_below(&rng, 300));
            n += taken[node] == 0;
            taken[node]++;
            sum++;
            dls_grant_add(&grant, node, 1);
        }
        assert_int_equal(grant.n, n);
        assert_int_equal(grant.gpus, sum);
        for (int32_t i = 0; i < 300; i++) {
            assert_int_equal(dls_grant_left(&grant, x, i), 8 - taken[i]);
        }
        for (size_t i = 0; i < grant.n; i++) {
            assert_int_equal(grant.part[i].gpus, taken[grant.part[i].node]);
        }
    }
    dls_grant_fini(&grant);
    dls_place_index_destroy(x);
    free(spec.groups);
}

/* One gang of 100,000 GPUs, each on a node drawn for itself: 12,500 parts. With a search of all parts
 * for every GPU it takes some 20 s, with none 0.05 s. */
TEST(test_large_gang)
{
    const case_job job = {0, 10, 100000, NULL, NULL};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(12500, 8, 40), case_trace(&job, 1), "fifo", "random");
    const clock_t start = clock();
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    assert_int_equal(rec->end_us[0], S(10));
}
