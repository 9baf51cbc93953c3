package io.ringpoll.device;

/** Thrown if the loaded version of a library lacks a function. */
public final class MissingFunctionException extends UnsupportedOperationException {
    private static final long serialVersionUID = 1L;

    private final String function;

    /**
     * Creates the exception.
     *
     * @param function the C function that was called
     * @param library  path and version of the library that lacks it
     */
    public MissingFunctionException(final String function, final String library) {
        super(function + " is not in " + library);
        this.function = function;
    }

    /**
     * The function that was called.
     *
     * @return its C name
     */
    public String function() {
        return function;
    }
}
