package io.ringpoll.internal.tuning.doctor;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Executes the commands of findings on an expanded tree, with the effects that the kernel and the JVM would add.
 *
 * <p>Scripts of {@code tuning/scripts} run as they are, with the tree as their root.
 */
final class FollowedAdvice {
    private static final Path SCRIPTS = Path.of("scripts").toAbsolutePath();
    private static final String CPU = "sys/devices/system/cpu/";
    private static final Pattern TEE = Pattern.compile("echo (\\S+) \\| sudo tee (\\S.*)");
    private static final Pattern OPTIONS = Pattern.compile("export RINGPOLL_JAVA_OPTS=\"\\$RINGPOLL_JAVA_OPTS (.*)\"");
    private static final Pattern APPEND = Pattern.compile("append (\\S+) to GRUB_CMDLINE_LINUX");
    private static final Pattern SETPCI = Pattern.compile("sudo setpci -s \\S+ CAP_EXP\\+8.w=5000:7000");
    private static final Pattern THREADS = Pattern.compile("for pid in 2 .* taskset -pc (\\S+) .*");
    private static final Pattern BOOT = Pattern.compile("\\b((isolcpus|nohz_full|rcu_nocbs|irqaffinity)=[^ \"']+)");

    private final Path root;
    private final MachineFiles files;
    private final Map<String, String> flags = new TreeMap<>(DoctorCase.GOOD_JVM.flags());
    private final List<String> arguments = new ArrayList<>();
    private final List<String> bootOptions = new ArrayList<>();
    private boolean lockedMemory;

    FollowedAdvice(final Path root, final MachineFiles files) {
        this.root = root;
        this.files = files;
        flags.putAll(Map.of("UseZGC", "false", "UseG1GC", "true", "AlwaysPreTouch", "false", "InitialHeapSize", "4294967296",
            "MaxHeapSize", "34359738368", "PerfDisableSharedMem", "false", "ParallelGCThreads", "43", "ConcGCThreads", "11"));
    }

    /** A JVM with the options so far. */
    Jvm jvm() {
        return new Jvm(25, "25", DoctorCase.GOOD_JVM.name(), true, arguments, flags);
    }

    void follow(final String advice) throws Exception {
        final String command = advice.replaceAll("\\s+# .*", "").replaceAll("^sudo mkdir -p \\S+ && ", "");
        final Matcher append = APPEND.matcher(command);
        final Matcher configuration = SETPCI.matcher(command);
        final Matcher threads = THREADS.matcher(command);
        final Matcher tee = TEE.matcher(command);
        final Matcher options = OPTIONS.matcher(command);
        if (command.startsWith("sudo tuning/scripts/")) {
            run(command.substring("sudo tuning/scripts/".length()).replace("\"$USER\"", "trader"));
        } else if (command.startsWith("sudo sysctl ")) {
            for (final String setting : command.substring("sudo sysctl ".length()).split(" ")) {
                write("proc/sys/" + setting.substring(0, setting.indexOf('=')).replace('.', '/'),
                    setting.substring(setting.indexOf('=') + 1));
            }
        } else if (tee.matches()) {
            for (final String path : tee.group(2).split(" ")) {
                writeEach(path.substring(1), tee.group(1));
            }
        } else if (options.matches()) {
            Arrays.stream(options.group(1).split(" ")).forEach(this::javaOption);
        } else if (command.startsWith("LimitMEMLOCK=infinity in the unit: ")) {
            lockedMemory = true;
        } else if (append.find()) {
            bootOptions.add(append.group(1));
        } else if (configuration.matches()) {
            setReadRequest();
        } else if (threads.matches()) {
            write("proc/2/status", "Cpus_allowed_list:\t" + threads.group(1));
        } else if (command.startsWith("sudo swapoff -a")) {
            write("proc/swaps", "Filename Type Size Used Priority");
        } else if (command.startsWith("sudo ip link set ")) {
            final String[] words = command.split(" ");
            write("sys/class/net/" + words[4] + "/mtu", words[6]);
        } else {
            throw new IllegalArgumentException("nobody can follow: " + advice);
        }
    }

    private void run(final String script) throws IOException, InterruptedException {
        final List<String> words = new ArrayList<>(List.of(script.split(" ")));
        words.set(0, SCRIPTS.resolve(words.getFirst()).toString());
        words.addAll(List.of("--root", root.toString()));
        final Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        final String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(script + ": " + printed);
        }
    }

    private void javaOption(final String option) {
        arguments.add(option);
        if (option.startsWith("-XX:+Use") && option.endsWith("GC")) {
            flags.replaceAll((name, value) -> name.startsWith("Use") && name.endsWith("GC") ? "false" : value);
        }
        if (option.startsWith("-XX:+") || option.startsWith("-XX:-")) {
            flags.put(option.substring(5), Boolean.toString(option.startsWith("-XX:+")));
        } else if (option.startsWith("-XX:ActiveProcessorCount=")) {
            flags.putAll(Map.of("ParallelGCThreads", option.substring(option.indexOf('=') + 1), "ConcGCThreads", "1"));
        } else if (option.startsWith("-Xms") || option.startsWith("-Xmx")) {
            final long gib = Long.parseLong(option.substring(4, option.length() - 1));
            flags.put(option.startsWith("-Xms") ? "InitialHeapSize" : "MaxHeapSize", Long.toString(gib << 30));
        }
    }

    /** Boots with the options that were written for the boot loader, and logs in again. */
    void reboot() throws IOException {
        final Matcher matcher = BOOT.matcher(files.text("etc/default/grub").orElse(""));
        final Map<String, String> options = new TreeMap<>();
        while (matcher.find()) {
            options.put(matcher.group(2), matcher.group(1));
        }
        write("proc/cmdline", "ro " + String.join(" ", options.values()));
        final CpuSet online = files.cpuSet(CPU + "online").orElseThrow();
        final CpuSet isolated = CpuSet.parse(options.get("isolcpus").replaceAll("isolcpus=(\\D+,)*", ""));
        write(CPU + "isolated", isolated.toString());
        write(CPU + "nohz_full", options.get("nohz_full").substring("nohz_full=".length()));
        write("proc/self/status", files.text("proc/self/status").orElseThrow()
            .replaceAll("Cpus_allowed_list:.*", "Cpus_allowed_list:\t" + online.minus(isolated)));
        if (bootOptions.contains("iommu=pt") || bootOptions.contains("iommu.passthrough=1")) {
            write("sys/class/infiniband/mlx5_0/device/iommu_group/type", "identity");
        }
        if (lockedMemory || files.exists("etc/security/limits.d")) {
            write("proc/self/limits", "Max locked memory         unlimited            unlimited            bytes");
        }
    }

    /** The effects of the kernel: an interrupt goes to a CPU of its new affinity, the governor sets the preference. */
    void settle() throws IOException {
        for (final String cpu : files.names(CPU)) {
            final String folder = CPU + cpu + "/cpufreq/";
            if (files.text(folder + "scaling_governor").filter("performance"::equals).isPresent()
                && files.exists(folder + "energy_performance_preference")) {
                write(folder + "energy_performance_preference", "performance");
            }
        }
        for (final String irq : files.names("proc/irq")) {
            final CpuSet allowed = files.cpuSet("proc/irq/" + irq + "/smp_affinity_list").orElse(CpuSet.EMPTY);
            final CpuSet effective = files.cpuSet("proc/irq/" + irq + "/effective_affinity_list").orElse(CpuSet.EMPTY);
            if (!allowed.containsAll(effective)) {
                write("proc/irq/" + irq + "/effective_affinity_list", Integer.toString(allowed.first().orElseThrow()));
            }
        }
    }

    /** The bits 14 to 12 of Device Control, which {@code compose.py} puts at 0x68. */
    private void setReadRequest() throws IOException {
        final Path file = root.resolve("sys/class/infiniband/mlx5_0/device/config");
        final byte[] bytes = Files.readAllBytes(file);
        bytes[0x69] = (byte) (bytes[0x69] & 0x8F | 0x50);
        Files.write(file, bytes);
    }

    /** Writes all files of a path with an asterisk at the end of its last folder. */
    private void writeEach(final String path, final String content) throws IOException {
        final int star = path.indexOf("*/");
        if (star < 0) {
            write(path, content);
            return;
        }
        final String folder = path.substring(0, path.lastIndexOf('/', star));
        for (final String name : files.names(folder)) {
            write(folder + "/" + name + path.substring(star + 1), content);
        }
    }

    private void write(final String path, final String content) throws IOException {
        final Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content + "\n");
    }
}
