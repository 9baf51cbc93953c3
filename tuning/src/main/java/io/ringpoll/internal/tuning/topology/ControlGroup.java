package io.ringpoll.internal.tuning.topology;

import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * The CPU limits that control groups, and so containers, impose on this process.
 *
 * @param version     1 or 2; 0 if no cpu controller is visible
 * @param cpuset      the CPUs that the cpuset controller permits; all online CPUs if there is no limit
 * @param cpusetKnown whether a cpuset controller could be read
 * @param quotaCpus   the CPU time per time, in CPUs, the lowest of the group and its visible parents; empty if unlimited
 * @param periodUs    the quota's period in microseconds; empty if unlimited
 * @param throttled   number of periods in which the group was throttled; empty if unknown
 * @param isolated    the CPUs of isolated cpuset partitions
 * @param partitions  whether root can make isolated cpuset partitions here
 */
public record ControlGroup(int version, CpuSet cpuset, boolean cpusetKnown, OptionalDouble quotaCpus, OptionalLong periodUs,
                           OptionalLong throttled, CpuSet isolated, boolean partitions) {
}
