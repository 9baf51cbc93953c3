/**
 * The topology of a machine: CPUs, cores, caches, NUMA nodes, control groups, isolation, interrupts and RDMA devices.
 *
 * <p>Everything is read from sysfs and procfs below a root folder, so that a recorded file tree can replace a machine. No class
 * writes.
 */
package io.ringpoll.internal.tuning.topology;
