package io.ringpoll.synthetic;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;

/**
 * The order of completion kinds: a repeating pattern.
 *
 * @param pattern a power of two kinds, {@value #MAX_LENGTH} at most
 */
public record CompletionMix(List<CompletionKind> pattern) {
    /** The longest pattern. */
    public static final int MAX_LENGTH = 4096;

    /**
     * Copies the pattern.
     *
     * @throws IllegalArgumentException if its length is no power of two or above {@value #MAX_LENGTH}
     */
    public CompletionMix {
        pattern = List.copyOf(pattern);
        if (Integer.bitCount(pattern.size()) != 1 || pattern.size() > MAX_LENGTH) {
            throw new IllegalArgumentException(
                "a pattern of " + pattern.size() + " kinds: it must be a power of two up to " + MAX_LENGTH);
        }
    }

    /** A kind, and its share of a pattern. */
    private record Share(CompletionKind kind, int count) {
    }

    /**
     * One kind only.
     *
     * @param kind of all completions
     * @return the mix
     */
    public static CompletionMix of(final CompletionKind kind) {
        return new CompletionMix(List.of(kind));
    }

    /**
     * Begins a mix by shares.
     *
     * @return to be filled
     */
    public static Shares shares() {
        return new Shares();
    }

    /** Collects the shares of a mix; used by one thread. */
    public static final class Shares {
        private final List<Share> shares = new ArrayList<>();

        private Shares() {
        }

        /**
         * Adds a kind.
         *
         * @param kind  of completions
         * @param count number of completions of this kind in the pattern, at least 1
         * @return this
         * @throws IllegalArgumentException if the count is less, or above {@value #MAX_LENGTH}
         */
        public Shares add(final CompletionKind kind, final int count) {
            Objects.requireNonNull(kind, "the kind is null");
            if (count < 1 || count > MAX_LENGTH) {
                throw new IllegalArgumentException("a count of " + count + " is not from 1 to " + MAX_LENGTH);
            }
            shares.add(new Share(kind, count));
            return this;
        }

        /**
         * Mixes the kinds.
         *
         * @param seed of the order
         * @return a mix with the requested number of completions of each kind
         * @throws IllegalArgumentException if the counts do not add up to a power of two
         */
        public CompletionMix shuffled(final long seed) {
            final List<CompletionKind> pattern = new ArrayList<>();
            for (final Share share : shares) {
                pattern.addAll(Collections.nCopies(share.count, share.kind));
            }
            Collections.shuffle(pattern, new Random(seed));
            return new CompletionMix(pattern);
        }
    }
}
