package io.ringpoll.internal.tuning.doctor;

/** The owner of a setting, who can change it. */
public enum Scope {
    /** The user that starts the JVM: its options, its environment, its libraries. */
    COMMAND,
    /** The user that starts the process's container or service: limits, CPUs, device files. */
    PROCESS,
    /** The administrator of the machine: the kernel, its devices and daemons. */
    MACHINE
}
