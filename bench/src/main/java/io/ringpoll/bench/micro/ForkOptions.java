package io.ringpoll.bench.micro;

/** Arguments of the JVMs that JMH forks, after the flags of the JVM that forks. They are part of each benchmark. */
final class ForkOptions {
    static final int FORKS = 3;
    static final String HEAP = "-Xms256m";
    static final String MAX_HEAP = "-Xmx256m";
    static final String PRE_TOUCH = "-XX:+AlwaysPreTouch";

    /** Agrona's, for all: as its users switch them off in production. */
    static final String NO_BOUNDS_CHECKS = "-Dagrona.disable.bounds.checks=true";

    private ForkOptions() {
    }
}
