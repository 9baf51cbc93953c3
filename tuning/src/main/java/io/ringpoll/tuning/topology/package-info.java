/**
 * What the machine is: CPUs, cores, caches, NUMA nodes, control groups, isolation, interrupts and RDMA devices.
 *
 * <p>Everything is read from sysfs and procfs below a root folder, so that a recorded file tree can stand in for a
 * machine. Nothing here writes.
 */
package io.ringpoll.tuning.topology;
