package io.ringpoll.verify.run;

import io.ringpoll.internal.tuning.plan.AffinityPlan;
import io.ringpoll.internal.tuning.plan.PlanRequest;
import io.ringpoll.internal.tuning.plan.ThreadRole;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.os.ThreadAffinity;
import io.ringpoll.pipeline.WaitMode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The CPU of each hot thread of the run, from {@code --pin}.
 *
 * <p>Immutable.
 */
public final class RunPinning {
    /** Marks a thread without a fixed CPU. */
    static final int ANY_CPU = -1;

    /** No thread is pinned. */
    static final RunPinning NONE = new RunPinning(Map.of(), Optional.empty());

    /** The hot threads, in the order of a list of plain CPU numbers. */
    static final List<String> ROLES = List.of("poller", "send-write", "receive", "error", "client");

    private final Map<String, Integer> cpus;
    private final Optional<WaitMode> wait;

    private RunPinning(final Map<String, Integer> cpus, final Optional<WaitMode> wait) {
        this.cpus = cpus;
        this.wait = wait;
    }

    /** The CPUs of a plan, and its recommended wait. */
    static RunPinning of(final AffinityPlan plan) {
        return new RunPinning(plan.cpus(), Optional.of(plan.waitMode(ThreadRole.Kind.HANDLER)));
    }

    /**
     * Parses a pinning.
     *
     * @param text {@code none}, {@code auto} for the plan of {@code ./ringpoll tune plan} for this machine, CPU numbers in the
     *             order of {@link #ROLES} such as {@code 2,3,4}, or pairs such as {@code poller=2,client=3}
     * @return the pinning
     * @throws IllegalArgumentException that names the error
     */
    public static RunPinning parse(final String text) {
        return parse(text, Topology.ofThisMachine());
    }

    /** Parses a pinning for a machine. */
    static RunPinning parse(final String text, final Topology machine) {
        if ("none".equals(text)) {
            return NONE;
        }
        if ("auto".equals(text)) {
            return of(AffinityPlan.plan(machine, PlanRequest.ofPipeline()));
        }
        final Map<String, Integer> cpus = new LinkedHashMap<>();
        int position = 0;
        for (final String part : text.split(",", -1)) {
            final int equals = part.indexOf('=');
            final String role = equals < 0 ? role(position++) : part.substring(0, equals).trim();
            if (!ROLES.contains(role)) {
                throw new IllegalArgumentException("'" + role + "' is not a thread; threads are " + String.join(", ", ROLES));
            }
            if (cpus.put(role, cpu(part.substring(equals + 1).trim(), machine)) != null) {
                throw new IllegalArgumentException("two CPUs for " + role);
            }
        }
        return new RunPinning(cpus, Optional.empty());
    }

    /** The CPU for a role, or {@link #ANY_CPU}. */
    int cpu(final String role) {
        return cpus.getOrDefault(role, ANY_CPU);
    }

    /** The wait that suits the CPUs, if they are from a plan. */
    Optional<WaitMode> handlerWait() {
        return wait;
    }

    /** Pins the calling thread to the CPU of its role, if there is one. */
    void pinCurrentThread(final String role) {
        if (cpus.containsKey(role)) {
            ThreadAffinity.pin(cpus.get(role));
        }
    }

    @Override
    public String toString() {
        return cpus.isEmpty() ? "no thread pinned" : "pinned " + cpus + (wait.isPresent() ? " (by plan)" : "");
    }

    private static String role(final int position) {
        if (position >= ROLES.size()) {
            throw new IllegalArgumentException("more CPUs than threads; threads are " + String.join(", ", ROLES));
        }
        return ROLES.get(position);
    }

    private static int cpu(final String text, final Topology machine) {
        final int cpu;
        try {
            cpu = Integer.parseInt(text);
        } catch (final NumberFormatException notANumber) {
            throw new IllegalArgumentException("'" + text + "' is not a CPU number");
        }
        if (!machine.usable().contains(cpu)) {
            throw new IllegalArgumentException("CPU " + cpu + " cannot be used; this process may use " + machine.usable());
        }
        return cpu;
    }
}
