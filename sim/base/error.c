/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names, texts and exit codes of statuses, and how an error message is filled; control characters
 * are replaced, since messages quote input files.
 */
#include "dlsim/error.h"

#include "base/guard.h"

#include <stdbool.h>
#include <stdio.h>

static const struct {
    const char *name;
    const char *text;
    int exit_code;
} status_table[] = {
#define XX(name, code, text) {#name, text, code},
    DLS_STATUS_MAP(XX)
#undef XX
};

static unsigned known(dls_status status)
{
    const unsigned n = sizeof status_table / sizeof status_table[0];
    return (unsigned)status < n ? (unsigned)status : (unsigned)DLS_ERUN;
}

const char *dls_status_name(dls_status status)
{
    return status_table[known(status)].name;
}

const char *dls_status_str(dls_status status)
{
    return status_table[known(status)].text;
}

int dls_status_exit_code(dls_status status)
{
    return status_table[known(status)].exit_code;
}

/* Names out of files go into messages, and messages to terminals. */
static void hide_controls(char *text)
{
    for (unsigned char *s = (unsigned char *)text; *s; s++) {
        const bool c1 = *s == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0; /* U+0080 to U+009F */
        if ((*s < 0x20 && *s != '\n' && *s != '\t') || *s == 0x7f || c1) {
            *s = '?';
        }
    }
}

dls_status dls_vfail(dls_error *err, dls_status status, const char *where, const char *fmt,
                     va_list ap)
{
    if (err) {
        DLS_IN_C_LOCALE; /* where no public function sees to it, as while a simulation runs */
        err->status = status;
        snprintf(err->where, sizeof err->where, "%s", where ? where : "");
        vsnprintf(err->msg, sizeof err->msg, fmt, ap);
        hide_controls(err->where);
        hide_controls(err->msg);
    }
    return status;
}

dls_status dls_fail(dls_error *err, dls_status status, const char *where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    dls_vfail(err, status, where, fmt, ap);
    va_end(ap);
    return status;
}
