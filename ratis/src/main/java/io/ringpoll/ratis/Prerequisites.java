package io.ringpoll.ratis;

import io.ringpoll.internal.ffm.JvmFlags;
import org.apache.ratis.metrics.MetricRegistries;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;

/**
 * Checks what this transport and the engine need from the JVM and the class path, before a static initializer fails without it.
 * Thread-safe.
 */
final class Prerequisites {
    private Prerequisites() {
    }

    /**
     * Checks the needs of a client.
     *
     * @throws IllegalStateException if a flag of the JVM is missing; the message names it
     */
    static void requireOfClient() {
        JvmFlags.require(IllegalStateException::new);
        try {
            CodedOutputStream.computeTagSize(1);
        } catch (final LinkageError denied) {
            throw new IllegalStateException("the JVM needs the flag --sun-misc-unsafe-memory-access=allow: the protobuf of " +
                "Apache Ratis uses sun.misc.Unsafe", denied);
        }
    }

    /**
     * Checks the needs of a server.
     *
     * @throws IllegalStateException if a flag of the JVM or an artifact is missing; the message names it
     */
    static void requireOfServer() {
        requireOfClient();
        try {
            MetricRegistries.global();
        } catch (final LinkageError missing) {
            throw new IllegalStateException("the class path needs an artifact with the metrics registry of Apache Ratis: add " +
                "org.apache.ratis:ratis-metrics-default", missing);
        }
    }
}
