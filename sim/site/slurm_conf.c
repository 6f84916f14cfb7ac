/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * slurm.conf(5): a key and its value a line, SchedulerParameters a list of them.
 */
#include "site/slurm_conf.h"

#include "base/file.h"
#include "base/own.h"
#include "dlsim/policy.h"
#include "site/slurm_phase.h"
#include "traces/date.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How a value becomes one of ours. */
typedef enum form {
    SECONDS, /* a number of seconds */
    MINUTES,
    DURATION, /* dls_date_span, or UNLIMITED */
    NUMBER
} form;

/* `in`: NULL, or the key whose list of key=value this one stands in. */
static const struct known {
    const char *in, *key, *option;
    form form;
} known[] = {
    {"SchedulerParameters", "batch_sched_delay", "sched_delay", SECONDS},
    {"SchedulerParameters", "sched_interval", "sched_interval", SECONDS},
    {"SchedulerParameters", "default_queue_depth", "queue_depth", NUMBER},
    {"SchedulerParameters", "bf_interval", "bf_interval", SECONDS},
    {"SchedulerParameters", "bf_window", "bf_window", MINUTES},
    {"SchedulerParameters", "bf_resolution", "bf_resolution", SECONDS},
    {"SchedulerParameters", "bf_max_job_test", "bf_max_job_test", NUMBER},
    {NULL, "PriorityWeightAge", "weight_age", NUMBER},
    {NULL, "PriorityWeightFairshare", "weight_fairshare", NUMBER},
    {NULL, "PriorityWeightFairShare", "weight_fairshare", NUMBER},
    {NULL, "PriorityWeightJobSize", "weight_size", NUMBER},
    {NULL, "PriorityWeightPartition", "weight_partition", NUMBER},
    {NULL, "PriorityWeightQOS", "weight_qos", NUMBER},
    {NULL, "PriorityMaxAge", "max_age", DURATION},
    {NULL, "PriorityDecayHalfLife", "half_life", DURATION},
    {NULL, "PriorityCalcPeriod", "calc_period", DURATION},
};

enum { KNOWN = sizeof known / sizeof known[0] };

typedef struct making {
    FILE *cfg, *to;
    const char *epoch;
    bool weights, backfill, preempt;
    double bf_interval_s, calc_period_s;
    double boot_s;                    /* NAN: unknown */
    const char *backfills, *priority; /* as options say it; NULL: not in the file */
    double value[KNOWN]; /* of the option, NAN; of several lines the last counts, as in Slurm */
} making;

static const dls_option *option_of(const struct known *k)
{
    const dls_sched_ops *const *sched = dls_scheds();
    while (strcmp((*sched)->name, "slurm") != 0) {
        sched++;
    }
    const dls_option *o = (*sched)->options;
    while (strcmp(o->name, k->option) != 0) {
        o++;
    }
    return o;
}

static void put_option(making *m, const struct known *k, const char *value)
{
    const dls_option *o = option_of(k);
    const struct known *first = known; /* that sets this option */
    char *end;
    double v = strtod(value, &end);
    bool understood = end > value && !*end;
    if (k->form == DURATION) {
        v = 1e9;
        understood = strcasecmp(value, "UNLIMITED") == 0 || dls_date_span(value, &v);
    }
    v *= k->form == MINUTES ? 60 : 1;
    if (!understood || !(v >= o->min && v <= o->max) || (o->type == DLS_OPT_I64 && v != floor(v))) {
        fprintf(m->to, "  %s=%s is not understood\n", k->key, value);
        return;
    }
    while (strcmp(first->option, k->option) != 0) {
        first++;
    }
    m->value[first - known] = v;
    m->calc_period_s = strcmp(k->option, "calc_period") == 0 ? v : m->calc_period_s;
    m->bf_interval_s = strcmp(k->option, "bf_interval") == 0 ? v : m->bf_interval_s;
}

static void put_options(const making *m)
{
    for (int i = 0; i < KNOWN; i++) {
        const bool time = known[i].form != NUMBER;
        if (!isnan(m->value[i])) {
            fprintf(m->cfg, time ? "    %s = \"%.15g s\";\n" : "    %s = %.15g;\n", known[i].option,
                    m->value[i]);
        }
    }
    if (m->backfills) {
        fprintf(m->cfg, "    backfill = %s;\n", m->backfills);
    }
    if (m->priority) {
        fprintf(m->cfg, "    priority = \"%s\";\n", m->priority);
    }
}

static void put_known(making *m, const char *in, const char *key, const char *value)
{
    for (size_t i = 0; i < KNOWN; i++) {
        const struct known *k = &known[i];
        if (strcasecmp(k->key, key) == 0 && (k->in == NULL) == (in == NULL)) {
            put_option(m, k, value);
            return;
        }
    }
    if (in) {
        fprintf(m->to, "  %s: %s is not modelled\n", in, key);
    }
}

/* Comma separated key=value or words. */
static void put_list(making *m, const char *in, char *text)
{
    char *rest = NULL;
    for (char *word = strtok_r(text, ", \t", &rest); word; word = strtok_r(NULL, ", \t", &rest)) {
        char *equal = strchr(word, '=');
        if (equal) {
            *equal = '\0';
        }
        put_known(m, in, word, equal ? equal + 1 : "");
    }
}

static void put_modes(const making *m, char *text)
{
    char *rest = NULL;
    for (char *word = strtok_r(text, ", \t", &rest); word; word = strtok_r(NULL, ", \t", &rest)) {
        if (strcasecmp(word, "OFF") != 0 && strcasecmp(word, "REQUEUE") != 0 &&
            strcasecmp(word, "CANCEL") != 0) {
            fprintf(m->to, "  PreemptMode=%s is not modelled\n", word);
        }
    }
}

static char *trim(char *s)
{
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n > 0 && strchr(" \t\r", s[n - 1])) {
        s[--n] = '\0';
    }
    return s;
}

/* Of use only if the controller ran when the first job came. The date is cut to seconds, and
 * backfill begins about one later. */
static void read_boot(making *m, const char *date)
{
    int64_t boot_us, zero_us;
    if (dls_date_parse(date, strlen(date), &boot_us) &&
        dls_date_parse(m->epoch, strlen(m->epoch), &zero_us) && boot_us <= zero_us &&
        zero_us - boot_us < DLS_SITE_NEAR_US) {
        m->boot_s = 1e-6 * (double)(boot_us - zero_us) + 1.6;
    }
}

static dls_status put_line(void *user, char *line, dls_error *err)
{
    making *m = user;
    line[strcspn(line, "#")] = '\0';
    char *equal = strchr(line, '=');
    if (!equal || strncasecmp(line, "NodeName", 8) == 0 ||
        strncasecmp(line, "PartitionName", 13) == 0) {
        if (strncasecmp(line, "PartitionName", 13) == 0 && strstr(line, "TRESBillingWeights=")) {
            m->weights = true;
        }
        return DLS_OK;
    }
    *equal = '\0';
    char *key = trim(line), *value = trim(equal + 1);
    if (strcmp(value, "(null)") == 0) {
        return DLS_OK;
    }
    if (strcasecmp(key, "SchedulerParameters") == 0) {
        put_list(m, key, value);
    } else if (strcasecmp(key, "SchedulerType") == 0) {
        m->backfill = strstr(value, "backfill") != NULL;
        m->backfills = m->backfill ? "true" : "false";
    } else if (strcasecmp(key, "PriorityType") == 0) {
        m->priority = strstr(value, "multifactor") ? "multifactor" : "basic";
    } else if (strcmp(key, "BOOT_TIME") == 0) {
        read_boot(m, value);
    } else if (strcasecmp(key, "PreemptMode") == 0) {
        put_modes(m, value);
    } else if (strcasecmp(key, "PreemptType") == 0 && !strstr(value, "none") && !m->preempt) {
        fprintf(m->to, "  PreemptType=%s is not modelled%s\n", value,
                strstr(value, "qos") ? " without PreemptMode=REQUEUE or CANCEL and --qos" : "");
    } else {
        put_known(m, NULL, key, value);
    }
    return DLS_OK;
}

/* When backfill and priorities are calculated: as logged, as starts show it, or as they would be if
 * the controller came up as here. */
static dls_status put_clocks(making *m, const dls_trace_source *sacct, const dls_site_log *log,
                             dls_error *err)
{
    dls_site_phase phase = {m->boot_s, 0};
    bool found = false;
    if (m->backfill && !log) {
        DLS_TRY(dls_site_phase_of(sacct, m->epoch, m->bf_interval_s, &phase, &found, err));
    }
    if (found) {
        fprintf(m->cfg, "    bf_cycle = \"%.15g s\";\n", phase.cycle_s);
        fprintf(m->to, "  backfill: every %g s and %g s for itself, by the starts of its jobs\n",
                m->bf_interval_s, phase.cycle_s);
    }
    if (!isnan(phase.boot_s)) {
        fprintf(m->cfg, "    boot = %.6f;\n", phase.boot_s);
    }
    if (log && log->decay_us != DLS_ABSENT) {
        fprintf(m->cfg, "    calc_at = %.6f;\n", 1e-6 * (double)log->decay_us + m->calc_period_s);
    } else if (!isnan(m->boot_s)) {
        fprintf(m->cfg, "    calc_at = %.6f;\n", m->boot_s + 0.3 + m->calc_period_s);
    }
    fputs(log ? "    runs = \"runs.csv\";\n" : "", m->cfg);
    return DLS_OK;
}

dls_status dls_site_put_scheduler(FILE *cfg, const dls_site_slurm *site, const dls_trace_source *sacct, double cluster_cpus,
                                  dls_site_tables tables, const char *epoch,
                                  const dls_site_log *log, FILE *to, dls_error *err)
{
    int64_t zero_us;
    making m = {.cfg = cfg,
                .to = to,
                .epoch = epoch,
                .backfill = true,
                .bf_interval_s = 30,
                .calc_period_s = 300,
                .boot_s = (double)NAN};
    dls_site_rules rules;
    DLS_TRY(dls_site_rules_read(site->conf, &rules, err));
    m.preempt = rules.preempt && site->qos;
    for (int i = 0; i < KNOWN; i++) {
        m.value[i] = (double)NAN;
    }
    if (site->conf) {
        DLS_TRY(dls_file_lines(site->conf, DLS_FILE_CONFIG, put_line, &m, err));
    }
    fputs("scheduler:\n{\n    name = \"slurm\";\n", cfg);
    put_options(&m);
    if (dls_date_parse(epoch, strlen(epoch), &zero_us)) {
        fprintf(cfg, "    clock = %d;\n", (int)(zero_us / 1000000 % 86400));
    }
    fprintf(cfg, "    billing = \"%s\";\n    cluster_cpus = %.15g;\n", m.weights ? "gpu" : "cpu",
            cluster_cpus);
    fputs(site->shares ? "    shares = \"shares.csv\";\n" : "", cfg);
    fputs(tables.partitions ? "    partitions = \"partitions.csv\";\n" : "", cfg);
    fputs(tables.jobs ? "    jobs = \"jobs.csv\";\n" : "", cfg);
    fputs(site->qos ? "    qos = \"qos.csv\";\n" : "", cfg);
    fputs(tables.outages ? "    outages = \"outages.csv\";\n" : "", cfg);
    fputs(m.preempt ? "    preempt = true;\n" : "", cfg);
    fputs(tables.cpu_jobs ? "    cpu_jobs = \"cpu_jobs.csv\";\n" : "", cfg);
    const dls_status status = put_clocks(&m, sacct, log, err);
    fputs(m.preempt ? "    restore_cost = \"0 s\";\n};\n" : "};\n", cfg);
    /* Who is requeued begins anew. */
    fputs(m.preempt ? "checkpoint: { lost_on_preemption = true; };\n" : "", cfg);
    return status;
}

const char *dls_site_preempt_mode(const char *text)
{
    return strcasestr(text, "CANCEL")    ? "cancel"
           : strcasestr(text, "REQUEUE") ? "requeue"
           : strcasestr(text, "SUSPEND") ? "none"
                                         : "";
}

double dls_site_span_of(const char *text)
{
    char span[32];
    double s;
    snprintf(span, sizeof span, "%.*s", (int)strcspn(text, " \t\r\n"), text);
    return dls_date_span(span, &s) && s > 0 ? s : 0;
}

/* A setting that every slurm.conf has, or one that is read of it: other files of key=value have neither. */
static bool is_slurms(const char *line)
{
    static const char *const keys[] = {"ClusterName", "ControlMachine", "SlurmctldHost", "SchedulerParameters", "SchedulerType",
                                       "SelectType", "SelectTypeParameters", "PriorityType", "PreemptType", "PreemptMode",
                                       "PreemptExemptTime", "JobRequeue", "BOOT_TIME"};
    const size_t len = strcspn(line, " \t=");
    bool is = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        is = is || (strlen(keys[i]) == len && strncasecmp(line, keys[i], len) == 0);
    }
    for (size_t i = 0; i < KNOWN; i++) {
        is = is || (!known[i].in && strlen(known[i].key) == len && strncasecmp(line, known[i].key, len) == 0);
    }
    return is && line[len + strspn(line + len, " \t")] == '=';
}

/* Some line is a setting of Slurm's. */
static dls_status check_conf(const char *path, const char *text, dls_error *err)
{
    const char *first = text + strspn(text, " \t\r\n"), *line = first;
    char where[4200];
    for (; *line && !is_slurms(line); line += strspn(line, " \t\r\n")) {
        line += strcspn(line, "\n");
    }
    if (*line) {
        return DLS_OK;
    }
    dls_file_where(path, text, (size_t)(first - text), where, sizeof where);
    return dls_fail(err, DLS_EINPUT, where,
                    "from here on no line is a setting of slurm.conf, or of what `scontrol show config` prints");
}

dls_status dls_site_rules_read(const char *path, dls_site_rules *rules, dls_error *err)
{
    DLS_FREED char *text = NULL;
    char *rest = NULL;
    size_t len;
    bool qos = false;
    *rules = (dls_site_rules){.mode = ""};
    if (!path) {
        return DLS_OK;
    }
    DLS_TRY(dls_file_read_plain(path, DLS_FILE_CONFIG, &text, &len, err));
    DLS_TRY(check_conf(path, text, err));
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        line[strcspn(line, "#")] = '\0';
        const char *equal = strchr(line, '=');
        line += strspn(line, " \t");
        if (!equal) {
            continue;
        }
        rules->memory = rules->memory || (strncasecmp(line, "SelectTypeParameters", 20) == 0 &&
                                          strcasestr(equal, "_MEMORY"));
        if (strncasecmp(line, "PreemptExemptTime", 17) == 0) {
            rules->exempt_s = dls_site_span_of(equal + 1 + strspn(equal + 1, " \t"));
        }
        if (strncasecmp(line, "JobRequeue", 10) == 0) {
            rules->no_requeue = strtol(equal + 1, NULL, 10) == 0;
        }
        qos = qos || (strncasecmp(line, "PreemptType", 11) == 0 && strcasestr(equal, "/qos"));
        rules->mode = strncasecmp(line, "PreemptMode", 11) == 0 ? dls_site_preempt_mode(equal) : rules->mode;
    }
    rules->preempt = qos && rules->mode[0];
    return DLS_OK;
}
