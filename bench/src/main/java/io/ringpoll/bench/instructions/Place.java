package io.ringpoll.bench.instructions;

import java.util.Locale;

/** The part of the program to which an instruction belongs. */
enum Place {
    /** Compiled Java methods. */
    JAVA,
    /** The JVM between Java and C: stubs of downcalls, the interpreter, and the JVM's own code. */
    JVM,
    /** The code of the C baseline. */
    BASELINE,
    /** librpma. */
    LIBRPMA,
    /** The loopback device: its libraries have the names of rdma-core's. */
    DEVICE,
    /** Other libraries, for instance the C library. */
    OTHER;

    /** Its name in tables. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** By the mapped file of the instruction. */
    static Place ofFile(final String path) {
        final String file = path.substring(path.lastIndexOf('/') + 1);
        if (file.startsWith("libringpoll_baseline")) {
            return BASELINE;
        }
        if (file.startsWith("librpma")) {
            return LIBRPMA;
        }
        if (file.startsWith("libibverbs") || file.startsWith("librdmacm")) {
            return DEVICE;
        }
        return file.startsWith("libjvm") ? JVM : OTHER;
    }

    /** By the name of code in the JVM's code cache: that of a compiled method contains its class. */
    static Place ofCompiledCode(final String name) {
        return name.indexOf('.') > 0 || name.contains("::") ? JAVA : JVM;
    }
}
