package io.ringpoll.verify.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** A function that parses bytes or text, and rejects it with an exception of one type; an input is cheap. */
public final class ReaderTarget implements FuzzTarget {
    private static final int CHEAP = 20;

    private final String name;
    private final Class<? extends RuntimeException> refusal;
    private final UnaryOperator<String> shown;
    private final Consumer<byte[]> reader;
    private final List<byte[]> examples;

    private ReaderTarget(
        final String name, final Class<? extends RuntimeException> refusal, final UnaryOperator<String> shown,
        final Consumer<byte[]> reader, final List<byte[]> examples) {
        this.name = name;
        this.refusal = refusal;
        this.shown = shown;
        this.reader = reader;
        this.examples = examples;
    }

    /**
     * Creates a target that parses bytes.
     *
     * @param name     name of the target
     * @param refusal  exception for invalid bytes
     * @param reader   the parser
     * @param examples valid bytes
     * @return a new target
     */
    public static ReaderTarget ofBytes(
        final String name, final Class<? extends RuntimeException> refusal, final Consumer<byte[]> reader,
        final byte[]... examples) {
        return new ReaderTarget(name, refusal, UnaryOperator.identity(), reader, List.of(examples));
    }

    /**
     * Creates a target that parses text.
     *
     * @param name     name of the target
     * @param refusal  exception for invalid text
     * @param reader   the parser
     * @param examples valid texts
     * @return a new target
     */
    public static ReaderTarget ofText(
        final String name, final Class<? extends RuntimeException> refusal, final Consumer<String> reader,
        final String... examples) {
        return ofText(name, refusal, UnaryOperator.identity(), reader, examples);
    }

    /**
     * Creates a target that parses text, with rejections as the command line prints them.
     *
     * @param name     name of the target
     * @param refusal  exception for invalid text
     * @param shown    the message as the user sees it
     * @param reader   the parser
     * @param examples valid texts
     * @return a new target
     */
    public static ReaderTarget ofText(
        final String name, final Class<? extends RuntimeException> refusal, final UnaryOperator<String> shown,
        final Consumer<String> reader, final String... examples) {
        return new ReaderTarget(
            name, refusal, shown, input -> reader.accept(new String(input, StandardCharsets.UTF_8)),
            Arrays.stream(examples).map(example -> example.getBytes(StandardCharsets.UTF_8)).toList());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int inputsInTurn() {
        return CHEAP;
    }

    @Override
    public List<byte[]> examples() {
        return examples;
    }

    @Override
    public void read(final byte[] input) throws Refused {
        try {
            reader.accept(input);
        } catch (final RuntimeException thrown) {
            if (refusal.isInstance(thrown)) {
                throw new Refused(shown.apply(thrown.getMessage()), thrown);
            }
            throw thrown;
        }
    }
}
