package io.ringpoll.fault;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.os.Errno;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Reads the text of a fault plan.
 *
 * <pre>
 *   plan      [seed=N,]RULE[,RULE...]
 *   rule      KIND[:ARGUMENT...]@N         triggers at the n-th
 *             KIND[:ARGUMENT...]@N+M       and each m-th after it
 *             KIND[:ARGUMENT...]@~N        one in n, drawn from the seed
 *             ...#K                        of the k-th queue pair or completion queue alone
 * </pre>
 */
final class FaultPlanText {
    private static final int LONGEST_SHOWN = 60;
    private static final int ERRNOS = 134;
    private static final String[] UNITS = {"ns", "us", "ms", "s"};
    private static final long[] NANOSECONDS = {1, 1_000, 1_000_000, 1_000_000_000};

    private FaultPlanText() {
    }

    static FaultPlan parse(final String text) {
        long seed = FaultPlan.DEFAULT_SEED;
        final List<FaultRule> rules = new ArrayList<>();
        final String[] parts = text.split(",", -1);
        for (int i = 0; i < parts.length; i++) {
            final String part = parts[i].strip();
            try {
                if (i == 0 && part.startsWith("seed=")) {
                    seed = seed(part.substring("seed=".length()));
                } else {
                    rules.add(rule(part));
                }
            } catch (final IllegalArgumentException refused) {
                throw new IllegalArgumentException(
                    "fault plan: '" + shown(part) + "': " + printable(refused.getMessage()), refused);
            }
        }
        return new FaultPlan(seed, rules);
    }

    private static FaultRule rule(final String text) {
        final int mark = text.indexOf('@');
        if (mark < 0 || mark != text.lastIndexOf('@')) {
            throw new IllegalArgumentException("a rule is KIND[:ARGUMENT...]@WHEN");
        }
        final String[] words = text.substring(0, mark).split(":", -1);
        final FaultRule what = what(kind(words[0]), words);
        final String rest = text.substring(mark + 1);
        final int object = rest.indexOf('#');
        final FaultRule when = when(what, object < 0 ? rest : rest.substring(0, object));
        return object < 0 ? when : when.ofObject((int) number(rest.substring(object + 1), Integer.MAX_VALUE));
    }

    private static FaultRule when(final FaultRule what, final String text) {
        if (text.startsWith("~")) {
            return what.oneIn(number(text.substring(1), Long.MAX_VALUE));
        }
        final int plus = text.indexOf('+');
        return plus < 0 ? what.at(number(text, Long.MAX_VALUE)) :
            what.at(number(text.substring(0, plus), Long.MAX_VALUE)).every(number(text.substring(plus + 1), Long.MAX_VALUE));
    }

    private static FaultRule what(final FaultKind kind, final String[] words) {
        switch (kind.argument()) {
            case STATUS -> {
                requireWords(words, 2, 3, "status:STATUS[:OPERATION]");
                return FaultRule.status(status(words[1]), words.length > 2 ? operation(words[2]) : FaultOperation.ANY);
            }
            case TIMES -> {
                requireWords(words, 1, 2, kind.label() + "[:TIMES]");
                return FaultRule.repeated(kind, words.length > 1 ? (int) number(words[1], FaultRule.MAX_TIMES) : 1);
            }
            case DURATION -> {
                requireWords(words, 2, 2, kind.label() + ":TIME");
                return FaultRule.late(kind, duration(words[1]));
            }
            case FUNCTION -> {
                requireWords(words, 3, 3, "call:FUNCTION:ERRNO, or call:any:ERRNO");
                if (words[1].isEmpty()) {
                    throw new IllegalArgumentException("the function has no name; any stands for each");
                }
                return FaultRule.call("any".equals(words[1]) ? "" : words[1], errno(words[2]));
            }
            default -> {
                requireWords(words, 1, 1, kind.label());
                return FaultRule.of(kind);
            }
        }
    }

    private static void requireWords(final String[] words, final int fewest, final int most, final String form) {
        if (words.length < fewest || words.length > most) {
            throw new IllegalArgumentException("its form is " + form);
        }
    }

    private static FaultKind kind(final String word) {
        return Arrays.stream(FaultKind.values()).filter(kind -> kind.label().equals(word)).findFirst().orElseThrow(() ->
            new IllegalArgumentException("there is no such fault; there are " +
                Arrays.stream(FaultKind.values()).map(FaultKind::label).collect(Collectors.joining(", "))));
    }

    private static FaultOperation operation(final String word) {
        return Arrays.stream(FaultOperation.values()).filter(operation -> operation.label().equals(word)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("'" + shown(word) + "' is not an operation; those are " +
                Arrays.stream(FaultOperation.values()).map(FaultOperation::label).collect(Collectors.joining(", "))));
    }

    private static int status(final String word) {
        return IntStream.rangeClosed(WcStatus.LOC_LEN_ERR, WcStatus.GENERAL_ERR)
            .filter(status -> FaultRule.statusLabel(status).equals(word)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException(
                "'" + shown(word) + "' is not a status of a failed operation; those are " +
                IntStream.rangeClosed(WcStatus.LOC_LEN_ERR, WcStatus.GENERAL_ERR).mapToObj(FaultRule::statusLabel)
                    .collect(Collectors.joining(", "))));
    }

    private static int errno(final String word) {
        if (!word.isEmpty() && word.chars().allMatch(Character::isDigit)) {
            return (int) number(word, Integer.MAX_VALUE);
        }
        return IntStream.range(1, ERRNOS).filter(errno -> Errno.name(errno).equals(word)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("'" + shown(word) + "' is not an errno, such as ENOMEM or 12"));
    }

    private static long duration(final String word) {
        final int end = (int) word.chars().takeWhile(character -> character >= '0' && character <= '9').count();
        final int unit = Arrays.asList(UNITS).indexOf(word.substring(end).toLowerCase(Locale.ROOT));
        if (unit < 0) {
            throw new IllegalArgumentException("'" + shown(word) + "' is not a time, such as 500ns, 20us, 3ms or 1s");
        }
        final long number = number(word.substring(0, end), FaultRule.MAX_DURATION_NS);
        if (number > FaultRule.MAX_DURATION_NS / NANOSECONDS[unit]) {
            throw new IllegalArgumentException("'" + shown(word) + "' is longer than 10s");
        }
        return number * NANOSECONDS[unit];
    }

    private static long number(final String word, final long largest) {
        try {
            final long number = Long.parseLong(word);
            if (number >= 1 && number <= largest && Character.isDigit(word.charAt(0))) {
                return number;
            }
        } catch (final NumberFormatException notANumber) {
            // Reported below, as for a value out of range.
        }
        throw new IllegalArgumentException("'" + shown(word) + "' is not a number from 1 to " + largest);
    }

    private static long seed(final String word) {
        try {
            return Long.parseLong(word);
        } catch (final NumberFormatException notANumber) {
            throw new IllegalArgumentException("'" + shown(word) + "' is not a seed, a number of 64 bits", notANumber);
        }
    }

    /** Input text, shortened to one line. */
    private static String shown(final String text) {
        final String printable = printable(text);
        return printable.length() > LONGEST_SHOWN ? printable.substring(0, LONGEST_SHOWN) + "..." : printable;
    }

    private static String printable(final String text) {
        return text.codePoints().map(character -> isPrintable(character) ? character : '?')
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
    }

    private static boolean isPrintable(final int character) {
        final int type = Character.getType(character);
        return type != Character.CONTROL && type != Character.LINE_SEPARATOR && type != Character.PARAGRAPH_SEPARATOR;
    }
}
