package io.ringpoll.device;

import java.io.PrintStream;

/** Prints the selected device of the process; run in a separate JVM. */
public final class DeviceProgram {
    private static final PrintStream OUT = System.out;

    private DeviceProgram() {
    }

    /** Chooses the named devices one after the other, with a use after each; without names, uses the default. */
    public static void main(final String[] arguments) {
        try {
            if (arguments.length == 0) {
                OUT.println(Device.current().description());
            }
            for (final String argument : arguments) {
                Device.choose(DeviceKind.parse(argument));
                OUT.println(Device.current().description());
            }
        } catch (final DeviceException | IllegalStateException e) {
            OUT.println(e.getMessage());
        }
    }
}
