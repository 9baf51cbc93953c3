package io.ringpoll.rpma;

/** A C struct of settings, which are written and read one by one. Used by one thread at a time. */
abstract class Configuration extends RpmaObject {
    /** A function that writes a number. */
    @FunctionalInterface
    interface NumberSetter {
        int set(long config, int value);
    }

    /** A function that writes a switch. */
    @FunctionalInterface
    interface SwitchSetter {
        int set(long config, boolean value);
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

    final void setSwitch(final String function, final SwitchSetter setter, final boolean value) {
        final long config = enter();
        try {
            RpmaException.check(function, setter.set(config, value));
        } finally {
            exit();
        }
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
