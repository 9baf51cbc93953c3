package io.ringpoll.bench.jitter;

import io.ringpoll.internal.os.KernelThread;
import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.os.OsException;
import io.ringpoll.os.ThreadAffinity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;

/** The loop in Java: one pinned thread per CPU, all at the same time. Used by one thread. */
final class JavaJitter {
    private final CpuSet cpus;
    private final long floorNs;

    /** The thread of one CPU, from its start to its end. */
    private static final class Spinner implements Runnable {
        private final int cpu;
        private final long durationNs;
        private final SpinLoop loop;
        private final CyclicBarrier start;
        private KernelThread.State before;
        private KernelThread.State after;
        private Optional<String> strayed = Optional.empty();
        private Throwable failure;

        Spinner(final int cpu, final long durationNs, final long floorNs, final CyclicBarrier start) {
            this.cpu = cpu;
            this.durationNs = durationNs;
            this.loop = new SpinLoop(floorNs);
            this.start = start;
        }

        @Override
        public void run() {
            try {
                ThreadAffinity.pin(cpu);
                final KernelThread self = KernelThread.current();
                start.await();
                before = self.state().orElseThrow();
                loop.run(durationNs);
                after = self.state().orElseThrow();
                strayed = self.strayedFrom(cpu);
            } catch (final Throwable t) {
                failure = t;
                start.reset();
            }
        }
    }

    JavaJitter(final CpuSet cpus, final long floorNs) {
        this.cpus = cpus;
        this.floorNs = floorNs;
    }

    /**
     * Spins for a time.
     *
     * @throws OsException           if a thread could not be pinned
     * @throws IllegalStateException if a thread did not stay on its CPU
     */
    List<CpuJitter> run(final long durationNs) throws InterruptedException {
        final CyclicBarrier start = new CyclicBarrier(cpus.size());
        final List<Spinner> spinners = cpus.stream().mapToObj(cpu -> new Spinner(cpu, durationNs, floorNs, start)).toList();
        final List<Thread> threads = spinners.stream().map(spinner -> {
            final Thread thread = new Thread(spinner, "jitter-cpu" + spinner.cpu);
            thread.setDaemon(true);
            return thread;
        }).toList();
        final MachineFiles files = MachineFiles.ofThisMachine();
        final CpuCounters before = CpuCounters.read(files);
        threads.forEach(Thread::start);
        for (final Thread thread : threads) {
            thread.join();
        }
        final CpuCounters after = CpuCounters.read(files);
        return results(spinners, before, after);
    }

    private static List<CpuJitter> results(final List<Spinner> spinners, final CpuCounters before, final CpuCounters after) {
        final List<CpuJitter> results = new ArrayList<>();
        for (final Spinner spinner : spinners) {
            if (spinner.failure instanceof final OsException refused) {
                throw refused;
            }
        }
        for (final Spinner spinner : spinners) {
            if (spinner.failure != null) {
                throw new IllegalStateException("the loop on CPU " + spinner.cpu + " failed: " + spinner.failure,
                    spinner.failure);
            }
            spinner.strayed.ifPresent(sentence -> {
                throw new IllegalStateException(sentence + ": somebody else changes affinities on this machine");
            });
            final Map<String, Long> interrupts = after.interruptsSince(before, spinner.cpu);
            results.add(new CpuJitter(spinner.cpu, spinner.loop.gaps(), spinner.loop.spins(), spinner.loop.elapsedNs(),
                spinner.after.voluntarySwitches() - spinner.before.voluntarySwitches(),
                spinner.after.involuntarySwitches() - spinner.before.involuntarySwitches(),
                after.stolenSince(before, spinner.cpu), interrupts));
        }
        return results;
    }
}
