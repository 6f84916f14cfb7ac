/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who watches: policies that get nowhere, ask for what does not exist or write where they may only read
 * (blame.c), and the engine itself (audit.c).
 */
#ifndef DLS_ENGINE_WATCH_H
#define DLS_ENGINE_WATCH_H

#include "dlsim/policy.h"
#include "engine/sim.h"

typedef struct dls_stall {
    uint64_t stints;   /* that kept a second of progress or more */
    uint64_t seen;     /* everything that is progress or that no policy can help, at the last look */
    uint64_t instants; /* since it last grew */
    int64_t since_us;
    uint64_t progress; /* everything that is progress, at the last look */
    uint64_t vain;     /* stints since it last grew that kept less than a second */
    int64_t vain_from_us;
    uint64_t refusals; /* of the placement, to start a program's or a round's job, since it last grew */
    int32_t refused_job, refused_gpus; /* of the last one */
} dls_stall;

/* What the audit counts on its own. */
typedef struct dls_audited {
    dls_work left, saved;
    int64_t rate, progress_from_us;
    int32_t undone;
    bool running;
} dls_audited;

#define DLS_SEALED 25 /* the view and its columns */

typedef struct dls_audit {
    dls_audited *job;          /* [n], NULL without audit */
    int64_t *used;             /* [pools][types] what pools held at the last one */
    int64_t now_us;            /* of the last one */
    uint64_t seal[DLS_SEALED]; /* of what the policy may only read, before it was called */
    uint64_t calls;
    bool sealed;               /* at the last of the calls */
} dls_audit;

#define DLS_AUDIT_ARRAYS(XX)                                                                       \
    XX(audit.job, e->n, e->params->audit)                                                          \
    XX(audit.used, e->select.n_pools * e->select.n_types, e->params->audit)

/* ---- blame.c ----------------------------------------------------------------------------------- */

/* A callback `what` of the policy `who` has returned: an error must say why, and it must have asked for
 * nothing that does not exist. job: that it was about, DLS_NONE. */
dls_status dls_policy_returned(const dls_engine *e, const char *who, const char *what, int32_t job,
                               dls_status status, dls_error *err) DLS_MUST_CHECK;
dls_status dls_policy_asked_wrong(const dls_engine *e, const char *who, int32_t job,
                                  dls_error *err) DLS_MUST_CHECK;
/* Now and then: is the policy getting anywhere? */
dls_status dls_stall_check(dls_engine *e, uint64_t instants, dls_error *err) DLS_MUST_CHECK;
/* Before and after a callback of the scheduler: what it may only read is as it was. For audits, which
 * look at one of so many calls that the columns cost no more than the call. */
void dls_seal_set(dls_engine *e);
dls_status dls_seal_compare(const dls_engine *e, dls_error *err) DLS_MUST_CHECK;

/* ---- audit.c ----------------------------------------------------------------------------------- */

void dls_audit_init(dls_engine *e);
dls_status dls_engine_audit(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

#endif
