package io.ringpoll.tuning.topology;

import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * The limits that control groups, and so containers, set on this process's CPU time.
 *
 * @param version       1 or 2; 0 where no cpu controller is visible
 * @param cpuset        the CPUs that the cpuset controller allows; all that are online where there is no limit
 * @param cpusetKnown   whether a cpuset controller was there to be read
 * @param quotaCpus     the CPU time allowed per time, in CPUs, the tightest of the group and its visible parents;
 *                      nothing if unlimited
 * @param periodUs      the quota's period in microseconds; nothing if unlimited
 * @param throttled     how many periods the group was stopped for having used its quota; nothing if unknown
 * @param isolated      the CPUs of isolated cpuset partitions
 */
public record ControlGroup(int version, CpuSet cpuset, boolean cpusetKnown, OptionalDouble quotaCpus, OptionalLong periodUs,
                           OptionalLong throttled, CpuSet isolated) {
}
