/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * To be preloaded: the allocation of number REFUSE_AT, from 0, that the program itself asks for
 * fails; those of the libraries it calls are not counted, nor those of REFUSE_NOT, which is where
 * in the program libraries lie that were linked into it: two addresses.
 */
#define _GNU_SOURCE
#include "refuse_call.h"

#include <errno.h>
#include <link.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static struct {
    const char *from, *end;
} own[2], not_own;

/* The program, and the library that is the program but for its command line. */
static int find_own(struct dl_phdr_info *info, size_t size, void *first)
{
    const int library = strstr(info->dlpi_name, "/libdlsim.so") != NULL;
    const char *inside = getenv("REFUSE_NOT");
    if (*(int *)first && inside) {
        char *end;
        not_own.from = (const char *)info->dlpi_addr + strtoul(inside, &end, 16);
        not_own.end = (const char *)info->dlpi_addr + strtoul(end, NULL, 16);
    }
    for (int i = 0; (library || *(int *)first) && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
            own[library].from = (const char *)info->dlpi_addr + p->p_vaddr;
            own[library].end = own[library].from + p->p_memsz;
        }
    }
    *(int *)first = 0;
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    int first = 1;
    dl_iterate_phdr(find_own, &first);
    refuse_begin();
}

static int refused(const void *caller)
{
    const char *c = caller;
    if (((c < own[0].from || c >= own[0].end) && (c < own[1].from || c >= own[1].end)) ||
        (c >= not_own.from && c < not_own.end)) {
        return 0;
    }
    if (!refuse_this()) {
        return 0;
    }
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t size)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t bytes)
{
    return refused(__builtin_return_address(0)) ? NULL : __libc_realloc(p, bytes);
}

int posix_memalign(void **to, size_t alignment, size_t bytes)
{
    if (refused(__builtin_return_address(0))) {
        return ENOMEM;
    }
    *to = __libc_memalign(alignment, bytes);
    return *to ? 0 : ENOMEM;
}
