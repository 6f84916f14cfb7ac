/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plug-ins that must be refused, chosen by BAD.
 */
#include "dlsim/policy.h"

#define BAD_ABI 1
#define BAD_NAME_TAKEN 2
#define BAD_OPTION 3
#define BAD_TIER 4
#define BAD_EMPTY 5

static const dls_option options[] = {
    {"speed", DLS_OPT_F64, 0, 10, BAD == BAD_OPTION ? "11" : "1", "", "a number", NULL},
    {0},
};

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    out->key = 0;
}

DLS_API const dls_plugin *dls_plugin_entry(void);

const dls_plugin *dls_plugin_entry(void)
{
    static const dls_sched_ops sched = {
        .abi = DLS_POLICY_ABI,
        .name = BAD == BAD_NAME_TAKEN ? "fifo" : "mine",
        .summary = "refused",
        .options = options,
        .priority = BAD == BAD_TIER ? NULL : priority,
    };
    static const dls_sched_ops *const scheds[] = {&sched, NULL};
    static const dls_plugin plugin = {BAD == BAD_ABI ? DLS_POLICY_ABI + 1 : DLS_POLICY_ABI,
                                      BAD == BAD_EMPTY ? NULL : scheds, NULL};
    return &plugin;
}
