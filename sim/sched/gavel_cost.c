/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gavel-cost: the most training for the money, with the work of those that have a deadline done in
 * time. Deadlines that cannot all be kept bind nobody, as in Gavel.
 */
#include "sched/gavel.h"

#include <stdlib.h>
#include <string.h>

enum { OPT_PRICES = DLS_GAVEL_OPTIONS_N };

/* Google's prices of 2020, dollars per GPU-hour, with which Gavel was evaluated. */
static const dls_option options[] = {
    DLS_GAVEL_OPTIONS,
    [OPT_PRICES] = {"prices", DLS_OPT_STR, 0, 1000, "V100:0.74 P100:0.43 K80:0.135", "",
                    "of a GPU of a type for an hour, NAME:PRICE with blanks between; others: 1",
                    NULL},
    {0},
};

static bool is_name(const char *name, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const char a = name[i], b = text[i];
        const char x = a >= 'a' && a <= 'z' ? (char)(a - 32) : a;
        const char y = b >= 'a' && b <= 'z' ? (char)(b - 32) : b;
        if (x != y) {
            return false;
        }
    }
    return name[len] == '\0';
}

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    dls_gavel *g = state;
    DLS_TRY(dls_gavel_init(state, view, values, err));
    g->prices = true;
    bool said[DLS_TYPES_MAX] = {false};
    for (const char *at = values[OPT_PRICES].s; *at;) {
        const size_t len = strcspn(at, ": ");
        char *end = NULL;
        const double price = at[len] == ':' ? strtod(at + len + 1, &end) : 0;
        if (len == 0 || !(price > 0) || price > 1e9 || (*end && *end != ' ')) {
            return dls_fail(err, DLS_ECONFIG, "gavel-cost",
                            "prices: expected NAME:PRICE above 0, not \"%.40s\"", at);
        }
        for (int32_t t = 0; t < view->n_types; t++) {
            if (is_name(dls_view_type_name(view, t), at, len)) {
                if (said[t]) {
                    return dls_fail(err, DLS_ECONFIG, "gavel-cost", "prices: %.*s is there twice", (int)len, at);
                }
                said[t] = true;
                g->price[t] = price;
            }
        }
        at = end + strspn(end, " ");
    }
    return DLS_OK;
}

static dls_status objective(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err)
{
    bool met = true;
    DLS_TRY(dls_timeshares_cost(&g->shares, &met, outcome, err));
    g->relaxed = !met;
    return DLS_OK;
}

DLS_GAVEL_ROUND(cost_round, objective)

const dls_sched_ops dls_sched_ops_gavel_cost = {
    DLS_GAVEL_MEMBERS(options, cost_round),
    .name = "gavel-cost",
    .summary = "most training for the money, deadlines kept if all can be; rounds of Gavel",
    .init = init,
};
