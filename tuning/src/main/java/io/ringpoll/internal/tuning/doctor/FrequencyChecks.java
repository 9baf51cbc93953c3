package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.CpuSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/** Checks of the frequency of hot CPUs. */
final class FrequencyChecks {
    private static final String CPU = "sys/devices/system/cpu/";
    private static final String PREFERENCE = "energy_performance_preference";

    private FrequencyChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("cpu-governor", "CPU frequency governor",
                "A governor that follows the load lets a core that waits for a completion run slowly when it arrives.",
                MEDIUM, MACHINE, FrequencyChecks::governor, OK, WARNING, UNKNOWN),
            new Check("cpu-frequency", "CPU frequency limit",
                "A core that is held below its maximum takes longer for each completion.",
                MEDIUM, MACHINE, FrequencyChecks::frequency, OK, WARNING, UNKNOWN),
            new Check("energy-preference", "energy preference of the processor (EPP)",
                "It makes the processor itself hesitate to raise the frequency, whatever the governor asks for.",
                MEDIUM, MACHINE, FrequencyChecks::preference, OK, WARNING),
            new Check("turbo", "turbo frequencies",
                "Without them a core stays at its base frequency, also when the others idle.",
                LOW, MACHINE, FrequencyChecks::turbo, OK, WARNING, UNKNOWN));
    }

    private static Finding governor(final Examined machine) {
        final TreeMap<String, CpuSet> governors = machine.hotCpusBy("cpufreq/scaling_governor");
        if (governors.isEmpty()) {
            return Finding.unknown("the kernel controls no frequency here (no cpufreq driver: usual in a virtual machine)");
        }
        final boolean fast = governors.keySet().stream().allMatch("performance"::equals);
        return fast ? Finding.ok(Examined.described(governors))
            : Finding.warning(Examined.described(governors), performance(machine));
    }

    private static String performance(final Examined machine) {
        return Examined.script("cpu-power --cpus " + machine.hot() + " --governor performance");
    }

    private static Finding preference(final Examined machine) {
        final TreeMap<String, CpuSet> preferences = machine.hotCpusBy("cpufreq/" + PREFERENCE);
        if (preferences.isEmpty()) {
            return Finding.ok("the frequency driver has none");
        }
        if (preferences.keySet().stream().allMatch(value -> "performance".equals(value) || "0".equals(value))) {
            return Finding.ok(Examined.described(preferences));
        }
        // With the governor performance, drivers set the preference themselves.
        final boolean governed = machine.hotCpusBy("cpufreq/scaling_governor").keySet().equals(Set.of("performance"));
        return Finding.warning(Examined.described(preferences), governed ? Examined.write("performance", machine.hot().stream()
            .mapToObj(cpu -> CPU + "cpu" + cpu + "/cpufreq/" + PREFERENCE).toArray(String[]::new)) : performance(machine));
    }

    private static Finding turbo(final Examined machine) {
        final OptionalLong noTurbo = machine.files().number(CPU + "intel_pstate/no_turbo");
        final OptionalLong boost = machine.files().number(CPU + "cpufreq/boost");
        if (noTurbo.isEmpty() && boost.isEmpty()) {
            return Finding.unknown("the kernel shows no turbo setting");
        }
        final boolean off = noTurbo.orElse(0) == 1 || boost.orElse(1) == 0;
        return off ? Finding.warning("off", (noTurbo.isPresent() ? Examined.write("0", CPU + "intel_pstate/no_turbo")
            : Examined.write("1", CPU + "cpufreq/boost")) + "   # leave it off only for equal times at any load")
            : Finding.ok("on");
    }

    private static Finding frequency(final Examined machine) {
        CpuSet held = CpuSet.EMPTY;
        long lowest = Long.MAX_VALUE;
        long highest = 0;
        for (final int cpu : machine.hot().stream().toArray()) {
            final String folder = CPU + "cpu" + cpu + "/cpufreq/";
            final OptionalLong limit = machine.files().number(folder + "scaling_max_freq");
            final OptionalLong max = machine.files().number(folder + "cpuinfo_max_freq");
            if (limit.isPresent() && max.isPresent()) {
                highest = Math.max(highest, max.getAsLong());
                lowest = Math.min(lowest, limit.getAsLong());
                held = limit.getAsLong() < max.getAsLong() ? held.or(CpuSet.of(cpu)) : held;
            }
        }
        if (highest == 0) {
            return Finding.unknown("the kernel shows no frequencies here (no cpufreq driver: usual in a virtual machine)");
        }
        return held.isEmpty() ? Finding.ok("up to " + megahertz(highest))
            : Finding.warning(held.named() + " limited to " + megahertz(lowest) + " of " + megahertz(highest),
                Examined.script("cpu-power --cpus " + held + " --max-frequency"));
    }

    private static String megahertz(final long kilohertz) {
        return kilohertz / 1000 + " MHz";
    }
}
