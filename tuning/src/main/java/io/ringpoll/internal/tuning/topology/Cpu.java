package io.ringpoll.internal.tuning.topology;

/**
 * An online logical CPU.
 *
 * @param id             its number
 * @param packageId      its physical package (socket); -1 if the kernel does not export it
 * @param node           its NUMA node
 * @param siblings       the CPUs of its core, itself included; more than one with SMT
 * @param cacheGroup     the CPUs under the same last-level shared cache, itself included; the package's or node's CPUs if the
 *     kernel exports no shared cache
 * @param cacheName      description of that cache, for instance {@code L3 32 MiB}, or {@code no shared cache shown}
 * @param cacheLineBytes the largest cache line of its caches, in bytes; 64 if the kernel does not export it
 */
public record Cpu(int id, int packageId, int node, CpuSet siblings, CpuSet cacheGroup, String cacheName, int cacheLineBytes) {
}
