/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared mappings of unnamed files. Blocks are reserved before they are mapped: a disk that is full
 * is told by a status and not by SIGBUS.
 */
#include "base/mapped.h"

#include "base/atomicfile.h"

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

bool dls_mapped_grow(dls_mapped *m, size_t bytes)
{
    if (posix_fallocate(m->fd, (off_t)m->bytes, (off_t)(bytes - m->bytes)) != 0) {
        return false;
    }
    void *at = m->bytes > 0 ? mremap(m->at, m->bytes, bytes, MREMAP_MAYMOVE)
                            : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (at == MAP_FAILED) {
        return false;
    }
    m->at = at;
    m->bytes = bytes;
    return true;
}

void dls_mapped_rest(const dls_mapped *m)
{
    if (m->bytes > 0) {
        (void)madvise(m->at, m->bytes, MADV_DONTNEED);
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
