package io.ringpoll.internal.tuning.topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads a process's control groups, version 1, 2 or both, also inside a container.
 *
 * <p>Inside a container, {@code /proc/self/cgroup} can contain the host's path while only a part of the hierarchy is mounted;
 * {@code /proc/self/mountinfo} identifies that part.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/cgroups.7.html">cgroups(7)</a>
 */
final class ControlGroupReader {
    private static final Pattern RELEASE = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})");

    private final MachineFiles files;
    private final CpuSet online;
    private final List<Mount> mounts = new ArrayList<>();
    private final List<String> memberships;

    private record Mount(String root, String point, boolean unified, List<String> controllers) {
    }

    /** A group's folder and the top folder of the visible hierarchy. */
    private record Group(String folder, String top) {
    }

    ControlGroupReader(final MachineFiles files, final CpuSet online) {
        this.files = files;
        this.online = online;
        memberships = files.text("proc/self/cgroup").map(String::lines).map(lines -> lines.toList()).orElse(List.of());
        files.text("proc/self/mountinfo").ifPresent(text -> text.lines().forEach(this::addMount));
    }

    private void addMount(final String line) {
        // 36 35 98:0 /root /mount/point options [tags] - type source superOptions
        final int dash = line.indexOf(" - ");
        final String[] head = line.split(" ");
        if (dash < 0 || head.length < 6) {
            return;
        }
        final String[] tail = line.substring(dash + 3).split(" ");
        final boolean unified = "cgroup2".equals(tail[0]);
        if (unified || "cgroup".equals(tail[0])) {
            final List<String> controllers = tail.length > 2 ? Arrays.asList(tail[2].split(",")) : List.of();
            mounts.add(new Mount(head[3], head[4].substring(1), unified, controllers));
        }
    }

    ControlGroup read() {
        final Optional<Group> unified = unifiedGroup();
        final Optional<Group> cpuV1 = legacyGroup("cpu");
        final Optional<Group> cpusetV1 = legacyGroup("cpuset");
        final Optional<CpuSet> cpuset = cpusetV1.flatMap(this::legacyCpuset).or(() -> unified.flatMap(this::unifiedCpuset));
        final CpuSet isolated = unified.map(this::isolatedPartitions).orElse(CpuSet.EMPTY);
        final boolean partitions = unified.filter(this::hasPartitions).isPresent();
        final CpuSet allowed = cpuset.map(online::and).filter(set -> !set.isEmpty()).orElse(online);
        final int version = cpuV1.isPresent() ? 1 : unified.isPresent() ? 2 : 0;
        if (version == 0) {
            return new ControlGroup(0, allowed, cpuset.isPresent(), OptionalDouble.empty(), OptionalLong.empty(),
                OptionalLong.empty(), isolated, partitions);
        }
        final Group group = version == 1 ? cpuV1.get() : unified.get();
        double tightest = Double.POSITIVE_INFINITY;
        long period = 0;
        for (String folder = group.folder; folder != null; folder = parent(folder, group.top)) {
            final long[] quota = version == 1 ? legacyQuota(folder) : unifiedQuota(folder);
            if (quota != null && (double) quota[0] / quota[1] < tightest) {
                tightest = (double) quota[0] / quota[1];
                period = quota[1];
            }
        }
        final boolean limited = tightest != Double.POSITIVE_INFINITY;
        return new ControlGroup(version, allowed, cpuset.isPresent(),
            limited ? OptionalDouble.of(tightest) : OptionalDouble.empty(),
            limited ? OptionalLong.of(period) : OptionalLong.empty(), throttled(group.folder), isolated, partitions);
    }

    private Optional<Group> unifiedGroup() {
        return memberships.stream().filter(line -> line.startsWith("0::")).map(line -> line.substring(3)).findFirst()
            .flatMap(path -> mounts.stream().filter(Mount::unified).findFirst().map(mount -> group(mount, path)));
    }

    private Optional<Group> legacyGroup(final String controller) {
        for (final String line : memberships) {
            final String[] fields = line.split(":", 3);
            if (fields.length == 3 && Arrays.asList(fields[1].split(",")).contains(controller)) {
                return mounts.stream().filter(mount -> !mount.unified && mount.controllers.contains(controller)).findFirst()
                    .map(mount -> group(mount, fields[2]));
            }
        }
        return Optional.empty();
    }

    private Group group(final Mount mount, final String path) {
        String below = path;
        if (!"/".equals(mount.root) && (path.equals(mount.root) || path.startsWith(mount.root + "/"))) {
            below = path.substring(mount.root.length());
        }
        final String folder = "/".equals(below) || below.isEmpty() ? mount.point : mount.point + below;
        // A path of the host that is not mounted here: the mount point is the container's own group.
        return new Group(files.exists(folder) ? folder : mount.point, mount.point);
    }

    private static String parent(final String folder, final String top) {
        return folder.length() > top.length() ? folder.substring(0, folder.lastIndexOf('/')) : null;
    }

    private Optional<CpuSet> legacyCpuset(final Group group) {
        return files.cpuSet(group.folder + "/cpuset.effective_cpus").filter(set -> !set.isEmpty())
            .or(() -> files.cpuSet(group.folder + "/cpuset.cpus").filter(set -> !set.isEmpty()));
    }

    private Optional<CpuSet> unifiedCpuset(final Group group) {
        // A group without a cpuset controller has no such file: its parent's file applies.
        for (String folder = group.folder; folder != null; folder = parent(folder, group.top)) {
            final Optional<CpuSet> set = files.cpuSet(folder + "/cpuset.cpus.effective").filter(cpus -> !cpus.isEmpty());
            if (set.isPresent()) {
                return set;
            }
        }
        return Optional.empty();
    }

    private CpuSet isolatedPartitions(final Group group) {
        CpuSet isolated = files.cpuSet(group.top + "/cpuset.cpus.isolated").orElse(CpuSet.EMPTY);
        for (String folder = group.folder; folder != null; folder = parent(folder, group.top)) {
            if (files.text(folder + "/cpuset.cpus.partition").filter("isolated"::equals).isPresent()) {
                isolated = isolated.or(files.cpuSet(folder + "/cpuset.cpus.effective").orElse(CpuSet.EMPTY));
            }
        }
        return isolated;
    }

    /** At the top of the whole hierarchy, which alone has no type, with the cpuset controller, as of Linux 6.1. */
    private boolean hasPartitions(final Group group) {
        final Matcher release = RELEASE.matcher(files.text("proc/sys/kernel/osrelease").orElse(""));
        return release.lookingAt() && Integer.parseInt(release.group(1)) * 1000 + Integer.parseInt(release.group(2)) >= 6001
            && !files.exists(group.top + "/cgroup.type") && files.text(group.top + "/cgroup.controllers")
            .filter(controllers -> Arrays.asList(controllers.split(" ")).contains("cpuset")).isPresent();
    }

    private long[] unifiedQuota(final String folder) {
        final String[] fields = files.text(folder + "/cpu.max").orElse("max").split("\\s+");
        if ("max".equals(fields[0])) {
            return null;
        }
        return quota(fields[0], fields.length > 1 ? fields[1] : "100000");
    }

    private long[] legacyQuota(final String folder) {
        final String quota = files.text(folder + "/cpu.cfs_quota_us").orElse("-1");
        return quota(quota, files.text(folder + "/cpu.cfs_period_us").orElse("100000"));
    }

    private static long[] quota(final String quotaUs, final String periodUs) {
        try {
            final long quota = Long.parseLong(quotaUs);
            final long period = Long.parseLong(periodUs);
            return quota > 0 && period > 0 ? new long[] {quota, period} : null;
        } catch (final NumberFormatException e) {
            return null;
        }
    }

    private OptionalLong throttled(final String folder) {
        return files.text(folder + "/cpu.stat").stream().flatMap(String::lines)
            .filter(line -> line.matches("nr_throttled \\d{1,18}"))
            .mapToLong(line -> Long.parseLong(line.substring("nr_throttled ".length()))).findFirst();
    }
}
