package io.ringpoll.bench.micro;

/** Arguments of the JVMs that JMH forks, after the flags of the JVM that forks. They are part of each benchmark. */
final class ForkOptions {
    static final int FORKS = 3;
    static final String HEAP = "-Xms256m";
    static final String MAX_HEAP = "-Xmx256m";
    static final String PRE_TOUCH = "-XX:+AlwaysPreTouch";

    private ForkOptions() {
    }
}
