package io.ringpoll.bench.micro;

/** Arguments of the JVMs that JMH forks. They are part of each benchmark, so that its results can be reproduced. */
final class ForkOptions {
    static final int FORKS = 3;
    static final String OPENS = "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED";
    static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";
    /** JCTools gets the offsets of its fields from sun.misc.Unsafe. */
    static final String UNSAFE = "--sun-misc-unsafe-memory-access=allow";
    static final String HEAP = "-Xms256m";
    static final String MAX_HEAP = "-Xmx256m";
    static final String PRE_TOUCH = "-XX:+AlwaysPreTouch";

    private ForkOptions() {
    }
}
