/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Maps the words that schedulers use for the end of a job to outcomes.
 */
#include "traces/outcome.h"

#include "traces/trace_impl.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const texts[DLS_OUTCOME_COUNT] = {
#define XX(name, text) text,
    DLS_OUTCOME_MAP(XX)
#undef XX
};

/* Of Slurm every state of a job in sacct(1), those above and the first word of "PREEMPTED" aside. */
static const struct {
    const char *word;
    dls_outcome outcome;
} words[] = {
    {"pass", DLS_OUTCOME_COMPLETED},       {"succeeded", DLS_OUTCOME_COMPLETED},
    {"terminated", DLS_OUTCOME_COMPLETED}, {"cancelled", DLS_OUTCOME_KILLED},
    {"canceled", DLS_OUTCOME_KILLED},      {"stopped", DLS_OUTCOME_KILLED},
    {"suspended", DLS_OUTCOME_UNKNOWN},    {"waiting", DLS_OUTCOME_PENDING},
    {"out_of_memory", DLS_OUTCOME_FAILED}, {"boot_fail", DLS_OUTCOME_NODE_FAIL},
    {"deadline", DLS_OUTCOME_TIMEOUT},     {"revoked", DLS_OUTCOME_KILLED},
    {"requeued", DLS_OUTCOME_UNKNOWN},     {"resizing", DLS_OUTCOME_UNKNOWN},
};

bool dls_outcome_parse(const char *s, size_t len, dls_outcome *out)
{
    for (int i = 0; i < DLS_OUTCOME_COUNT; i++) {
        if (strlen(texts[i]) == len && strncasecmp(texts[i], s, len) == 0) {
            *out = (dls_outcome)i;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].word) == len && strncasecmp(words[i].word, s, len) == 0) {
            *out = words[i].outcome;
            return true;
        }
    }
    const bool preempted = len >= 7 && strncasecmp(s, "preempt", 7) == 0;
    *out = preempted ? DLS_OUTCOME_PREEMPTED : DLS_OUTCOME_UNKNOWN;
    return preempted;
}

dls_outcome dls_outcome_cell(const dls_csv *csv, int col, dls_trace_builder *b)
{
    dls_outcome outcome = DLS_OUTCOME_UNKNOWN;
    if (col >= 0 && csv->cell[col].len &&
        !dls_outcome_parse(csv->cell[col].s, csv->cell[col].len, &outcome)) {
        char note[80];
        snprintf(note, sizeof note, "status '%.*s' not known",
                 (int)(csv->cell[col].len < 40 ? csv->cell[col].len : 40), csv->cell[col].s);
        dls_trace_builder_noted(b, note);
    }
    return outcome;
}

const char *dls_outcome_text(dls_outcome outcome)
{
    return (unsigned)outcome < DLS_OUTCOME_COUNT ? texts[outcome] : texts[DLS_OUTCOME_UNKNOWN];
}
