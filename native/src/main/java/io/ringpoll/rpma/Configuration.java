package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.lifecycle.NativeResource;

/** A C struct of settings, which librpma's functions write and read one by one. Used by one thread at a time. */
abstract class Configuration extends NativeResource {
    /** A function that writes a number. */
    @FunctionalInterface
    interface NumberSetter {
        int set(long config, int value);
    }

    /** A function that writes an address. */
    @FunctionalInterface
    interface AddressSetter {
        int set(long config, long value);
    }

    /** A function that writes a switch. */
    @FunctionalInterface
    interface SwitchSetter {
        int set(long config, boolean value);
    }

    /** A function that reads a setting into the memory at an address. */
    @FunctionalInterface
    interface Getter {
        int get(long config, long result);
    }

    /** A function that deletes the struct that the pointer at an address points to. */
    @FunctionalInterface
    interface Deletion {
        int delete(long pointer);
    }

    Configuration(final String name, final long address) {
        super(name, address);
    }

    final void setNumber(final String function, final NumberSetter setter, final int value) {
        final long config = enter();
        try {
            RpmaException.check(function, setter.set(config, value));
        } finally {
            exit();
        }
    }

    final void setAddress(final String function, final AddressSetter setter, final long value) {
        final long config = enter();
        try {
            RpmaException.check(function, setter.set(config, value));
        } finally {
            exit();
        }
    }

    final void setSwitch(final String function, final SwitchSetter setter, final boolean value) {
        final long config = enter();
        try {
            RpmaException.check(function, setter.set(config, value));
        } finally {
            exit();
        }
    }

    /** Reads a setting; the caller takes it from the returned scratch memory, at offset 0. */
    final CallState get(final String function, final Getter getter) {
        final long config = enter();
        try {
            final CallState state = CallState.current();
            RpmaException.check(function, getter.get(config, state.scratch()));
            return state;
        } finally {
            exit();
        }
    }

    static void delete(final String function, final Deletion deletion, final long address) {
        final CallState state = CallState.current();
        final long pointer = state.scratch();
        state.longAt(0, address);
        RpmaException.check(function, deletion.delete(pointer));
    }

    /** Checks the size of a queue, which C would take as unsigned. */
    static int checkEntries(final String queue, final int entries) {
        if (entries < 0) {
            throw new IllegalArgumentException("the " + queue + " cannot have " + entries + " entries");
        }
        return entries;
    }

    /** Enters a configuration for a call that copies it; null means the defaults and returns 0. */
    static long enter(final Configuration config) {
        return config == null ? 0 : config.enter();
    }

    /** Leaves a configuration after {@link #enter(Configuration)}. */
    static void exit(final Configuration config) {
        if (config != null) {
            config.exit();
        }
    }
}
