package io.ringpoll.internal.device;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceProvider;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * Loads the C libraries of a device, in the order that decides which libibverbs librpma gets.
 *
 * <p>The dynamic linker resolves the SONAMEs that librpma needs to libraries that are loaded already. Where the {@code
 * libibverbs.so.1} and {@code librdmacm.so.1} of a {@link DeviceProvider} are loaded by path first, librpma runs on them,
 * unchanged.
 *
 * @param ibverbs  libibverbs
 * @param rdmacm   librdmacm
 * @param rpma     librpma; if it is not installed, a library without functions that throws at each call
 * @param ringpoll the binding's own C library, if it was built for this architecture
 */
public record DeviceLibraries(
    NativeLibrary ibverbs, NativeLibrary rdmacm, NativeLibrary rpma, Optional<NativeLibrary> ringpoll) {
    private static final String IBVERBS = "libibverbs.so.1";
    private static final String RDMACM = "librdmacm.so.1";
    private static final String NO_RPMA = "librpma is not installed";
    private static final String RINGPOLL = "libringpoll.so";
    private static final List<String> RPMA_NAMES = List.of("librpma.so.0", "librpma.so.1", "librpma.so");

    private static volatile DeviceLibraries current;

    /**
     * The exceptions of a device. Their public types are in a package that depends on this one.
     *
     * @param unusable a library cannot be used
     * @param missing  a library lacks a function: by the function's name and the library's description
     */
    public record Errors(DeviceFailure unusable, BiFunction<String, String, RuntimeException> missing) {
        private NativeLibrary library(final SymbolLookup lookup, final String description) {
            return new NativeLibrary(lookup, description, missing);
        }
    }

    /**
     * The libraries of this process's device.
     *
     * @return null until {@link Device#current()} has loaded them
     */
    public static DeviceLibraries loaded() {
        return current;
    }

    /**
     * Makes libraries those of this process; for {@link Device} alone.
     *
     * @param libraries the loaded ones
     */
    public static void use(final DeviceLibraries libraries) {
        current = libraries;
    }

    /**
     * Loads the libraries of a device in user space.
     *
     * @param libibverbs of the device
     * @param librdmacm  of the device
     * @param errors     made if one cannot be loaded, or lacks a function
     * @return the loaded libraries
     */
    public static DeviceLibraries of(final Path libibverbs, final Path librdmacm, final Errors errors) {
        final SymbolLookup lookup = load(libibverbs, errors);
        final SymbolLookup manager = load(librdmacm, errors);
        return of(errors.library(lookup, libibverbs.toString()), errors.library(manager, librdmacm.toString()), errors);
    }

    /**
     * Loads the installed libraries.
     *
     * @param errors made if one is not installed, or lacks a function
     * @return the loaded libraries
     */
    public static DeviceLibraries ofRdma(final Errors errors) {
        try {
            final SymbolLookup lookup = load(IBVERBS);
            final SymbolLookup manager = load(RDMACM);
            return of(errors.library(lookup, pathOf(IBVERBS).orElse(IBVERBS)),
                errors.library(manager, pathOf(RDMACM).orElse(RDMACM)), errors);
        } catch (final IllegalArgumentException e) {
            throw errors.unusable().of("libibverbs or librdmacm is not installed: " +
                installHint("libibverbs1 ibverbs-providers librdmacm1"), e);
        }
    }

    private static DeviceLibraries of(final NativeLibrary ibverbs, final NativeLibrary rdmacm, final Errors errors) {
        final NativeLibrary rpma = rpma(errors, RPMA_NAMES);
        final Optional<NativeLibrary> ringpoll = BundledLibraries.find(RINGPOLL, errors.unusable())
            .map(file -> errors.library(load(file, errors), file.toString()));
        return new DeviceLibraries(ibverbs, rdmacm, rpma, ringpoll);
    }

    /** Loads librpma by one of its names. If it is not installed, the result has no function: connections of verbs need none. */
    static NativeLibrary rpma(final Errors errors, final List<String> names) {
        final SymbolLookup rpma;
        try {
            rpma = loadRpma(errors, names);
        } catch (final IllegalArgumentException notInstalled) {
            return new NativeLibrary(name -> Optional.empty(), NO_RPMA, (function, library) -> errors.unusable().of(
                library + ": " + installHint("librpma0") + ", or set its path by the property " + Device.LIBRPMA_PROPERTY,
                notInstalled));
        }
        final String path = names.stream().map(DeviceLibraries::pathOf).flatMap(Optional::stream).findFirst()
            .orElse(names.getFirst());
        return errors.library(rpma, LibrpmaVersion.of(rpma, Path.of(path)) + ", " + path);
    }

    private static SymbolLookup loadRpma(final Errors errors, final List<String> names) {
        final String path = System.getProperty(Device.LIBRPMA_PROPERTY);
        if (path != null && !path.isBlank()) {
            try {
                return load(Path.of(path.strip()).toAbsolutePath().toString());
            } catch (final IllegalArgumentException e) {
                throw errors.unusable().of("cannot load librpma from " + path + ", which the property " +
                    Device.LIBRPMA_PROPERTY + " names: " + e.getMessage(), e);
            }
        }
        IllegalArgumentException last = null;
        for (final String name : names) {
            try {
                return load(name);
            } catch (final IllegalArgumentException e) {
                last = e;
            }
        }
        throw last;
    }

    /** Libraries are never unloaded: handles to their functions are static. */
    @SuppressWarnings("restricted")
    private static SymbolLookup load(final String pathOrName) {
        return SymbolLookup.libraryLookup(pathOrName, Arena.global());
    }

    /** Loads a file of the artifacts. */
    private static SymbolLookup load(final Path file, final Errors errors) {
        try {
            return load(file.toString());
        } catch (final IllegalArgumentException e) {
            throw errors.unusable().of("cannot load " + file + ": the mount option noexec of its file system forbids it, or it" +
                " is not for this machine; set the property java.io.tmpdir to a folder that can be executed from", e);
        }
    }

    /** The file of a loaded library, from the memory map of the process. */
    private static Optional<String> pathOf(final String name) {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.map(line -> line.substring(Math.max(0, line.indexOf('/'))))
                .filter(path -> path.startsWith("/") && path.contains("/" + name)).findFirst();
        } catch (final IOException e) {
            return Optional.empty();
        }
    }

    private static String installHint(final String packages) {
        return "`apt-get install " + packages + "` (or the package of that name of your distribution)";
    }
}
