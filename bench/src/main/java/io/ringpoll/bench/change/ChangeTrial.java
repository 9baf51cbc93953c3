package io.ringpoll.bench.change;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Makes a change and measures before and after it.
 *
 * <p>If the change can be undone, the rounds alternate (before, after, after, before, and so on), so that a drift of the machine
 * affects both sides equally, and the change is undone at the end, also if the trial fails or is interrupted. Otherwise all
 * rounds before the change are measured first, and the change stays. Used by one thread.
 */
public final class ChangeTrial {
    private final ChangeSettings settings;
    private final RoundSource source;
    private final Supplier<ChangeEnvironment> environment;
    private final Change change;
    private final Progress progress;
    private final List<ChangeRound> before = new ArrayList<>();
    private final List<ChangeRound> after = new ArrayList<>();
    private ChangeEnvironment earlier;
    private ChangeEnvironment later;
    private boolean applied;

    /** Notified before each round. */
    @FunctionalInterface
    public interface Progress {
        /**
         * A round begins.
         *
         * @param round number of the round, from 1
         * @param after whether it is one after the change
         */
        void round(int round, boolean after);
    }

    /**
     * Prepares a trial.
     *
     * @param settings    settings of both measurements
     * @param source      measures a round
     * @param environment reads the state of the machine
     * @param change      the change
     * @param progress    notified of each round
     */
    public ChangeTrial(final ChangeSettings settings, final RoundSource source, final Supplier<ChangeEnvironment> environment,
        final Change change, final Progress progress) {
        this.settings = settings;
        this.source = source;
        this.environment = environment;
        this.change = change;
        this.progress = progress;
    }

    /**
     * Runs the trial, once.
     *
     * @return both measurements
     * @throws IOException          if the change or its undoing fails
     * @throws InterruptedException if the thread is interrupted
     */
    public ChangeReport run() throws IOException, InterruptedException {
        earlier = environment.get();
        try {
            if (change.canBeUndone()) {
                for (int round = 0; round < settings.rounds(); round++) {
                    measure(round % 2 == 1);
                    measure(round % 2 == 0);
                }
            } else {
                measureAll(false);
                measureAll(true);
            }
        } finally {
            restore();
        }
        return new ChangeReport(new ChangeMeasurement(settings, earlier, before), new ChangeMeasurement(settings, later, after),
            change.canBeUndone());
    }

    /**
     * Whether the change may be in effect.
     *
     * @return true if it was made, at least in part, and not undone since
     */
    public boolean isApplied() {
        return applied;
    }

    private void measureAll(final boolean changed) throws IOException, InterruptedException {
        for (int round = 0; round < settings.rounds(); round++) {
            measure(changed);
        }
    }

    private void measure(final boolean changed) throws IOException, InterruptedException {
        if (changed && !applied) {
            // A command that fails may have made a part of its change.
            applied = true;
            change.apply();
            if (later == null) {
                later = environment.get();
            }
        } else if (!changed && applied) {
            change.undo();
            applied = false;
        }
        final List<ChangeRound> rounds = changed ? after : before;
        progress.round(rounds.size() + 1, changed);
        rounds.add(source.measure());
    }

    private void restore() throws IOException, InterruptedException {
        if (applied && change.canBeUndone()) {
            // The command that undoes the change is to run even if the trial was interrupted.
            final boolean interrupted = Thread.interrupted();
            try {
                change.undo();
                applied = false;
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }
}
