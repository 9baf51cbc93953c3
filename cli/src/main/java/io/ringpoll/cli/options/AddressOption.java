package io.ringpoll.cli.options;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceAddress;
import io.ringpoll.device.DeviceKind;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The address at which a command listens and connects: the given one, or that of the device. */
public final class AddressOption {
    private static final int MAX_PORT = (1 << 16) - 1;
    /** A name, or an address with its zone. */
    public static final String HOST = "[\\p{Alnum}:_][\\p{Alnum}.:%_-]*";
    private static final String BRACKETS = "\\[.*](:.*)?";

    private final int defaultPort;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
        names = "--address", paramLabel = "HOST[:PORT]",
        description = "Address of the server (default: the address of the first active port of the device).")
    private String text;

    private String found;

    /**
     * An address with a port.
     *
     * @param defaultPort the default port
     */
    public AddressOption(final int defaultPort) {
        this.defaultPort = defaultPort;
    }

    /**
     * Rejects an invalid address.
     *
     * @throws ParameterException in one line
     */
    public void check() {
        if (text != null) {
            require(text.chars().noneMatch(Character::isISOControl), "--address '" + text + "' holds a control character");
            require(!given().isEmpty(), "--address '" + text + "' has no host: use HOST or HOST:PORT");
            require(given().matches(HOST), "--address: '" + given() + "' is neither a name of a host nor an IP address");
            port();
        }
    }

    /**
     * The host: the given one, or that of the device. The first call loads the libraries of the device if no host was given.
     *
     * @param progress receives a line with the RDMA device, its port and its address, if the address is that of the device
     * @return a name or an address
     * @throws io.ringpoll.device.DeviceException if the device has no address
     */
    public String host(final PrintWriter progress) {
        if (found == null) {
            found = text == null ? ofDevice(progress) : given();
        }
        return found;
    }

    /**
     * The port.
     *
     * @return the given port, or the default
     */
    public int port() {
        if (!hasPort()) {
            return defaultPort;
        }
        final String port = text.substring(text.lastIndexOf(':') + 1);
        try {
            final int number = Integer.parseInt(port);
            require(number > 0 && number <= MAX_PORT, "--address: '" + port + "' is not a port from 1 to " + MAX_PORT);
            return number;
        } catch (final NumberFormatException notANumber) {
            throw refused("--address: '" + port + "' is not a port from 1 to " + MAX_PORT);
        }
    }

    /**
     * Whether an address was given.
     *
     * @return false if it is that of the device
     */
    public boolean isGiven() {
        return text != null;
    }

    /**
     * Whether a port was given.
     *
     * @return false if {@link #port()} is the default
     */
    public boolean hasPort() {
        return text != null && (text.matches(BRACKETS) ? !text.endsWith("]") :
            text.indexOf(':') >= 0 && text.indexOf(':') == text.lastIndexOf(':'));
    }

    /**
     * The address of the device. The first call loads its libraries.
     *
     * @param progress receives a line with the RDMA device, its port and its address
     * @return an IP address
     * @throws io.ringpoll.device.DeviceException if the device has no address
     */
    public static String ofDevice(final PrintWriter progress) {
        final DeviceAddress address = Device.current().address();
        if (Device.current().kind() == DeviceKind.RDMA) {
            progress.println(address.description());
            progress.flush();
        }
        return address.host();
    }

    /** Without the port; an IPv6 address has brackets only if a port follows. */
    private String given() {
        final String host = hasPort() ? text.substring(0, text.lastIndexOf(':')) : text;
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }

    private void require(final boolean holds, final String otherwise) {
        Execution.require(command, holds, otherwise);
    }

    private ParameterException refused(final String message) {
        return new ParameterException(command.commandLine(), message);
    }
}
