/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared mappings of unnamed files, and behind them memory. What is new lies there, and goes to the
 * file in one write: to touch a page of a file for the first time costs several times as much as to
 * copy it, and a disk that is full is told by a status and not by SIGBUS.
 */
#include "base/mapped.h"

#include "base/atomicfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

bool dls_mapped_open(dls_mapped *m, const char *beside)
{
    dls_atomicfile file;
    *m = (dls_mapped){.fd = -1};
    if (dls_atomicfile_begin(&file, beside, NULL) == DLS_OK) {
        m->fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 0);
        dls_atomicfile_abort(&file); /* the name alone */
    }
    return m->fd >= 0;
}

/* What lies in memory goes to the disk. */
static bool put_tail(const dls_mapped *m)
{
    for (size_t done = m->settled; done < m->bytes;) {
        const ssize_t n = pwrite(m->fd, (const char *)m->at + done, m->bytes - done, (off_t)done);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool dls_mapped_grow(dls_mapped *m, size_t bytes)
{
    const size_t more = bytes - m->bytes, tail = m->bytes - m->settled;
    if (!put_tail(m)) {
        return false;
    }
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return false;
    }
    const bool again = more == tail; /* the pages of the old tail serve as the new one */
    if ((m->bytes > 0 && mmap(at, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, m->fd,
                              0) == MAP_FAILED) ||
        (again && mremap((char *)m->at + m->settled, tail, tail, MREMAP_MAYMOVE | MREMAP_FIXED,
                         at + m->bytes) == MAP_FAILED)) {
        munmap(at, bytes);
        return false;
    }
    const size_t left = again ? m->settled : m->bytes;
    if (left > 0) {
        munmap(m->at, left);
    }
    *m = (dls_mapped){.fd = m->fd, .at = at, .bytes = bytes, .settled = m->bytes};
    return true;
}

void dls_mapped_rest(const dls_mapped *m)
{
    if (m->settled > 0) {
        (void)madvise(m->at, m->settled, MADV_DONTNEED);
    }
}

void dls_mapped_close(dls_mapped *m)
{
    if (m->bytes > 0) {
        munmap(m->at, m->bytes);
    }
    if (m->fd >= 0) {
        close(m->fd);
    }
    *m = (dls_mapped){.fd = -1};
}
