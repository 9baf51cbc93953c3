package io.ringpoll.cli.options;

/** A command that looks at its options as a whole, once they have been read and before it does anything. */
public interface CheckedOptions {
    /**
     * Refuses options that cannot be meant.
     *
     * @throws picocli.CommandLine.ParameterException in one line that names the option and what it may be
     */
    void check();
}
