package io.ringpoll.device;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Looks for RDMA devices the way libibverbs does: a device under {@code /sys/class/infiniband} and a character device
 * {@code /dev/infiniband/uverbs*} that may be opened.
 */
final class RdmaHardware {
    private final List<String> names;
    private final String reasonForNone;

    private RdmaHardware(final List<String> names, final String reasonForNone) {
        this.names = names;
        this.reasonForNone = reasonForNone;
    }

    static RdmaHardware find(final Path sysClass, final Path dev) {
        final List<Path> devices = list(sysClass, "*");
        if (devices.isEmpty()) {
            return new RdmaHardware(List.of(), "no RDMA device found");
        }
        final String names = names(devices);
        final List<Path> nodes = list(dev, "uverbs*");
        if (nodes.isEmpty()) {
            return new RdmaHardware(List.of(), names + " has no " + dev + "/uverbs*; is the module ib_uverbs loaded?");
        }
        if (nodes.stream().noneMatch(node -> Files.isReadable(node) && Files.isWritable(node))) {
            return new RdmaHardware(List.of(), names + " may not be opened by this user: " + nodes.getFirst() + " is protected");
        }
        return new RdmaHardware(devices.stream().map(path -> path.getFileName().toString()).toList(), null);
    }

    boolean isPresent() {
        return !names.isEmpty();
    }

    /** For instance {@code "rxe0, mlx5_0"}. */
    String names() {
        return String.join(", ", names);
    }

    String reasonForNone() {
        return reasonForNone;
    }

    private static String names(final List<Path> devices) {
        return String.join(", ", devices.stream().map(path -> path.getFileName().toString()).toList());
    }

    private static List<Path> list(final Path folder, final String pattern) {
        final List<Path> found = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, pattern)) {
                entries.forEach(found::add);
            } catch (final IOException e) {
                throw new DeviceException("cannot read " + folder + ": " + e.getMessage(), e);
            }
        }
        found.sort(null);
        return found;
    }
}
