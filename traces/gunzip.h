/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gzip data (RFC 1952) in memory, one or several members.
 */
#ifndef DLS_TRACES_GUNZIP_H
#define DLS_TRACES_GUNZIP_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>

bool dls_is_gzip(const unsigned char *bytes, size_t len);
/* *text: owned by the caller (dls_free), (*text)[*text_len] == '\0'. DLS_EINPUT when the data are
 * cut short, corrupt (checksums are verified) or followed by something else. */
dls_status dls_gunzip(const char *path, const unsigned char *bytes, size_t len, char **text,
                      size_t *text_len, dls_error *err) DLS_MUST_CHECK;

#endif
