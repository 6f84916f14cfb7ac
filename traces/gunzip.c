/* SPDX-License-Identifier: GPL-3.0-or-later */
#define ZLIB_CONST /* next_in may point to constant bytes */
#include "traces/gunzip.h"

#include "base/alloc.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

static void *z_alloc(void *user, uInt n, uInt size)
{
    (void)user;
    return dls_alloc_zero(n, size);
}

static void z_free(void *user, void *p)
{
    (void)user;
    dls_free(p);
}

bool dls_is_gzip(const unsigned char *bytes, size_t len)
{
    return len >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/* Inflate all members from z->next_in on; *text grows as needed. */
static dls_status inflate_all(z_stream *z, size_t left, const char *path, char **text, size_t *len,
                              size_t *cap, dls_error *err)
{
    for (;;) {
        if (z->avail_in == 0) {
            z->avail_in = left > UINT_MAX ? UINT_MAX : (uInt)left;
            left -= z->avail_in;
        }
        DLS_TRY(dls_grow(text, cap, *len + 65536, 1, err));
        const size_t room = *cap - *len - 1;
        const uInt give = room > UINT_MAX ? UINT_MAX : (uInt)room;
        z->next_out = (Bytef *)*text + *len;
        z->avail_out = give;
        const int rc = inflate(z, Z_NO_FLUSH);
        *len += give - z->avail_out;
        if (rc == Z_MEM_ERROR) {
            return dls_nomem(err, "decompressing", 0);
        }
        if (rc == Z_STREAM_END) {
            if (z->avail_in == 0 && left == 0) {
                return DLS_OK;
            }
            if (inflateReset(z) != Z_OK) {
                return dls_fail(err, DLS_ERUN, path, "zlib could not be reset");
            }
        } else if (rc == Z_BUF_ERROR ||
                   (rc == Z_OK && z->avail_in == 0 && left == 0 && z->avail_out > 0)) {
            return dls_fail(err, DLS_EINPUT, path,
                            "the gzip data end too early (file cut short? %zu bytes came out)",
                            *len);
        } else if (rc != Z_OK) {
            return dls_fail(err, DLS_EINPUT, path, "the gzip data are corrupt after %zu bytes: %s",
                            *len, z->msg ? z->msg : "unknown error");
        }
    }
}

dls_status dls_gunzip(const char *path, const unsigned char *bytes, size_t len, char **text,
                      size_t *text_len, dls_error *err)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    z.zalloc = z_alloc;
    z.zfree = z_free;
    z.next_in = bytes;
    const int rc = inflateInit2(&z, 15 + 16); /* the largest window, gzip framing only */
    if (rc != Z_OK) {
        return rc == Z_MEM_ERROR ? dls_nomem(err, "decompressing", 0)
                                 : dls_fail(err, DLS_ERUN, path, "zlib could not be started");
    }
    size_t cap = 0;
    *text = NULL;
    *text_len = 0;
    const dls_status status = inflate_all(&z, len, path, text, text_len, &cap, err);
    inflateEnd(&z);
    if (status != DLS_OK) {
        dls_free(*text);
        *text = NULL;
        return status;
    }
    (*text)[*text_len] = '\0';
    return DLS_OK;
}
