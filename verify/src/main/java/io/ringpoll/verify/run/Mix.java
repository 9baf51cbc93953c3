package io.ringpoll.verify.run;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The shares of the operations in the workload, from {@code --mix}.
 *
 * <p>Immutable.
 */
public final class Mix {
    /** The default of the main job. */
    public static final String DEFAULT = "write=40,send=30,read=20,write-imm=9.9,fail=0.1";

    private static final int TABLE_SIZE = 1 << 12;

    private final Map<OperationKind, Double> shares;
    private final OperationKind[] table;

    private Mix(final Map<OperationKind, Double> shares) {
        this.shares = shares;
        this.table = table(shares);
    }

    /**
     * Parses a mix.
     *
     * @param text such as {@code write=50,send=49,fail=1}; relative weights, 0 for operations that are not named
     * @return the shares
     * @throws IllegalArgumentException that names the error
     */
    public static Mix parse(final String text) {
        final Map<OperationKind, Double> weights = new EnumMap<>(OperationKind.class);
        for (final String part : text.split(",")) {
            final int equals = part.indexOf('=');
            final String label = equals < 0 ? part : part.substring(0, equals);
            final OperationKind kind = kind(label.trim());
            if (kind == null) {
                throw new IllegalArgumentException(
                    "'" + part.trim() + "' is not an operation and its weight; operations are " + String.join(", ", labels()));
            }
            if (weights.put(kind, weight(part, part.substring(equals + 1).trim())) != null) {
                throw new IllegalArgumentException("'" + kind.label() + "' is named twice");
            }
        }
        final double sum = weights.values().stream().mapToDouble(Double::doubleValue).sum();
        if (!Double.isFinite(sum)) {
            throw new IllegalArgumentException("the weights are too large to be added up");
        }
        weights.replaceAll((kind, weight) -> weight / sum);
        if (!(good(weights) > 0)) {
            throw new IllegalArgumentException("at least one operation that can succeed must have a weight above 0");
        }
        return new Mix(weights);
    }

    /** The share of an operation, from 0 to 1. */
    double share(final OperationKind kind) {
        return shares.getOrDefault(kind, 0.0);
    }

    /** The operation for a random number, among those that succeed; allocates nothing. */
    OperationKind choose(final long random) {
        return table[(int) random & TABLE_SIZE - 1];
    }

    @Override
    public String toString() {
        final List<String> parts = new ArrayList<>();
        shares.forEach((kind, share) -> parts.add(String.format(Locale.ROOT, "%s %.4g %%", kind.label(), share * 100)));
        return String.join(", ", parts);
    }

    private static OperationKind[] table(final Map<OperationKind, Double> shares) {
        final double good = good(shares);
        final OperationKind[] table = new OperationKind[TABLE_SIZE];
        double cumulated = 0;
        int filled = 0;
        OperationKind last = null;
        for (final Map.Entry<OperationKind, Double> entry : shares.entrySet()) {
            if (entry.getKey() != OperationKind.FAILING && entry.getValue() > 0) {
                last = entry.getKey();
                cumulated += entry.getValue() / good;
                final int end = Math.min(TABLE_SIZE, (int) Math.round(cumulated * TABLE_SIZE));
                while (filled < end) {
                    table[filled++] = last;
                }
            }
        }
        while (filled < TABLE_SIZE) {
            table[filled++] = last;
        }
        return table;
    }

    /** The sum of the succeeding operations: 1 minus the failing share would be imprecise for a large failing share. */
    private static double good(final Map<OperationKind, Double> shares) {
        return shares.entrySet().stream().filter(entry -> entry.getKey() != OperationKind.FAILING)
            .mapToDouble(Map.Entry::getValue).sum();
    }

    private static double weight(final String part, final String text) {
        try {
            final double weight = Double.parseDouble(text);
            if (weight >= 0 && Double.isFinite(weight)) {
                return weight;
            }
        } catch (final NumberFormatException notANumber) {
            // Reported below, as for a negative one.
        }
        throw new IllegalArgumentException("'" + part.trim() + "' has no weight that is a number of 0 or more");
    }

    private static OperationKind kind(final String label) {
        for (final OperationKind kind : OperationKind.values()) {
            if (label.equals(kind.label())) {
                return kind;
            }
        }
        return null;
    }

    private static List<String> labels() {
        final List<String> labels = new ArrayList<>();
        for (final OperationKind kind : OperationKind.values()) {
            if (kind.label() != null) {
                labels.add(kind.label());
            }
        }
        return labels;
    }
}
