package io.ringpoll.internal.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The version of librpma: by its pkg-config file, or else by its functions. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LibrpmaVersionTest {
    @TempDir
    private Path folder;

    @Test
    void shouldTakeTheVersionOfThePkgConfigFile() throws IOException {
        Files.createDirectory(folder.resolve("pkgconfig"));
        Files.write(folder.resolve("pkgconfig/librpma.pc"), List.of("Name: librpma", "Version:  1.3.0 ", "Libs: -lrpma"));
        assertEquals("librpma 1.3.0", version("rpma_srq_new"));
    }

    @Test
    void shouldNarrowTheVersionDownByTheFunctions() throws IOException {
        assertEquals("librpma 0.11 or older", version("rpma_cq_get_completion"));
        assertEquals("librpma 0.12 to 0.14", version("rpma_cq_get_wc"));
        assertEquals("librpma 1.0 or newer", version("rpma_cq_get_wc", "rpma_srq_new"));
        Files.createDirectory(folder.resolve("pkgconfig"));
        Files.write(folder.resolve("pkgconfig/librpma.pc"), List.of("Name: librpma"));
        assertEquals("librpma 1.0 or newer", version("rpma_srq_new"));
    }

    private String version(final String... functions) {
        final SymbolLookup lookup =
            name -> List.of(functions).contains(name) ? Optional.of(MemorySegment.NULL) : Optional.empty();
        return LibrpmaVersion.of(lookup, folder.resolve("librpma.so.0"));
    }
}
