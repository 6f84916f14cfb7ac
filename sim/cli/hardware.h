/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the tables of GPUs, links and constants are: configs/hardware of the folder one stands in,
 * else what was installed with the program.
 */
#ifndef DLS_CLI_HARDWARE_H
#define DLS_CLI_HARDWARE_H

#include <stddef.h>

/* given, if it is not NULL. The answer may stand in buf. */
const char *dls_hardware_folder(const char *given, char *buf, size_t size);

#endif
