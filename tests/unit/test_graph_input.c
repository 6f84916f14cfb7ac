/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The spec of an inspector's input: its text says everything, and the input made from the text is
 * that made from the spec.
 */

#include "base/alloc.h"
#include "support/input_graph.h"
#include "support/test.h"
#include "workload/graph/zoo.h"

#include <stdio.h>
#include <string.h>

static dls_opgraph *zoo(const char *name)
{
    dls_error err = {0};
    dls_opgraph *g;
    const dls_zoo_model *model = dls_zoo_find(name);
    const dls_zoo_options options = dls_zoo_defaults(model);
    assert_int_equal(dls_zoo_build(model, &options, &g, &err), DLS_OK);
    return g;
}

static void fit(dls_input_spec *spec, dls_opgraph *g)
{
    dls_error err = {0};
    DLS_OWN(dls_grouping_fini) dls_grouping grouping = {0};
    assert_int_equal(dls_feature_spec_create(DLS_FEATURES_WORK, &spec->features, &err), DLS_OK);
    const dls_grouping_how how = dls_input_how(spec);
    assert_int_equal(dls_groupings_create(&g, 1, &how, &grouping, &err), DLS_OK);
    const dls_grouped corpus = {g, &grouping};
    assert_int_equal(dls_feature_spec_fit(spec->features, &corpus, 1, &err), DLS_OK);
}

static void same(const dls_graph *a, const dls_graph *b)
{
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_int_equal(a->n_features, b->n_features);
    assert_memory_equal(a->x, b->x, (size_t)(a->n_nodes * a->n_features) * sizeof *a->x);
    assert_memory_equal(a->row_start, b->row_start,
                        (size_t)(a->n_nodes + 1) * sizeof *a->row_start);
    assert_memory_equal(a->col, b->col, (size_t)a->row_start[a->n_nodes] * sizeof *a->col);
}

TEST(test_text)
{
    const dls_grouping_kind kinds[] = {DLS_GROUPING_UNIFORM, DLS_GROUPING_PROPORTIONAL,
                                       DLS_GROUPING_NONE};
    dls_opgraph *lenet = zoo("lenet"), *alexnet = zoo("alexnet");
    for (size_t i = 0; i < 3; i++) {
        dls_error err = {0};
        DLS_OWN(dls_input_spec_fini)
        dls_input_spec spec = {.grouping = kinds[i], .n_groups = 20, .seed = UINT64_MAX}, again = {0};
        char *text, *text_again;
        dls_graph a, b;
        int64_t unknown = -1;
        fit(&spec, lenet);
        assert_int_equal(dls_input_spec_text(&spec, &text, &err), DLS_OK);
        assert_int_equal(dls_input_spec_parse(text, &again, &err), DLS_OK);
        assert_int_equal(dls_input_spec_text(&again, &text_again, &err), DLS_OK);
        assert_string_equal(text, text_again);
        assert_true(again.seed == spec.seed && again.grouping == spec.grouping);
        assert_int_equal(input_graph(&spec, alexnet, &a, &unknown, &err), DLS_OK);
        assert_int_equal(input_graph(&again, alexnet, &b, NULL, &err), DLS_OK);
        assert_true(unknown > 0); /* LeNet has no dropout */
        same(&a, &b);
        if (kinds[i] == DLS_GROUPING_UNIFORM) {
            assert_int_equal(a.n_nodes, 20);
        }
        dls_input_graph_fini(&a);
        dls_input_graph_fini(&b);
        dls_free(text);
        dls_free(text_again);
    }
    dls_opgraph_destroy(lenet);
    dls_opgraph_destroy(alexnet);
}

/* A graph with fewer operations than groups gets one group for each. */
TEST(test_small_graph)
{
    dls_error err = {0};
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *lenet = zoo("lenet");
    DLS_OWN(dls_input_spec_fini) dls_input_spec spec = {.grouping = DLS_GROUPING_UNIFORM, .n_groups = 100000, .seed = 42};
    DLS_OWN(dls_input_graph_fini) dls_graph g = {0};
    fit(&spec, lenet);
    assert_int_equal(input_graph(&spec, lenet, &g, NULL, &err), DLS_OK);
    assert_true(g.n_nodes > 50 && g.n_nodes < lenet->n_nodes);
}

TEST(test_wrong_text)
{
    static const char good[] =
        "{\"grouping\":\"uniform\",\"groups\":20,\"seed\":42,\"features\":1,\"columns\":"
        "[\"tensor_size\",\"n_nodes\",\"node_type\"],\"scale\":[1.0,2.0,0.5],\"frequency\":"
        "{\"Conv2D\":0.25,\"Relu\":0.75}}";
    static const char *const cases[][3] = {
        /* replace, by, the member named */
        {"uniform", "random", "grouping"},
        {"\"groups\":20", "\"groups\":0", "groups"},
        {"\"seed\":42,", "", "seed"},
        {"\"features\":1", "\"features\":\"1\"", "features"},
        {"\"features\":1", "\"features\":9", "version 9"},
        {"n_nodes", "nodes", "columns"},
        {"[1.0,2.0,0.5]", "[1.0,2.0]", "scale"},
        {"[1.0,2.0,0.5]", "[1.0,0.0,0.5]", "scale"},
        {"0.25", "1.25", "Conv2D"},
        {"\"frequency\"", "\"often\"", "frequency"},
        {"{\"grouping\"", "[{\"grouping\"", "JSON"},
    };
    dls_error err = {0};
    dls_input_spec spec;
    assert_int_equal(dls_input_spec_parse(good, &spec, &err), DLS_OK);
    assert_true(spec.features->fallback == 0.25);
    dls_input_spec_fini(&spec);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        const char *at = strstr(good, cases[i][0]);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, cases[i][1],
                 at + strlen(cases[i][0]));
        assert_int_equal(dls_input_spec_parse(text, &spec, &err), DLS_EINPUT);
        if (!strstr(err.msg, cases[i][2])) {
            fail_msg("\"%s\" does not name %s", err.msg, cases[i][2]);
        }
    }
}
