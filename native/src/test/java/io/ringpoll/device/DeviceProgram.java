package io.ringpoll.device;

import java.io.PrintStream;

/** Says which device a process has chosen; run in a JVM of its own. */
public final class DeviceProgram {
    private static final PrintStream OUT = System.out;

    private DeviceProgram() {
    }

    /** Chooses the devices that are named, one after the other, with a use after each; names none to use what is chosen. */
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
