#include "dlsim/policy.h"
#include <math.h>
static const dls_option options[] = {{.name = "any", .type = DLS_OPT_F64, .def = "1", .unit = "",
    .min = -INFINITY, .max = INFINITY, .doc = "a number"}, {0}};
static dls_status pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    (void)state; (void)v; (void)out; (void)err;
    return DLS_OK;
}
static const dls_sched_ops ops = {.abi = DLS_POLICY_ABI, .name = "wide", .summary = "wide",
    .options = options, .pass = pass};
static const dls_sched_ops *const scheds[] = {&ops, 0};
static const dls_plugin plugin = {.abi = DLS_POLICY_ABI, .scheds = scheds};
__attribute__((visibility("default"))) const dls_plugin *dls_plugin_entry(void) { return &plugin; }
