/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Policies that ask for what does not exist get an answer and no crash; those that write where one
 * may only read are found out.
 */
#include "support/sim_setup.h"
#include "support/test.h"

/* ---- questions about what does not exist ----------------------------------------------------- */

static int32_t wild, wild_query;
enum { VIEW_QUERIES = 16, PLACE_QUERIES = 19 };

static void ask_view(const dls_view *v)
{
    switch (wild_query) {
    case 0:
        (void)dls_view_executed_us(v, wild);
        break;
    case 1:
        (void)dls_view_remaining_us(v, wild);
        break;
    case 2:
        (void)dls_view_saved_us(v, wild);
        break;
    case 3:
        *(int64_t *)dls_view_job_state(v, wild) = 1;
        break;
    case 4:
        (void)dls_view_next_waiting(v, wild);
        break;
    case 5:
        (void)dls_view_next_running(v, wild);
        break;
    case 6:
        (void)dls_view_quota_gpus(v, wild, 0);
        break;
    case 7:
        (void)dls_view_free_gpus(v, wild);
        break;
    case 8:
        (void)dls_view_types(v, wild);
        break;
    case 9:
        (void)dls_view_nodes(v, wild, NULL, 0);
        break;
    case 10:
        (void)dls_view_host(v, wild);
        break;
    case 11:
        (void)dls_view_batch(v, wild);
        break;
    case 12:
        (void)dls_view_service_us(v, wild, -1);
        break;
    case 13:
        (void)dls_view_most_gpus(v, wild, 0);
        break;
    case 14:
        (void)dls_view_room(v, wild);
        break;
    case 15: {
        dls_observation seen;
        assert_false(dls_view_observed(v, wild, &seen));
        break;
    }
    }
    assert_string_equal(dls_view_name(v, DLS_NAME_MODEL, wild), "");
}

static void wild_order(void *state, const dls_view *v, int32_t job, dls_job_event why,
                       dls_priority *out)
{
    if (job == 7 && why == DLS_EVENT_STARTED) {
        ask_view(v);
    }
}

static dls_status wild_pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    ask_view(v);
    return DLS_OK;
}

static bool wild_place(void *state, const dls_place_index *x, const dls_request *r, dls_grant *g)
{
    int32_t a, b;
    dls_request other = *r;
    other.type = wild;
    (void)dls_place_count(x, r->type, -5);
    (void)dls_place_first(x, r, -5, 100, -5);
    (void)dls_place_best(x, r, -5);
    (void)dls_place_first_rack(x, r->type, 1000, -5, -5);
    switch (wild_query) {
    case 0:
        (void)dls_place_capacity(x, wild);
        break;
    case 1:
        (void)dls_place_free(x, wild);
        break;
    case 2:
        (void)dls_place_rack(x, wild);
        break;
    case 3:
        dls_place_rack_range(x, wild, &a, &b);
        assert_int_equal(a, b);
        break;
    case 4:
        (void)dls_place_max_gpus(x, wild);
        break;
    case 5:
        (void)dls_place_free_gpus(x, wild);
        break;
    case 6:
        (void)dls_place_nic_bps(x, wild);
        break;
    case 7:
        (void)dls_place_uplink_bps(x, wild);
        break;
    case 8:
        (void)dls_place_gpu_mem_bytes(x, wild);
        (void)dls_place_gpu_flops(x, wild);
        (void)dls_place_paths(x);
        break;
    case 9:
        (void)dls_place_sizes(x, wild, 4);
        break;
    case 10:
        (void)dls_place_cpu_limit(x, r, wild);
        break;
    case 11:
        (void)dls_place_first(x, &other, 1, 4, 0);
        break;
    case 12:
        (void)dls_place_best(x, &other, 1);
        break;
    case 13:
        (void)dls_place_fullest_rack(x, wild, 4, &a);
        break;
    case 14:
        (void)dls_grant_left(g, x, wild);
        break;
    case 15:
        (void)dls_place_type(x, wild);
        break;
    case 16:
        (void)dls_place_changes(x, wild);
        break;
    case 17:
        (void)dls_place_free_mask(x, wild);
        break;
    case 18:
        (void)dls_place_gpu_speed(x, r, wild, 0);
        break;
    }
    return case_placement("first-fit")->place(state, x, r, g);
}

TEST(test_wild_indices)
{
    const dls_sched_ops order = {.abi = DLS_POLICY_ABI,
                                 .name = "wild",
                                 .job_state_bytes = sizeof(int64_t),
                                 .discipline = DLS_PREEMPT,
                                 .priority = wild_order};
    const dls_sched_ops program = {.abi = DLS_POLICY_ABI,
                                   .name = "wild",
                                   .job_state_bytes = sizeof(int64_t),
                                   .pass = wild_pass};
    const dls_placement_ops place = {.abi = DLS_POLICY_ABI, .name = "wild", .place = wild_place};
    static const int32_t indices[] = {-1, INT32_MIN, 25, INT32_MAX};
    for (size_t k = 0; k < 4; k++) {
        wild = indices[k];
        for (int kind = 0; kind < 3; kind++) {
            const int n = kind < 2 ? VIEW_QUERIES : PLACE_QUERIES;
            for (wild_query = 0; wild_query < n; wild_query++) {
                if (kind == 0 && (wild_query == 4 || wild_query == 5)) {
                    continue; /* for programs */
                }
                DLS_OWN(setup_fini) sim_setup s = {0};
                dls_record *rec = NULL;
                dls_error err;
                setup_small(&s, 5);
                s.p.sched = kind == 0 ? &order : kind == 1 ? &program : s.p.sched;
                s.p.placement = kind == 2 ? &place : s.p.placement;
                assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_EPOLICY);
                assert_null(rec);
                assert_string_equal(err.where, "wild");
                char number[16];
                snprintf(number, sizeof number, " %d of ", wild);
                assert_non_null(strstr(err.msg, number));
                assert_non_null(strstr(err.msg, kind < 2 ? "dls_view_" : "dls_"));
                assert_true(kind != 0 || strstr(err.msg, "about job 7 (at "));
            }
        }
    }
}

/* ---- writing where one may only read --------------------------------------------------------- */

static int scribble;
enum { COLUMNS = 12 };

static void scribble_into(const dls_view *v)
{
    const void *const at[] = {v->gpus,           v->submit_us, v->duration_us, v->estimate_us,
                              v->first_start_us, v->since_us,  v->progress_us, v->running,
                              v->held_type,      v->starts,    v->vc,          v->max_gpus};
    const size_t size[] = {4, 8, 8, 8, 8, 8, 8, 1, 1, 4, 4, 4};
    if (scribble < COLUMNS) {
        uint8_t *byte; /* of the last job */
        const void *last = (const char *)at[scribble] + (size_t)(v->n_jobs - 1) * size[scribble];
        memcpy(&byte, &last, sizeof byte);
        byte[0] ^= 1;
    } else {
        dls_view *own;
        memcpy(&own, &v, sizeof own);
        own->free_gpus++;
    }
}

static void scribbling_order(void *state, const dls_view *v, int32_t job, dls_job_event why,
                             dls_priority *out)
{
    if (job == 7 && why == DLS_EVENT_STARTED) {
        scribble_into(v);
    }
}

static dls_status scribbling_pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    dls_act_start(out, dls_view_first_waiting(v));
    scribble_into(v);
    dls_act_wake(out, v->now_us + 1); /* legal; does not hide it */
    return DLS_OK;
}

TEST(test_scribble)
{
    const dls_sched_ops order = {.abi = DLS_POLICY_ABI,
                                 .name = "scribe",
                                 .discipline = DLS_PREEMPT,
                                 .priority = scribbling_order};
    const dls_sched_ops program = {
        .abi = DLS_POLICY_ABI, .name = "scribe", .pass = scribbling_pass};
    for (scribble = 0; scribble <= COLUMNS; scribble++) {
        for (int kind = 0; kind < 2; kind++) {
            DLS_OWN(setup_fini) sim_setup s = {0};
            dls_record *rec = NULL;
            dls_error err;
            setup_small(&s, 7);
            s.p.sched = kind ? &program : &order;
            assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_EPOLICY);
            assert_string_equal(err.where, "scribe");
            assert_non_null(strstr(err.msg, "has written to"));
        }
    }
}
