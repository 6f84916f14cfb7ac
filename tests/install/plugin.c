/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A plug-in made of built-in policies under other names. Their files are compiled beside this one and
 * see the installed headers only; a run must give the digest of the built-in ones.
 */
#include "dlsim/policy.h"

extern const dls_sched_ops dls_sched_ops_srtf, dls_sched_ops_gandiva;
extern const dls_placement_ops dls_placement_ops_first_fit;

DLS_API const dls_plugin *dls_plugin_entry(void);

const dls_plugin *dls_plugin_entry(void)
{
    static dls_sched_ops srtf, gandiva;
    static dls_placement_ops first_fit;
    static const dls_sched_ops *const scheds[] = {&srtf, &gandiva, NULL};
    static const dls_placement_ops *const placements[] = {&first_fit, NULL};
    static const dls_plugin plugin = {DLS_POLICY_ABI, scheds, placements};
    srtf = dls_sched_ops_srtf;
    srtf.name = "srtf-mine";
    gandiva = dls_sched_ops_gandiva;
    gandiva.name = "gandiva-mine";
    first_fit = dls_placement_ops_first_fit;
    first_fit.name = "first-fit-mine";
    return &plugin;
}
