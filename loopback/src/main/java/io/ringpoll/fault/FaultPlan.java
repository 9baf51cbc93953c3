package io.ringpoll.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The faults that the loopback device injects in this process: rules, and the seed of random rules. Immutable.
 *
 * <p>The same plan injects the same faults: each queue pair and completion queue has its own count, independent of other threads.
 *
 * @param seed  of the random rules
 * @param rules at most {@value #MAX_RULES}; the first that triggers applies
 */
public record FaultPlan(long seed, List<FaultRule> rules) {
    /** The seed of a plan without a seed in its text. */
    public static final long DEFAULT_SEED = 1;
    /** The most rules of a plan. */
    public static final int MAX_RULES = 64;

    /** Copies and checks the rules. */
    public FaultPlan {
        rules = List.copyOf(rules);
        if (rules.isEmpty() || rules.size() > MAX_RULES) {
            throw new IllegalArgumentException("fault plan: " + rules.size() + " rules are not from 1 to " + MAX_RULES);
        }
    }

    /**
     * Reads a plan's text: rules with commas between them, behind {@code seed=N,} if there is one.
     *
     * @param text for instance {@code "seed=7,status:rem-access-err:write@100,delay:2ms@~1000"}
     * @return the plan; its {@link #toString()} is this text again, except that numbers and times may be shorter
     * @throws IllegalArgumentException with one line that names the invalid part and the reason
     */
    public static FaultPlan parse(final String text) {
        return FaultPlanText.parse(text);
    }

    /**
     * Begins a plan.
     *
     * @return without rules yet, with seed {@value #DEFAULT_SEED}
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Finds the rule that triggers, by the same decision as the device.
     *
     * @param kind      the kind of fault
     * @param operation of a status: the one that is counted; else {@link FaultOperation#ANY}
     * @param object    the n-th queue pair, or completion queue, under the plan, from 1; 0 for calls
     * @param n         the count, from 1
     * @return empty if nothing goes wrong
     */
    public Optional<FaultRule> trigger(final FaultKind kind, final FaultOperation operation, final int object, final long n) {
        for (int i = 0; i < rules.size(); i++) {
            final FaultRule rule = rules.get(i);
            if (rule.kind() == kind && rule.operation() == operation && rule.triggers(seed, i, object, n)) {
                return Optional.of(rule);
            }
        }
        return Optional.empty();
    }

    /** The text that {@link #parse} reads. */
    @Override
    public String toString() {
        final String text = rules.stream().map(FaultRule::toString).collect(Collectors.joining(","));
        return seed == DEFAULT_SEED ? text : "seed=" + seed + "," + text;
    }

    /** Collects the rules of a plan; one thread. */
    public static final class Builder {
        private final List<FaultRule> rules = new ArrayList<>();
        private long seed = DEFAULT_SEED;

        private Builder() {
        }

        /**
         * Sets the seed of the rules that draw.
         *
         * @param number any
         * @return this
         */
        public Builder seed(final long number) {
            seed = number;
            return this;
        }

        /**
         * Adds a rule.
         *
         * @param rule behind those before it
         * @return this
         */
        public Builder rule(final FaultRule rule) {
            rules.add(Objects.requireNonNull(rule, "the rule is null"));
            return this;
        }

        /**
         * Whether no rule was added.
         *
         * @return true if there is nothing to build
         */
        public boolean isEmpty() {
            return rules.isEmpty();
        }

        /**
         * Makes the plan.
         *
         * @return immutable
         * @throws IllegalArgumentException if there are no rules, or too many
         */
        public FaultPlan build() {
            return new FaultPlan(seed, rules);
        }
    }
}
