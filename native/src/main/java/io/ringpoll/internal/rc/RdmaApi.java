package io.ringpoll.internal.rc;

import io.ringpoll.device.Device;
import java.util.Locale;

/**
 * The binding that makes connections. A process that uses only one has one target for each call of a connection, and two
 * otherwise.
 */
public enum RdmaApi {
    /** librpma: {@code io.ringpoll.rpma}. */
    RPMA,
    /** librdmacm and libibverbs: {@code io.ringpoll.verbs}. */
    VERBS;

    /**
     * Opens the device of a local address.
     *
     * @param host a local address, or a name of one
     * @return to be closed
     * @throws io.ringpoll.completion.RdmaException if it cannot be opened
     */
    public RcPeer ofLocal(final String host) {
        return this == RPMA ? RpmaPeer.ofLocal(host) : VerbsPeer.ofLocal(host);
    }

    /**
     * Opens the device from which an address can be reached.
     *
     * @param host an address of the other side, or a name of one
     * @return to be closed
     * @throws io.ringpoll.completion.RdmaException if it cannot be opened
     */
    public RcPeer ofRemote(final String host) {
        return this == RPMA ? RpmaPeer.ofRemote(host) : VerbsPeer.ofRemote(host);
    }

    /**
     * Describes the device of this process and the library of the connections, in one line.
     *
     * @return with the version of librpma if it makes them
     */
    public String deviceLine() {
        return this == RPMA ? Device.current().description() : Device.current().selection() + "; " + this;
    }

    /**
     * The addition to the names of measurements.
     *
     * @return empty for librpma
     */
    public String pathSuffix() {
        return this == RPMA ? "" : "/" + this;
    }

    /** The word of options and keys. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
