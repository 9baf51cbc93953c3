/* SPDX-License-Identifier: Apache-2.0 */
/* gid.c: the tables of the port: GIDs and partition keys. */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/types.h>

#include "device.h"

/* An entry of the GID table; `index` is below LB_GIDS. */
static struct ibv_gid_entry entry_of(uint32_t index)
{
    struct ibv_gid_entry entry = {
        .gid_index = index,
        .port_num = 1,
        .gid_type = IBV_GID_TYPE_ROCE_V2,
        .ndev_ifindex = if_nametoindex("lo"), /* 0 in a network namespace without it */
    };

    if (index == 0) { /* ::ffff:127.0.0.1, as RoCE v2 maps IPv4 */
        static const uint8_t mapped[] = {0xff, 0xff, 127, 0, 0, 1};

        memcpy(entry.gid.raw + 10, mapped, sizeof(mapped));
    } else { /* ::1 */
        entry.gid.raw[15] = 1;
    }
    return entry;
}

LB_EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    (void)context;
    if (port != 1 || index < 0 || index >= LB_GIDS) {
        errno = EINVAL;
        return -1;
    }
    *gid = entry_of((uint32_t)index).gid;
    return 0;
}

/* As much of an entry as the caller's version of it has; the rest of a longer one is zero. */
static void copy_entry(void *to, size_t size, uint32_t index)
{
    const struct ibv_gid_entry entry = entry_of(index);

    memset(to, 0, size);
    memcpy(to, &entry, size < sizeof(entry) ? size : sizeof(entry));
}

/* ibv_query_gid_ex(3). Returns 0 or an errno value. */
LB_EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
    uint32_t flags, size_t entry_size)
{
    (void)context;
    if (port != 1 || index >= LB_GIDS || flags != 0 || entry_size == 0)
        return EINVAL;
    copy_entry(entry, entry_size, index);
    return 0;
}

/* ibv_query_gid_table(3). Returns the number of entries, or a negative errno value. */
LB_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max_entries,
    uint32_t flags, size_t entry_size)
{
    (void)context;
    if (max_entries < LB_GIDS || flags != 0 || entry_size == 0)
        return -EINVAL;
    for (uint32_t index = 0; index < LB_GIDS; index++)
        copy_entry((char *)entries + index * entry_size, entry_size, index);
    return LB_GIDS;
}

LB_EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
    (void)context;
    if (port != 1 || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *pkey = 0xffff;
    return 0;
}

LB_EXPORT int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
    (void)context;
    if (port != 1 || pkey != 0xffff) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}
