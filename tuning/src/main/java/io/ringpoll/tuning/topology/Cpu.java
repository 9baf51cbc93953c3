package io.ringpoll.tuning.topology;

/**
 * One logical CPU that is online.
 *
 * @param id             its number
 * @param packageId      the physical package (socket) it is in; -1 if the kernel does not say
 * @param node           its NUMA node
 * @param siblings       the CPUs of its core, itself included: more than one means SMT
 * @param cacheGroup     the CPUs under the same last shared cache, itself included; the package's or node's CPUs
 *                       where the kernel shows no cache that cores share
 * @param cacheName      what that cache is, for instance {@code L3 32 MiB}, or {@code no shared cache shown}
 * @param cacheLineBytes the largest cache line of its caches, in bytes; 64 where the kernel does not say
 */
public record Cpu(int id, int packageId, int node, CpuSet siblings, CpuSet cacheGroup, String cacheName, int cacheLineBytes) {
}
