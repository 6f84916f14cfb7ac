/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim fidelity: a site's history replayed as it was, held against what was recorded, and graded.
 */
#include "base/json.h"
#include "base/printable.h"
#include "cli/replay.h"
#include "dlsim/site.h"

#include <math.h>

typedef struct request {
    dls_words set;
    int64_t jobs;
    const char *least;
    bool json;
} request;

enum { MOST_WHY = 1000 }; /* jobs of which it is said: each is a walk over all */

/* What ran where it still waited, at the earlier of its starts. */
static void print_why(const dls_fidelity *f, size_t i)
{
    const dls_fidelity_job *j = &f->job[i];
    const dls_fidelity_why why = i < MOST_WHY ? dls_fidelity_why_of(f, i) : (dls_fidelity_why){.jobs = 0};
    if (why.jobs > 0) {
        char id[DLS_PRINTABLE_BYTES];
        printf("%20s then %zu jobs held %lld GPUs %s alone, %zu of them ahead of it; the largest: %s\n", "",
               why.jobs, (long long)why.gpus, j->replayed_s > j->recorded_s ? "in the replay" : "on record",
               why.ahead, dls_printable(dls_trace_id(f->trace, why.largest), id));
    }
}

static const char *of_tau(double tau, char buf[32])
{
    snprintf(buf, 32, "%.4f", tau);
    return isnan(tau) ? "-" : buf;
}

static void print_text(const dls_fidelity *f, int64_t jobs)
{
    char a[32], b[32];
    printf("grade      %c\norder      Kendall's tau %s over %zu jobs%s", f->grade, of_tau(f->tau, a), f->n_jobs,
           isnan(f->tau) ? ": all start at one instant" : "");
    if (f->unknown) {
        printf("; %zu left out: no recorded wait, or not started", f->unknown);
    }
    if (f->replays > 1) {
        printf("\n           median of %zu replays that differ by parts of seconds; of each other they have %s, "
               "and\n           of the others' median %s, as rules without an error would",
               f->replays, of_tau(f->self_tau, a), of_tau(f->held_out_tau, b));
    }
    if (f->passed) {
        printf("\npassing    %zu jobs started before one that came earlier, %zu of them here",
               f->passed, f->passed_same);
    }
    printf("\nGPUs busy  %.4f recorded, %.4f replayed", f->recorded_busy, f->replayed_busy);
    printf("\nwaiting    %.2f jobs recorded, %.2f replayed, off by %.2f in the mean\n\n", f->recorded_queue,
           f->replayed_queue, f->queue_off);
    int width = 20;
    for (size_t i = 0; i < f->n_groups; i++) {
        width = dls_printable_width(f->group[i].name, width);
    }
    printf("%-*s %8s %14s %14s %16s %14s\n", width + 11, "", "jobs", "recorded wait",
           "replayed wait", "start off, half", "95 %");
    for (size_t i = 0; i < f->n_groups; i++) {
        const dls_fidelity_group *g = &f->group[i];
        printf("%-10s ", g->kind);
        dls_printable_cell(stdout, g->name, width);
        printf(" %8zu %13.1fs %13.1fs %15.1fs %13.1fs\n", g->n, g->recorded_wait_s, g->replayed_wait_s, g->median_s, g->p95_s);
    }
    for (size_t i = 0; i < f->n_jobs && i < (size_t)jobs; i++) {
        const dls_fidelity_job *j = &f->job[i];
        fputs(i == 0 ? "\nfarthest off:\n" : "", stdout);
        dls_printable_cell(stdout, dls_trace_id(f->trace, j->job), 20);
        printf(" recorded start %.1f s, replayed %.1f s (%+.1f s)\n", j->recorded_s, j->replayed_s,
                j->replayed_s - j->recorded_s);
        print_why(f, i);
    }
    puts("\n" DLS_FIDELITY_RULE);
}

static dls_status print_json(const dls_fidelity *f, int64_t jobs, dls_error *err)
{
    json_object *top = json_object_new_object();
    const char grade[2] = {f->grade, '\0'};
    DLS_JSON(top, "grade", grade, "rule", DLS_FIDELITY_RULE, "tau", f->tau, "replays", f->replays,
             "self_tau", f->self_tau, "held_out_tau", f->held_out_tau, "passed", f->passed,
             "passed_same", f->passed_same, "jobs", f->n_jobs, "left_out", f->unknown);
    DLS_JSON(top, "recorded_busy", f->recorded_busy, "replayed_busy", f->replayed_busy,
             "recorded_queue", f->recorded_queue, "replayed_queue", f->replayed_queue, "queue_off",
             f->queue_off);
    json_object *list = dls_json_list(top, "groups");
    for (size_t i = 0; i < f->n_groups; i++) {
        const dls_fidelity_group *g = &f->group[i];
        DLS_JSON(dls_json_next(list), "kind", g->kind, "name", g->name, "jobs", g->n,
                 "recorded_wait_s", g->recorded_wait_s, "replayed_wait_s", g->replayed_wait_s,
                 "start_off_median_s", g->median_s, "start_off_p95_s", g->p95_s);
    }
    list = dls_json_list(top, "farthest_off");
    for (size_t i = 0; i < f->n_jobs && i < (size_t)jobs; i++) {
        json_object *obj = dls_json_next(list);
        DLS_JSON(obj, "job", dls_trace_id(f->trace, f->job[i].job), "recorded_start_s",
                 f->job[i].recorded_s, "replayed_start_s", f->job[i].replayed_s);
        const dls_fidelity_why why = i < MOST_WHY ? dls_fidelity_why_of(f, i) : (dls_fidelity_why){.jobs = 0};
        if (why.jobs > 0) {
            DLS_JSON(dls_json_object(obj, "ran_where_it_waited"), "jobs", why.jobs, "ahead",
                     why.ahead, "gpus", why.gpus, "largest", dls_trace_id(f->trace, why.largest));
        }
    }
    return dls_json_print(stdout, top, err);
}

static dls_status run(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = NULL;
    DLS_OWN(dls_fidelity_fini) dls_fidelity f = {0};
    DLS_TRY(dls_replay_site(&setup, call->word[0], &r->set, err));
    DLS_TRY(dls_replay_tell(setup, dls_fidelity_of(setup, &f, err)));
    if (r->json) {
        DLS_TRY(print_json(&f, r->jobs, err));
    } else {
        print_text(&f, r->jobs);
    }
    call->exit_code = f.grade > r->least[0];
    return DLS_OK;
}

static const dls_arg args[] = {
    DLS_REPEAT(request, set, "set", 0, "KEY=VALUE", "set a key over the configuration"),
    DLS_TEXT(request, least, "least", 0, "A|B|C|D", "exit with 1 if the grade is worse; D"),
    DLS_INT(request, jobs, "jobs", 0, 0, 1000000, "how many of the jobs farthest off to show; 5"),
    DLS_SWITCH(request, json, "json", 0, "print JSON"), DLS_ARGS_END};

const dls_command dls_command_fidelity = {
    .name = "fidelity",
    .summary = "replay a site's history and grade the replay",
    .usage = "SITE [OPTION]...",
    .about = "Replay an imported site (a folder that 'dlsim import' made, or a configuration whose "
             "trace "
             "has recorded waits) and compare when jobs started.",
    .args = args,
    .words = "one site",
    .size = sizeof(request),
    .initial = &(const request){.jobs = 5, .least = "D"},
    .run = run,
};
