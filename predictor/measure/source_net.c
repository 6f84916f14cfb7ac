/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bytes received and sent, by interface, as the kernel counts them in /proc/PID/net/dev
 * (proc_pid_net(5)): every process sees the interfaces of its own network namespace.
 */
#include "base/alloc.h"
#include "predictor/measure/source.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_LEN 32
#define TEXT_MAX ((size_t)64 << 10)

typedef struct interface {
    char name[NAME_MAX_LEN];
} interface;

typedef struct net {
    interface *interfaces;
    size_t n, cap;
    int file;
    char *text; /* [TEXT_MAX] */
} net;

/* The whole table, ended by a zero. */
static bool refresh(net *s)
{
    size_t n = 0;
    for (ssize_t got = 1; got > 0 && n < TEXT_MAX - 1; n += (size_t)got) {
        got = pread(s->file, s->text + n, TEXT_MAX - 1 - n, (off_t)n);
        if (got < 0) {
            return false;
        }
    }
    s->text[n] = '\0';
    return true;
}

/* "  eth0: 1234 ..." with the received bytes first and the sent ones ninth. NULL at the end. */
static const char *next_line(const char *at, char *name, uint64_t *rx, uint64_t *tx)
{
    while (*at) {
        const char *begin = at + strspn(at, " ");
        const char *colon = begin + strcspn(begin, ":\n");
        at += strcspn(at, "\n");
        at += *at == '\n';
        if (*colon == ':' && colon - begin < NAME_MAX_LEN &&
            sscanf(colon + 1, "%" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, rx, tx) == 2) {
            memcpy(name, begin, (size_t)(colon - begin));
            name[colon - begin] = '\0';
            return at;
        }
    }
    return NULL;
}

static void read_net(void *state, double *value)
{
    net *s = state;
    char name[NAME_MAX_LEN];
    uint64_t rx;
    uint64_t tx;
    if (!refresh(s)) {
        return;
    }
    for (const char *at = s->text; (at = next_line(at, name, &rx, &tx));) {
        for (size_t i = 0; i < s->n; i++) {
            if (strcmp(s->interfaces[i].name, name) == 0) {
                value[2 * i] = (double)rx;
                value[2 * i + 1] = (double)tx;
            }
        }
    }
}

static void close_net(void *state)
{
    net *s = state;
    if (s->file >= 0) {
        close(s->file);
    }
    DLS_FREE_ALL(s->interfaces, s->text, s);
}

/* Bytes per second; 0 where the kernel does not say: loopback, wireless, virtual. */
static double speed_of(const char *name)
{
    char path[64 + NAME_MAX_LEN];
    double megabits = 0;
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
    FILE *f = fopen(path, "r");
    if (f) {
        if (fscanf(f, "%lf", &megabits) != 1 || !(megabits > 0)) {
            megabits = 0;
        }
        fclose(f);
    }
    return megabits * 1e6 / 8;
}

static bool wanted(const char *name, const char *list)
{
    const size_t len = strlen(name);
    for (const char *at = list;; at++) {
        const size_t word = strcspn(at, ",");
        if (word == len && strncmp(at, name, len) == 0) {
            return true;
        }
        at += word;
        if (!*at) {
            return false;
        }
    }
}

static dls_status find_interfaces(net *s, dls_recording *r, const dls_watched *of, const char *list,
                                  dls_error *err)
{
    char name[NAME_MAX_LEN];
    uint64_t rx;
    uint64_t tx;
    for (const char *at = s->text; (at = next_line(at, name, &rx, &tx));) {
        if (list ? !wanted(name, list) : strcmp(name, "lo") == 0) {
            continue;
        }
        const double speed = of->pid ? 0 : speed_of(name); /* /sys shows the own namespace */
        const char *dot = *of->name ? "." : "";
        DLS_TRY(dls_grow(&s->interfaces, &s->cap, s->n + 1, sizeof *s->interfaces, err));
        memcpy(s->interfaces[s->n++].name, name, sizeof name);
        DLS_TRY(dls_recording_add(r, DLS_COLUMN_COUNTER, speed, err, "net.%s%s%s.rx_bytes",
                                  of->name, dot, name));
        DLS_TRY(dls_recording_add(r, DLS_COLUMN_COUNTER, speed, err, "net.%s%s%s.tx_bytes",
                                  of->name, dot, name));
    }
    size_t asked = list ? 1 : 0;
    for (const char *at = list; at && *at; at++) {
        asked += *at == ',';
    }
    if (s->n < asked) {
        return dls_fail(err, DLS_EINPUT, "/proc/net/dev", "not all of \"%s\" are interfaces", list);
    }
    return DLS_OK;
}

dls_status dls_source_net(dls_recording *r, const dls_watched *of, const char *interfaces,
                          dls_source *out, dls_error *err)
{
    char path[64] = "/proc/net/dev";
    if (of->pid) {
        snprintf(path, sizeof path, "/proc/%d/net/dev", (int)of->pid);
    }
    *out = (dls_source){0};
    net *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "network counters", err));
    *out = (dls_source){.state = s, .read = read_net, .close = close_net};
    s->file = open(path, O_RDONLY | O_CLOEXEC);
    DLS_TRY(dls_alloc_array(&s->text, TEXT_MAX, 1, "network counters", err));
    if (s->file < 0 || !refresh(s)) {
        dls_recording_note(r, "no network: %s cannot be read", path);
        return DLS_OK;
    }
    DLS_TRY(find_interfaces(s, r, of, interfaces, err));
    out->n_columns = 2 * s->n;
    return DLS_OK;
}
