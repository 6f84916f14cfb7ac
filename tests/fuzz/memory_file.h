/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Input files that lie in memory: what is opened under memory_file_path[i] is the bytes that were
 * put there, for readers that open a path. Linked with open, fstat, read and close wrapped
 * (CMakeLists.txt); other paths go where they always went.
 */
#ifndef DLS_FUZZ_MEMORY_FILE_H
#define DLS_FUZZ_MEMORY_FILE_H

#include <stddef.h>

enum { MEMORY_FILES = 11 };

extern const char *const memory_file_path[MEMORY_FILES];

/* data is read until something else is put there. */
void memory_file_put(int i, const void *data, size_t size);

#endif
