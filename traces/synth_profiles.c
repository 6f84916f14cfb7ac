/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The published profiles by number and by name; the tables themselves are in synth_<name>.c.
 */
#include "traces/synth_profile.h"

#include "dlsim/traces.h"

#include <stddef.h>
#include <string.h>

static const dls_synth_profile *const profiles[] = {
    &dls_synth_philly,
    &dls_synth_helios,
    &dls_synth_pai,
    &dls_synth_tiresias,
};

const dls_synth_profile *dls_synth_profile_at(int i)
{
    const int n = (int)(sizeof profiles / sizeof profiles[0]);
    return i >= 0 && i < n ? profiles[i] : NULL;
}

const dls_synth_profile *dls_synth_profile_find(const char *name)
{
    for (int i = 0; dls_synth_profile_at(i); i++) {
        if (strcmp(profiles[i]->name, name) == 0) {
            return profiles[i];
        }
    }
    return NULL;
}

const char *dls_synth_profile_name(int i)
{
    const dls_synth_profile *profile = dls_synth_profile_at(i);
    return profile ? profile->name : NULL;
}

const char *dls_synth_profile_summary(int i)
{
    const dls_synth_profile *profile = dls_synth_profile_at(i);
    return profile ? profile->summary : NULL;
}

int dls_synth_class(int64_t gpus)
{
    static const int64_t upto[DLS_SYNTH_CLASSES - 1] = {1, 2, 4, 8, 16, 32};
    int c = 0;
    while (c < DLS_SYNTH_CLASSES - 1 && gpus > upto[c]) {
        c++;
    }
    return c;
}
