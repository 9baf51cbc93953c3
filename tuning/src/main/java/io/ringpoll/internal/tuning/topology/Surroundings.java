package io.ringpoll.internal.tuning.topology;

import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The surroundings of a process: a login session, a systemd service or a container, which decide about its limits.
 *
 * @param kind     the kind
 * @param evidence the file or variable that shows it; empty for a login session
 */
public record Surroundings(Kind kind, String evidence) {
    /** The kinds of surroundings. */
    public enum Kind {
        /** No service and no container is seen. */
        SESSION("a session"),
        /** A service of systemd. */
        SERVICE("a systemd service"),
        /** A container of Docker or containerd. */
        DOCKER("a Docker container"),
        /** A container of Podman, with the options of Docker. */
        PODMAN("a Podman container"),
        /** A container of a pod. */
        KUBERNETES("a Kubernetes pod"),
        /** A container of systemd-nspawn. */
        NSPAWN("a systemd-nspawn container"),
        /** Another container, for instance LXC. */
        CONTAINER("a container");

        private final String text;

        Kind(final String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }

        /**
         * Whether the machine's settings belong to somebody outside.
         *
         * @return false for a session and for a service
         */
        public boolean isContainer() {
            return this != SESSION && this != SERVICE;
        }
    }

    private static final Surroundings NOTHING = new Surroundings(Kind.SESSION, "");

    /**
     * Recognises the surroundings of this process.
     *
     * @param files the machine's files
     * @return the surroundings
     */
    public static Surroundings read(final MachineFiles files) {
        return kubernetes(files).or(() -> declared(files)).or(() -> marked(files)).or(() -> grouped(files))
            .or(() -> service(files)).orElse(NOTHING);
    }

    private static Optional<Surroundings> kubernetes(final MachineFiles files) {
        return files.environment("self").containsKey("KUBERNETES_SERVICE_HOST")
            ? Optional.of(new Surroundings(Kind.KUBERNETES, "KUBERNETES_SERVICE_HOST")) : Optional.empty();
    }

    /** Container managers declare themselves to the first process, and systemd there to all others. */
    private static Optional<Surroundings> declared(final MachineFiles files) {
        final Optional<String> own = files.text("run/systemd/container");
        return own.or(() -> variable(files.environment("1"))).or(() -> variable(files.environment("self")))
            .map(name -> new Surroundings(named(name), own.isPresent() ? "/run/systemd/container" : "container=" + name));
    }

    private static Kind named(final String manager) {
        return switch (manager) {
            case "docker" -> Kind.DOCKER;
            case "podman" -> Kind.PODMAN;
            case "systemd-nspawn" -> Kind.NSPAWN;
            default -> Kind.CONTAINER;
        };
    }

    private static Optional<String> variable(final Map<String, String> environment) {
        return Optional.ofNullable(environment.get("container")).filter(name -> !name.isEmpty());
    }

    private static Optional<Surroundings> marked(final MachineFiles files) {
        return Stream.of("run/.containerenv", ".dockerenv", "run/.dockerenv").filter(files::exists).findFirst()
            .map(path -> new Surroundings(path.endsWith("containerenv") ? Kind.PODMAN : Kind.DOCKER, "/" + path));
    }

    private static Optional<Surroundings> grouped(final MachineFiles files) {
        return Stream.of("proc/self/cgroup", "proc/1/cgroup").flatMap(path -> files.text(path).stream().flatMap(String::lines)
            .map(line -> new Surroundings(kind(line), "/" + path))).filter(found -> found.kind().isContainer()).findFirst();
    }

    private static Kind kind(final String group) {
        return group.contains("kubepods") ? Kind.KUBERNETES : group.contains("libpod") ? Kind.PODMAN
            : group.contains("docker") || group.contains("containerd") ? Kind.DOCKER
            : group.contains("systemd-nspawn") ? Kind.NSPAWN : group.contains("/lxc") ? Kind.CONTAINER : Kind.SESSION;
    }

    /** A service of the system, not one of a user's session manager. */
    private static Optional<Surroundings> service(final MachineFiles files) {
        return files.text("proc/self/cgroup").stream().flatMap(String::lines)
            .filter(line -> line.startsWith("0::") || line.contains(":name=systemd:"))
            .map(line -> line.substring(line.lastIndexOf(':') + 1))
            .filter(path -> path.startsWith("/system.slice/") && path.endsWith(".service"))
            .map(path -> new Surroundings(Kind.SERVICE, path.substring(path.lastIndexOf('/') + 1))).findFirst();
    }
}
