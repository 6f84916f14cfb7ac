/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Open addressing by the group's profiles; at most half full.
 */
#include "sched/group_memo.h"

#include "dlsim/memory.h"

static size_t home(const dls_group_memo *m, dls_group_id id)
{
    size_t at = id * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (m->room - 1);
    while (m->at[at].id && m->at[at].id != id) {
        at = (at + 1) & (m->room - 1);
    }
    return at;
}

static dls_status widen(dls_group_memo *m, dls_error *err)
{
    dls_group_memo to = *m;
    to.room = m->room ? 2 * m->room : 1024;
    DLS_TRY(dls_alloc_array(&to.at, to.room, sizeof *to.at, "group times", err));
    for (size_t i = 0; i < m->room; i++) {
        if (m->at[i].id) {
            to.at[home(&to, m->at[i].id)] = m->at[i];
        }
    }
    dls_free(m->at);
    *m = to;
    return DLS_OK;
}

dls_status dls_group_memo_find(dls_group_memo *m, dls_group_id id, const dls_group_time **out,
                               dls_error *err)
{
    if (2 * (m->n + 1) > m->room) {
        DLS_TRY(widen(m, err));
    }
    dls_group_time *t = &m->at[home(m, id)];
    if (!t->id) {
        const dls_stages *job[DLS_STAGES_JOBS];
        int32_t n = 0;
        for (int shift = 48; shift >= 0; shift -= 16) {
            if (id >> shift & 0xffff) {
                job[n] = &m->profile[(id >> shift & 0xffff) - 1];
                t->alone += job[n++]->iteration;
            }
        }
        t->id = id;
        t->time = dls_stages_group_time(job, n, m->overhead ? m->overhead : dls_stages_overhead,
                                        m->monotone, m->worst);
        t->weight = dls_stages_weight(job, n, t->time);
        m->n++;
    }
    *out = t;
    return DLS_OK;
}

void dls_group_memo_fini(dls_group_memo *m)
{
    dls_free(m->at);
    *m = (dls_group_memo){0};
}
