/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In place of libltdl, by which the archive of GLPK would open databases and of which Debian has the
 * archive apart: there are none. GLPK asks for nothing more once lt_dlinit has failed.
 */
#include <stddef.h>

int lt_dlinit(void);
int lt_dlexit(void);
void *lt_dlopen(const char *path);
void *lt_dlsym(void *module, const char *name);
int lt_dlclose(void *module);
const char *lt_dlerror(void);

int lt_dlinit(void)
{
    return 1;
}

int lt_dlexit(void)
{
    return 1;
}

void *lt_dlopen(const char *path)
{
    (void)path;
    return NULL;
}

void *lt_dlsym(void *module, const char *name)
{
    (void)module;
    (void)name;
    return NULL;
}

int lt_dlclose(void *module)
{
    (void)module;
    return 1;
}

const char *lt_dlerror(void)
{
    return "no databases";
}
