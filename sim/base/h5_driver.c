/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HDF5 virtual file driver over POSIX files that remembers the first write error and drops later
 * writes, so that HDF5 can close the file normally; without a buffer of metadata for files that are
 * read.
 */
#include "base/h5_driver.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What the access list carries, copied by HDF5 byte by byte. */
typedef struct driver_info {
    int *first_errno;
} driver_info;

typedef struct driver_file {
    H5FD_t base; /* first: HDF5 sees only this */
    int fd;
    haddr_t eoa;      /* end of what is allocated in the file */
    haddr_t eof;      /* end of what has been written, or would have been */
    int *first_errno; /* NULL: the file is read */
} driver_file;

static void note_errno(driver_file *f)
{
    if (f->first_errno && !*f->first_errno) {
        *f->first_errno = errno ? errno : EIO;
    }
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr)
{
    const driver_info *info = H5Pget_driver_info(fapl);
    if (!info) {
        return NULL;
    }
    driver_file *f = dls_alloc_zero(1, sizeof *f);
    if (!f) {
        *info->first_errno = ENOMEM;
        return NULL;
    }
    int how = (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | O_CLOEXEC;
    how |= flags & H5F_ACC_CREAT ? O_CREAT : 0;
    how |= flags & H5F_ACC_TRUNC ? O_TRUNC : 0;
    f->first_errno = flags & H5F_ACC_RDWR ? info->first_errno : NULL;
    f->fd = open(name, how, 0666);
    if (f->fd < 0) {
        note_errno(f);
        dls_free(f);
        return NULL;
    }
    const off_t end = lseek(f->fd, 0, SEEK_END);
    f->eof = end > 0 ? (haddr_t)end : 0;
    return &f->base;
}

static herr_t driver_close(H5FD_t *base)
{
    driver_file *f = (driver_file *)base;
    if (close(f->fd) != 0) {
        note_errno(f);
    }
    dls_free(f);
    return 0;
}

/* base NULL: what files of this driver have at most. */
static herr_t driver_query(const H5FD_t *base, unsigned long *flags)
{
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    if (!base || ((const driver_file *)base)->first_errno) {
        *flags |= H5FD_FEAT_ACCUMULATE_METADATA;
    }
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *base, H5FD_mem_t type)
{
    return ((const driver_file *)base)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *base, H5FD_mem_t type, haddr_t eoa)
{
    ((driver_file *)base)->eoa = eoa;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *base, H5FD_mem_t type)
{
    return ((const driver_file *)base)->eof;
}

static herr_t driver_read(H5FD_t *base, H5FD_mem_t type, hid_t dxpl, haddr_t at, size_t size,
                          void *buffer)
{
    driver_file *f = (driver_file *)base;
    char *p = buffer;
    while (size > 0) {
        const ssize_t n = pread(f->fd, p, size, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -1;
        }
        if (n == 0) { /* allocated and not yet written */
            memset(p, 0, size);
            return 0;
        }
        p += n;
        at += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static herr_t driver_write(H5FD_t *base, H5FD_mem_t type, hid_t dxpl, haddr_t at, size_t size,
                           const void *buffer)
{
    driver_file *f = (driver_file *)base;
    const char *p = buffer;
    if (at + size > f->eof) {
        f->eof = at + size;
    }
    while (size > 0 && !*f->first_errno) {
        const ssize_t n = pwrite(f->fd, p, size, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            note_errno(f);
            break;
        }
        p += n;
        at += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static herr_t driver_truncate(H5FD_t *base, hid_t dxpl, hbool_t closing)
{
    driver_file *f = (driver_file *)base;
    if (f->eof != f->eoa) {
        if (!*f->first_errno && ftruncate(f->fd, (off_t)f->eoa) != 0) {
            note_errno(f);
        }
        f->eof = f->eoa;
    }
    return 0;
}

static const H5FD_class_t driver_class = {
    .name = "dlsim",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(driver_info),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

herr_t dls_h5_driver_set(hid_t fapl, int *first_errno)
{
    /* Registered once: HDF5 1.10 forgets to hold the driver of an open file. */
    static hid_t driver = H5I_INVALID_HID;
    if (driver < 0 || H5Iget_type(driver) != H5I_VFL) {
        driver = H5FDregister(&driver_class);
    }
    const driver_info info = {first_errno};
    return driver < 0 ? -1 : H5Pset_driver(fapl, driver, &info);
}
