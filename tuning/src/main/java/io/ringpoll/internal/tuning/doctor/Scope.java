package io.ringpoll.internal.tuning.doctor;

/** Who can change a setting. */
public enum Scope {
    /** Whoever starts the JVM: its options, its environment, the libraries beside it. */
    COMMAND,
    /** Whoever starts the process's container or service: limits, CPUs, device files. */
    PROCESS,
    /** The administrator of the machine: the kernel, its devices and daemons. */
    MACHINE
}
