/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Unpacks binary protocol buffers with protobuf-c into an arena; pb_text.c reads the text form.
 */
#include "workload/graph/pb.h"

#include "base/alloc.h"

#include <stdbool.h>

typedef struct source {
    dls_arena *arena;
    bool failed; /* for want of memory, and not for the data */
} source;

static void *take(void *user, size_t size)
{
    source *s = user;
    void *p = dls_arena_alloc(s->arena, size);
    s->failed |= !p;
    return p;
}

static void leave(void *user, void *p)
{
    (void)user, (void)p;
}

dls_status dls_pb_unpack(const char *name, const void *data, size_t size,
                         const ProtobufCMessageDescriptor *type, dls_arena *arena,
                         ProtobufCMessage **out, dls_error *err)
{
    source from = {.arena = arena};
    ProtobufCAllocator allocator = {.alloc = take, .free = leave, .allocator_data = &from};
    *out = protobuf_c_message_unpack(type, &allocator, size, data);
    if (*out) {
        return DLS_OK;
    }
    return from.failed
               ? dls_nomem(err, "graph file", size)
               : dls_fail(err, DLS_EINPUT, name, "not a %s, or a truncated one", type->short_name);
}
