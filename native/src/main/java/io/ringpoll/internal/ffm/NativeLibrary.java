package io.ringpoll.internal.ffm;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * A loaded C library that method handles are made from.
 *
 * <p>A function that the library lacks is no reason to fail at load time: its handle throws an exception,
 * naming function and library, when it is called. Thread-safe.
 */
public final class NativeLibrary {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CRITICAL = Linker.Option.critical(false);
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final NativeLibrary C = new NativeLibrary(LINKER.defaultLookup(), "the C library");

    private final SymbolLookup lookup;
    private final String description;
    private final BiFunction<String, String, RuntimeException> missing;

    /**
     * Wraps a loaded library.
     *
     * @param lookup      finds the library's symbols
     * @param description path and version, for error messages
     */
    public NativeLibrary(final SymbolLookup lookup, final String description) {
        this(lookup, description,
            (function, library) -> new UnsupportedOperationException(function + " is not in " + library));
    }

    /**
     * Wraps a loaded library.
     *
     * @param lookup      finds the library's symbols
     * @param description path and version, for error messages
     * @param missing     makes the exception of a function that the library lacks, by its name and the description
     */
    public NativeLibrary(final SymbolLookup lookup, final String description,
        final BiFunction<String, String, RuntimeException> missing) {
        this.lookup = lookup;
        this.description = description;
        this.missing = missing;
    }

    /**
     * The process's C library.
     *
     * @return always the same
     */
    public static NativeLibrary c() {
        return C;
    }

    /**
     * Path and version, as in error messages.
     *
     * @return for instance {@code "/usr/lib/x86_64-linux-gnu/librpma.so.0 (librpma 1.2 or 1.3)"}
     */
    public String description() {
        return description;
    }

    /**
     * Whether the library has a symbol.
     *
     * @param name of the symbol
     * @return true if it can be bound
     */
    public boolean has(final String name) {
        return lookup.find(name).isPresent();
    }

    /**
     * Throws the exception of a call if the library lacks a function.
     *
     * @param name of the function
     */
    public void require(final String name) {
        if (!has(name)) {
            throw missing.apply(name, description);
        }
    }

    /**
     * Finds a symbol.
     *
     * @param name of the symbol
     * @return its address, or empty if the library lacks it
     */
    public Optional<MemorySegment> find(final String name) {
        return lookup.find(name);
    }

    /**
     * Makes the handle of a function that may block or take long.
     *
     * @param name       of the C function
     * @param descriptor its parameters and result; pointers as {@code JAVA_LONG}
     * @return a handle of that type
     */
    public MethodHandle plain(final String name, final FunctionDescriptor descriptor) {
        return handle(name, descriptor);
    }

    /**
     * Makes the handle of a function that may block, with errno captured.
     *
     * @param name       of the C function
     * @param descriptor its parameters and result; pointers as {@code JAVA_LONG}
     * @return a handle with a leading parameter, the segment of {@link CallState#errnoSegment()}
     */
    public MethodHandle capturing(final String name, final FunctionDescriptor descriptor) {
        return handle(name, descriptor, ERRNO);
    }

    /**
     * Makes the handle of a variadic function, with errno captured.
     *
     * @param name          of the C function
     * @param descriptor    the parameters of this use of it and its result
     * @param firstVariadic index of the first variadic parameter
     * @return a handle with a leading parameter, the segment of {@link CallState#errnoSegment()}
     */
    public MethodHandle capturingVariadic(final String name, final FunctionDescriptor descriptor, final int firstVariadic) {
        return handle(name, descriptor, ERRNO, Linker.Option.firstVariadicArg(firstVariadic));
    }

    /**
     * Makes the handle of a short function that never blocks and never calls back into Java.
     *
     * <p>The thread stays in the state "in Java" during the call: cheap, but a safepoint waits for the function's return. The
     * handle takes a {@link CallTurn} first and makes the plain calls that it asks for.
     *
     * @param name       of the C function
     * @param descriptor its parameters and result; pointers as {@code JAVA_LONG}
     * @return a handle of that type with a leading {@code int} parameter, the turn
     */
    public MethodHandle critical(final String name, final FunctionDescriptor descriptor) {
        return CallTurn.select(handle(name, descriptor), handle(name, descriptor, CRITICAL));
    }

    /**
     * Creates a handle that calls the short, non-blocking function that its second argument points to; its first argument is a
     * {@link CallTurn}, as for {@link #critical}.
     *
     * @param descriptor the function's parameters and result
     * @return a handle; its leading parameters are the turn and the function's address as a segment
     */
    @SuppressWarnings("restricted")
    public static MethodHandle criticalPointer(final FunctionDescriptor descriptor) {
        return CallTurn.select(LINKER.downcallHandle(descriptor), LINKER.downcallHandle(descriptor, CRITICAL));
    }

    /** Creates a handle that calls one short, non-blocking function, always by a critical call. */
    @SuppressWarnings("restricted")
    static MethodHandle criticalOf(final MemorySegment function, final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(function, descriptor, CRITICAL);
    }

    /** The same of any function, whose address is the first argument. */
    @SuppressWarnings("restricted")
    static MethodHandle criticalOf(final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor, CRITICAL);
    }

    /**
     * Creates a handle that calls the function at the address in its first argument; the function may block.
     *
     * @param descriptor the function's parameters and result
     * @return a handle; its leading parameter is the function's address as a segment
     */
    @SuppressWarnings("restricted")
    public static MethodHandle plainPointer(final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor);
    }

    @SuppressWarnings("restricted")
    private MethodHandle handle(final String name, final FunctionDescriptor descriptor, final Linker.Option... options) {
        final Optional<MemorySegment> symbol = lookup.find(name);
        if (symbol.isPresent()) {
            return LINKER.downcallHandle(symbol.get(), descriptor, options);
        }
        return missing(name, LINKER.downcallHandle(descriptor, options).type().dropParameterTypes(0, 1));
    }

    private MethodHandle missing(final String name, final MethodType type) {
        final MethodHandle create;
        try {
            create = MethodHandles.lookup().findVirtual(BiFunction.class, "apply", MethodType.genericMethodType(2))
                .bindTo(missing)
                .asType(MethodType.methodType(RuntimeException.class, String.class, String.class));
        } catch (final ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
        final MethodHandle thrower = MethodHandles.foldArguments(
            MethodHandles.throwException(type.returnType(), RuntimeException.class),
            MethodHandles.insertArguments(create, 0, name, description));
        return MethodHandles.dropArguments(thrower, 0, type.parameterList());
    }

    /**
     * Rethrows the exception of a handle: a downcall throws only unchecked exceptions and errors.
     *
     * @param thrown by {@code invokeExact}
     * @return never
     */
    public static RuntimeException unexpected(final Throwable thrown) {
        if (thrown instanceof final RuntimeException exception) {
            throw exception;
        }
        if (thrown instanceof final Error error) {
            throw error;
        }
        throw new AssertionError("a downcall threw a checked exception", thrown);
    }
}
