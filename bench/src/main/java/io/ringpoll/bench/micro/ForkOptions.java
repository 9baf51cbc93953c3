package io.ringpoll.bench.micro;

/** Arguments of the JVMs that JMH forks, written at each benchmark: a figure can be had again by what stands beside it. */
final class ForkOptions {
    static final int FORKS = 3;
    static final String OPENS = "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED";
    static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";
    /** JCTools asks for its fields' offsets by sun.misc.Unsafe. */
    static final String UNSAFE = "--sun-misc-unsafe-memory-access=allow";
    static final String HEAP = "-Xms256m";
    static final String MAX_HEAP = "-Xmx256m";
    static final String PRE_TOUCH = "-XX:+AlwaysPreTouch";

    private ForkOptions() {
    }
}
