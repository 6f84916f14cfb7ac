/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In place of the C library's functions in the program that is linked with archives alone: a
 * library that it opened would bring another C library. Plug-ins and modules are refused with this
 * reason.
 */
#include <dlfcn.h>
#include <stddef.h>

void *dlopen(const char *file, int mode)
{
    (void)file;
    (void)mode;
    return NULL;
}

char *dlerror(void)
{
    static char why[] = "this program is linked statically and opens no libraries";
    return why;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
    (void)handle;
    (void)name;
    return NULL;
}

int dlclose(void *handle)
{
    (void)handle;
    return -1;
}

int dladdr(const void *address, Dl_info *info)
{
    (void)address;
    (void)info;
    return 0;
}
