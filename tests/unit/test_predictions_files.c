/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predictions in files: recordings that are replayed, answers that are kept.
 */
#include "predictions_util.h"

#include "base/alloc.h"
#include "predictor/sources/keep.h"
#include "support/must.h"

/* ---- files ----------------------------------------------------------------------------------- */

TEST(test_record_replay)
{
    DLS_OWN(world_fini) world_setup s = {0};
    dls_error err;
    dls_predictions *again;
    open_world(&s);
    dls_prediction_params p = predictions_params(&s, "noisy");
    p.record_path = file;
    dls_predictions *f = predictions_open(&p);
    predictions_prepare(f, 0, 5);
    assert_int_equal(dls_predictions_finish(f, NULL, &err), DLS_OK);
    /* Replayed, the source is not even opened: another seed changes nothing. */
    p.record_path = NULL;
    p.replay_path = file;
    p.seed = 99;
    again = predictions_open(&p);
    predictions_prepare(again, 0, 5);
    assert_int_equal(dls_predictions_about(again).batches, 0);
    assert_true(dls_predictions_about(again).disk_hits > 0);
    assert_string_equal(dls_predictions_about(again).backend, "replayed");
    assert_int_equal(dls_predictions_finish(again, NULL, &err), DLS_OK);
    predictions_prepare(again, 5, 6); /* nobody is asked about a model that nobody knows */
    predictions_prepare(f, 5, 6);
    const int32_t bert = 6;
    MUST_FAIL(DLS_EINPUT, "bert_base", dls_predictions_prepare(again, &bert, 1, &e));
    dls_predictions_destroy(again);
    again = predictions_open(&p);
    predictions_prepare(again, 0, 6);
    same_answers(f, again, 6);
    dls_predictions_destroy(again);
    dls_predictions_destroy(f);
    /* No such recording; one of another predictor. */
    p.replay_path = "/nowhere";
    assert_int_equal(dls_predictions_create(&p, &again, &err), DLS_EINPUT);
    p.replay_path = file;
    p.source = "operator";
    again = predictions_open(&p);
    assert_int_equal(dls_predictions_prepare(again, &bert, 1, &err), DLS_EINPUT);
    dls_predictions_destroy(again);
    unlink(file);
}

/* A recording answers the questions that were asked, and no others: whatever an answer depends on
 * is part of the question. */
TEST(test_other_questions)
{
    DLS_OWN(world_fini) world_setup s = {0};
    dls_error err;
    open_world(&s);
    dls_prediction_params p = predictions_params(&s, "operator");
    p.record_path = file;
    dls_predictions *f = predictions_open(&p);
    predictions_prepare(f, 0, 1);
    assert_int_equal(dls_predictions_finish(f, NULL, &err), DLS_OK);
    dls_predictions_destroy(f);
    p.record_path = NULL;
    p.replay_path = file;
    double *const number[] = {&s.cluster.groups[0].nic_bps, &s.cluster.groups[1].nic_bps,
                              &s.cluster.rack_uplink_bps, &s.cluster.types[0].peer_bps,
                              &s.cluster.types[1].mem_gib};
    const char **const name[] = {&p.exchange, &p.numeric, &p.host, &p.fabric};
    static const char *const other[] = {"ps-sync", "fp16", "a host", "a fabric"};
    const int32_t first = 0, other_batch = 3;
    for (size_t i = 0; i <= 9; i++) {
        const char *const was = i >= 5 && i < 9 ? *name[i - 5] : NULL;
        if (i < 5) {
            *number[i] += 1e9;
        } else if (i < 9) {
            *name[i - 5] = other[i - 5];
        }
        f = predictions_open(&p);
        const dls_status status = dls_predictions_prepare(f, &first, 1, &err);
        if (status != (i == 9 ? DLS_OK : DLS_EINPUT)) {
            fail_msg("question %zu: %s", i, i == 9 ? err.msg : "answered from another's recording");
        }
        dls_predictions_destroy(f);
        if (i < 5) {
            *number[i] -= 1e9;
        } else if (i < 9) {
            *name[i - 5] = was;
        }
    }
    f = predictions_open(&p);
    assert_int_equal(dls_predictions_prepare(f, &other_batch, 1, &err), DLS_EINPUT);
    dls_predictions_destroy(f);
    for (int g = 0; g < 2; g++) { /* every GPU is an NVLink domain of its own */
        s.cluster.groups[g].domain_gpus = 1;
        s.cluster.groups[g].domain_bps = 1e9;
    }
    f = predictions_open(&p);
    assert_int_equal(dls_predictions_prepare(f, &first, 1, &err), DLS_EINPUT);
    dls_predictions_destroy(f);
    unlink(file);
}

/* A model's name of any length, alone and beside another that begins like it. */
TEST(test_long_names)
{
    static char names[2][3000];
    world_job two[2] = {{names[0], 8, 32, 1000, 0}, {names[1], 8, 64, 1000, 0}};
    DLS_OWN(world_fini) world_setup s = {0};
    dls_error err;
    for (int i = 0; i < 2; i++) {
        memset(names[i], 'x', sizeof names[i] - 1);
        memcpy(names[i], "vgg16 (", 7);
    }
    names[1][sizeof names[1] - 2] = 'y';
    world_init(&s, "operator", groups, 2, two, 2);
    world_open(&s);
    dls_prediction_params p = predictions_params(&s, "operator");
    p.record_path = file;
    dls_predictions *f = predictions_open(&p);
    predictions_prepare(f, 0, 2);
    assert_int_equal(dls_predictions_finish(f, NULL, &err), DLS_OK);
    p.record_path = NULL;
    p.replay_path = file;
    dls_predictions *again = predictions_open(&p);
    predictions_prepare(again, 0, 2);
    same_answers(f, again, 2);
    const dls_prediction near = predictions_get(again, 0, 0, 8, 2, 1);
    assert_true(near.iteration_s != predictions_get(again, 0, 0, 8, 8, 2).iteration_s);
    assert_true(near.iteration_s != predictions_get(again, 1, 0, 8, 2, 1).iteration_s);
    dls_predictions_destroy(again);
    dls_predictions_destroy(f);
    unlink(file);
}

static dls_answers *some_answers(int n)
{
    dls_answers *a;
    assert_int_equal(dls_answers_create(&a, NULL), DLS_OK);
    for (int i = 0; i < n; i++) {
        char text[32];
        snprintf(text, sizeof text, "question %d", i);
        const dls_answer_key key = dls_answer_key_of(text);
        const dls_kept_answer answer = {.iteration_s = 1 + i, .metric = {1, 2}, .distance = 0.5};
        assert_int_equal(dls_answers_put(a, &key, &answer, NULL), DLS_OK);
    }
    return a;
}

TEST(test_keep)
{
    dls_answers *a = some_answers(1000), *b;
    dls_error err;
    assert_int_equal(dls_answers_save(a, file, &err), DLS_OK);
    assert_int_equal(dls_answers_create(&b, NULL), DLS_OK);
    assert_int_equal(dls_answers_load(b, file, &err), DLS_OK);
    for (int i = 0; i < 1000; i++) {
        char text[32];
        snprintf(text, sizeof text, "question %d", i);
        const dls_answer_key key = dls_answer_key_of(text);
        assert_memory_equal(dls_answers_find(a, &key), dls_answers_find(b, &key),
                            sizeof(dls_kept_answer));
        assert_true(dls_answers_find(b, &key)->iteration_s == 1 + i);
    }
    const dls_answer_key other = dls_answer_key_of("another question");
    assert_null(dls_answers_find(b, &other));
    assert_int_equal(dls_answers_save(a, "/nowhere/at/all", &err), DLS_EOUTPUT);
    dls_answers_destroy(b);
    dls_answers_destroy(a);
    /* One bit anywhere, or a cut anywhere: refused. */
    const dls_answer_key first = dls_answer_key_of("question 0");
    a = some_answers(3);
    assert_int_equal(dls_answers_save(a, file, &err), DLS_OK);
    dls_answers_destroy(a);
    char bytes[1024];
    FILE *in = fopen(file, "rb");
    const size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    for (size_t i = 0; i <= 2 * n; i++) {
        FILE *out = fopen(file, "wb");
        if (i < n) {
            bytes[i] ^= 0x10;
            fwrite(bytes, 1, n, out);
            bytes[i] ^= 0x10;
        } else {
            fwrite(bytes, 1, i - n, out);
        }
        fclose(out);
        assert_int_equal(dls_answers_create(&b, NULL), DLS_OK);
        assert_int_equal(dls_answers_load(b, file, &err), i == 2 * n ? DLS_OK : DLS_EINPUT);
        assert_true((dls_answers_find(b, &first) != NULL) == (i == 2 * n));
        dls_answers_destroy(b);
    }
    unlink(file);
}

GROUP(make_folder, drop_folder)
