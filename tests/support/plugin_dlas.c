/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A plug-in with a scheduler that has queues, options and a state per job, and with the placement
 * that searches most: dlas-gpu and consolidated under other names. Their files are compiled beside
 * this one against sim/include alone, so what they do must be possible with the public interface.
 */
#include "dlsim/policy.h"

extern const dls_sched_ops dls_sched_ops_dlas_gpu;
extern const dls_placement_ops dls_placement_ops_consolidated;

DLS_API const dls_plugin *dls_plugin_entry(void);

const dls_plugin *dls_plugin_entry(void)
{
    static dls_sched_ops sched;
    static dls_placement_ops placement;
    static const dls_sched_ops *const scheds[] = {&sched, NULL};
    static const dls_placement_ops *const placements[] = {&placement, NULL};
    static const dls_plugin plugin = {DLS_POLICY_ABI, scheds, placements};
    sched = dls_sched_ops_dlas_gpu;
    sched.name = "my-dlas";
    placement = dls_placement_ops_consolidated;
    placement.name = "my-consolidated";
    return &plugin;
}
