/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An HDF5 file driver: writing a new file never fails, and reading believes no address.
 *
 * When a write fails at closing time (the disk is full), HDF5 1.10 keeps a file identifier that
 * points at freed memory and the process crashes later, at the latest in exit(). This driver keeps
 * the first error for its caller to ask for, drops what follows and lets HDF5 close in peace.
 *
 * When a damaged file names an object at the undefined address (all bits set), HDF5 1.10 takes that
 * for one within the file and copies from in front of its buffer of metadata. Files that are read
 * have no such buffer here: the address comes to the driver, and reading there is an error.
 */
#ifndef DLS_BASE_H5_DRIVER_H
#define DLS_BASE_H5_DRIVER_H

#include <hdf5.h>

/* Make files that are created or opened with this access list use the driver. *first_errno, 0 at
 * first, gets the first error and must outlive the file; of one that is only read, ENOMEM of its
 * opening. Negative on failure. */
herr_t dls_h5_driver_set(hid_t fapl, int *first_errno);

#endif
