package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Scope.COMMAND;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.RdmaDevice;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Checks of the native RDMA libraries. */
final class LibraryChecks {
    private LibraryChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("librpma", "librpma",
                "All work requests and completions go through it; versions before 1.0 have another call for "
                    + "completions.", HIGH, COMMAND, LibraryChecks::librpma, OK, WARNING, BAD),
            new Check("verbs-provider", "libibverbs and its providers",
                "Without the provider of its adapter libibverbs does not see the adapter at all.",
                HIGH, COMMAND, LibraryChecks::providers, OK, BAD),
            new Check("verbs-environment", "environment variables of libibverbs and mlx5",
                "Variables for diagnosis and for programs with one thread remove locks or slow each post down.",
                HIGH, COMMAND, LibraryChecks::environment, OK, WARNING, BAD, UNKNOWN));
    }

    private static Stream<String> libraryFolders(final MachineFiles files) {
        return Stream.of("usr/lib", "usr/lib64", "usr/local/lib").flatMap(folder -> Stream.concat(Stream.of(folder),
            files.names(folder).stream().filter(name -> name.endsWith("-linux-gnu")).map(name -> folder + "/" + name)));
    }

    private static Optional<String> library(final MachineFiles files, final String name) {
        return libraryFolders(files).map(folder -> folder + "/" + name).filter(files::exists).findFirst();
    }

    private static Finding librpma(final Examined machine) {
        final MachineFiles files = machine.files();
        final Optional<String> found = Stream.of("librpma.so.0", "librpma.so.1").flatMap(name -> library(files, name).stream())
            .findFirst();
        if (found.isEmpty()) {
            return Finding.bad("not found in the library folders",
                "sudo apt-get install librpma0   # Fedora, RHEL: dnf install librpma");
        }
        final String folder = found.get().substring(0, found.get().lastIndexOf('/'));
        final Optional<String> version = files.text(folder + "/pkgconfig/librpma.pc").stream().flatMap(String::lines)
            .filter(line -> line.startsWith("Version:")).map(line -> line.substring("Version:".length()).strip()).findFirst();
        if (version.isEmpty()) {
            return Finding.ok("/" + found.get() + " (version not shown: its development package is not installed)");
        }
        return version.get().startsWith("0.") ? Finding.warning(version.get() + ", /" + found.get(), "install librpma 1.2 or 1.3")
            : Finding.ok(version.get() + ", /" + found.get());
    }

    private static Finding providers(final Examined machine) {
        final MachineFiles files = machine.files();
        final Optional<String> verbs = library(files, "libibverbs.so.1");
        if (verbs.isEmpty()) {
            return Finding.bad("libibverbs.so.1 not found in the library folders",
                "sudo apt-get install libibverbs1 ibverbs-providers librdmacm1   # Fedora, RHEL: dnf install libibverbs "
                    + "librdmacm");
        }
        final List<String> providers = files.names("etc/libibverbs.d").stream().filter(name -> name.endsWith(".driver"))
            .map(name -> name.substring(0, name.length() - ".driver".length())).toList();
        for (final RdmaDevice device : machine.topology().rdmaDevices()) {
            final String provider = provider(device);
            if (!"unknown".equals(provider) && !providers.contains(provider)) {
                return Finding.bad("no provider '" + provider + "' for " + device.name(),
                    "sudo apt-get install ibverbs-providers");
            }
        }
        final String version = files.linkName(verbs.get()).map(name -> name.replace("libibverbs.so.", ""))
            .orElse("version not shown");
        final String devices = String.join(", ", machine.topology().rdmaDevices().stream().map(LibraryChecks::provider)
            .distinct().toList());
        return Finding.ok("libibverbs " + version + ", " + providers.size() + " providers"
            + (devices.isEmpty() ? "" : ", among them " + devices));
    }

    private static Finding environment(final Examined machine) {
        final Map<String, String> variables = machine.files().environment("self");
        if (variables.isEmpty()) {
            return Finding.unknown("/proc/self/environ shows nothing");
        }
        final List<String> fatal = set(variables, List.of("MLX5_SINGLE_THREADED", "MLX5_FREEZE_ON_ERROR_CQE"));
        final List<String> slow = set(variables, List.of("MLX5_SHUT_UP_BF", "RDMAV_FORK_SAFE", "IBV_FORK_SAFE",
            "RDMAV_HUGEPAGES_SAFE"));
        return !fatal.isEmpty() ? Finding.bad(String.join(", ", fatal), "unset " + String.join(" ", fatal)
                + "   # ringpoll has several threads")
            : !slow.isEmpty() ? Finding.warning(String.join(", ", slow), "unset " + String.join(" ", slow))
            : Finding.ok("none that slows calls down");
    }

    private static List<String> set(final Map<String, String> variables, final List<String> names) {
        return names.stream().filter(name -> !"0".equals(variables.getOrDefault(name, "0"))).toList();
    }

    /** The name of the provider is derived from the kernel driver's: mlx5 from mlx5_core, rxe from rdma_rxe. */
    private static String provider(final RdmaDevice device) {
        return device.driver().replaceAll("^rdma_|_core$|_en$|_ib$", "");
    }
}
