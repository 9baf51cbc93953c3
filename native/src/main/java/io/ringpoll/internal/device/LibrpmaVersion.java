package io.ringpoll.internal.device;

import java.io.IOException;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Determines the version of the loaded librpma. The library itself does not export it: its pkg-config file contains it where the
 * headers are installed, otherwise the set of its functions narrows it down.
 */
final class LibrpmaVersion {
    private static final String VERSION_KEY = "Version:";

    private LibrpmaVersion() {
    }

    static String of(final SymbolLookup rpma, final Path library) {
        return "librpma " + ofPkgConfig(library).orElseGet(() -> ofFunctions(rpma));
    }

    private static Optional<String> ofPkgConfig(final Path library) {
        final Path file = library.resolveSibling("pkgconfig").resolve("librpma.pc");
        if (!Files.isReadable(file)) {
            return Optional.empty();
        }
        try (var lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(VERSION_KEY)).findFirst()
                .map(line -> line.substring(VERSION_KEY.length()).strip());
        } catch (final IOException e) {
            return Optional.empty();
        }
    }

    private static String ofFunctions(final SymbolLookup rpma) {
        if (rpma.find("rpma_cq_get_completion").isPresent()) {
            return "0.11 or older";
        }
        return rpma.find("rpma_srq_new").isPresent() ? "1.0 or newer" : "0.12 to 0.14";
    }
}
