/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim import: a site's own records as a trace and a configuration that replays them, and what was measured of
 * its GPUs.
 */
#include "cli/command.h"
#include "dlsim/site.h"

typedef struct request {
    dls_site_slurm site;
    const char *objects, *metrics, *pods;
    bool quiet;
} request;

static FILE *open_report(const request *r)
{
    FILE *nowhere = r->quiet ? fopen("/dev/null", "w") : NULL;
    return nowhere ? nowhere : stderr;
}

static void close_report(FILE **report)
{
    if (*report != stderr) {
        fclose(*report);
    }
}

static dls_status slurm(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    DLS_OWN(close_report) FILE *to = open_report(r);
    return dls_site_import_slurm(&r->site, to, err);
}

static dls_status kubernetes(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    DLS_OWN(close_report) FILE *to = open_report(r);
    return dls_site_import_kubernetes(r->objects, r->site.folder, to, err);
}

static dls_status dcgm(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    const dls_site_dcgm site = {r->metrics, r->site.sacct, r->site.folder, r->pods};
    DLS_OWN(close_report) FILE *to = open_report(r);
    return dls_site_import_dcgm(&site, to, err);
}

static const dls_verb verbs[] = {
    {"slurm", NULL, "accounting and configuration of Slurm", 0, 0, "sacct nodes output", slurm},
    {"kubernetes", NULL, "objects that kubectl prints", 0, 0, "objects output", kubernetes},
    {"dcgm", NULL, "metrics of GPUs as profiles of jobs", 0, 0, "metrics output", dcgm},
    {.name = NULL}};

static const dls_arg args[] = {
    DLS_TEXT(request, site.sacct, "sacct", 0, "FILE",
             "what `sacct -a -X -P -o ALL -S ...` prints (docs/sites.md)", .of = "slurm, dcgm"),
    DLS_TEXT(request, objects, "objects", 0, "FILE",
             "what `kubectl get nodes,pods,... -A -o json` prints, with Kueue's or KAI's queues "
             "(docs/sites.md)",
             .of = "kubernetes"),
    DLS_TEXT(request, metrics, "metrics", 0, "FILE",
             "Prometheus's answer to a range query of DCGM's fields (JSON), or a table (CSV)",
             .of = "dcgm"),
    DLS_TEXT(request, pods, "pods", 0, "FILE",
             "pods.csv that 'dlsim import kubernetes' wrote: which job a pod was of", .of = "dcgm"),
    DLS_TEXT(request, site.folder, "output", 'o', "FOLDER", "made if it is not there"),
    DLS_SWITCH(request, quiet, "quiet", 'q', "no report"),
    DLS_OF("slurm"),
    DLS_TEXT(request, site.nodes, "nodes", 0, "FILE", "what `scontrol show nodes -o` prints"),
    DLS_TEXT(request, site.conf, "conf", 0, "FILE",
             "slurm.conf, or what `scontrol show config` prints"),
    DLS_TEXT(request, site.partitions, "partitions", 0, "FILE",
             "what `scontrol show partitions -o` prints: tiers, priorities and limits"),
    DLS_TEXT(request, site.topology, "topology", 0, "FILE",
             "topology.conf, or what `scontrol show topology` prints: racks"),
    DLS_TEXT(request, site.gres, "gres", 0, "FILE",
             "gres.conf: types of GPUs where the nodes name none"),
    DLS_TEXT(request, site.qos, "qos", 0, "FILE",
             "what `sacctmgr -P show qos` prints: priorities, and which preempts which"),
    DLS_TEXT(request, site.events, "events", 0, "FILE",
             "what `sacctmgr -P show event Start=...` prints: nodes out of service"),
    DLS_TEXT(request, site.reservations, "reservations", 0, "FILE",
             "what `scontrol show reservations -o` prints"),
    DLS_TEXT(request, site.shares, "shares", 0, "FILE", "what `sshare -a -P` prints"),
    DLS_TEXT(request, site.log, "log", 0, "FILE",
             "slurmctld's log (SlurmctldDebug=debug): times between whole seconds"),
    DLS_ARGS_END};

const dls_command dls_command_import = {
    .name = "import",
    .summary = "a site's own history as a trace and a configuration",
    .notes = "Writes trace.csv, cluster.cfg (kubernetes: and pods.csv; dcgm: profiles.csv alone) and, with "
             "--shares and --log, shares.csv and runs.csv; 'dlsim fidelity FOLDER' replays them.",
    .args = args,
    .verbs = verbs,
    .size = sizeof(request),
};
