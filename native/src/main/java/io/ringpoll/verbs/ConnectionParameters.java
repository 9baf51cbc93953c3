package io.ringpoll.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * Parameters of a connection: {@code struct rdma_conn_param}. A setter and its getter have the same name.
 *
 * <p>Used by one thread at a time; copied by the call that gets it.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/rdma_connect.3.html">rdma_connect(3)</a>
 */
public final class ConnectionParameters {
    /** Retries without end of a message for which the other side has no receive. */
    public static final int RNR_RETRY_UNLIMITED = 7;

    private static final int MAX_PRIVATE_DATA_BYTES = 255;
    private static final int MAX_COUNT = 255;
    private static final int MAX_RETRIES = 7;

    private byte[] privateData = {};
    private int responderResources = 1;
    private int initiatorDepth = 1;
    private int retryCount = MAX_RETRIES;
    private int rnrRetryCount = RNR_RETRY_UNLIMITED;

    private ConnectionParameters() {
    }

    /**
     * Creates parameters with defaults: no private data, one read or atomic at a time in each direction, 7 retries, and waits
     * for the other side's receives without end.
     *
     * @return new parameters
     */
    public static ConnectionParameters create() {
        return new ConnectionParameters();
    }

    /**
     * Sets the private data.
     *
     * @param data at most 255 bytes, of which InfiniBand and RoCE carry 56 with a request and 196 with an acceptance; empty for
     *             none
     * @return this
     * @throws IllegalArgumentException if there is too much
     */
    public ConnectionParameters privateData(final byte[] data) {
        privateData = requirePrivateData(data);
        return this;
    }

    /**
     * The private data.
     *
     * @return a new array; empty for none
     */
    public byte[] privateData() {
        return privateData.clone();
    }

    /**
     * Sets how many reads and atomics of the other side this side's device executes at a time.
     *
     * @param count 0 to 255; 0 permits none
     * @return this
     * @throws IllegalArgumentException if it is out of range
     */
    public ConnectionParameters responderResources(final int count) {
        responderResources = require("responder resources", count, MAX_COUNT);
        return this;
    }

    /**
     * How many reads and atomics of the other side this side's device executes at a time.
     *
     * @return as set
     */
    public int responderResources() {
        return responderResources;
    }

    /**
     * Sets how many reads and atomics of this side are on the way at a time.
     *
     * @param count 0 to 255; 0 permits none
     * @return this
     * @throws IllegalArgumentException if it is out of range
     */
    public ConnectionParameters initiatorDepth(final int count) {
        initiatorDepth = require("initiator depth", count, MAX_COUNT);
        return this;
    }

    /**
     * How many reads and atomics of this side are on the way at a time.
     *
     * @return as set
     */
    public int initiatorDepth() {
        return initiatorDepth;
    }

    /**
     * Sets how often the device repeats a request that is not acknowledged. Only the connecting side sets it.
     *
     * @param retries 0 to 7
     * @return this
     * @throws IllegalArgumentException if it is out of range
     */
    public ConnectionParameters retryCount(final int retries) {
        retryCount = require("retry count", retries, MAX_RETRIES);
        return this;
    }

    /**
     * How often the device repeats a request that is not acknowledged.
     *
     * @return as set
     */
    public int retryCount() {
        return retryCount;
    }

    /**
     * Sets how often the device repeats a message for which the receiver has no receive ("receiver not ready").
     *
     * @param retries 0 to 6, or {@link #RNR_RETRY_UNLIMITED}
     * @return this
     * @throws IllegalArgumentException if it is out of range
     */
    public ConnectionParameters rnrRetryCount(final int retries) {
        rnrRetryCount = require("RNR retry count", retries, MAX_RETRIES);
        return this;
    }

    /**
     * How often the device repeats a message for which the receiver has no receive.
     *
     * @return as set
     */
    public int rnrRetryCount() {
        return rnrRetryCount;
    }

    static byte[] requirePrivateData(final byte[] data) {
        Objects.requireNonNull(data, "the private data are null: an empty array (data) sends none");
        if (data.length > MAX_PRIVATE_DATA_BYTES) {
            throw new IllegalArgumentException(
                "private data of " + data.length + " bytes; at most " + MAX_PRIVATE_DATA_BYTES + " can be sent");
        }
        return data.clone();
    }

    private static int require(final String what, final int value, final int most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(what + ": " + value + " is not within 0 to " + most);
        }
        return value;
    }

    /** Makes the struct. */
    MemorySegment allocate(final Arena arena, final boolean sharedReceives) {
        final MemorySegment struct = arena.allocate(RdmaCm.CONNECTION_PARAMETERS_BYTES, Long.BYTES);
        if (privateData.length > 0) {
            struct.set(ValueLayout.JAVA_LONG, RdmaCm.PRIVATE_DATA_OFFSET,
                arena.allocateFrom(ValueLayout.JAVA_BYTE, privateData).address());
        }
        struct.set(ValueLayout.JAVA_BYTE, RdmaCm.PRIVATE_DATA_LENGTH_OFFSET, (byte) privateData.length);
        struct.set(ValueLayout.JAVA_BYTE, RdmaCm.RESPONDER_RESOURCES_OFFSET, (byte) responderResources);
        struct.set(ValueLayout.JAVA_BYTE, RdmaCm.INITIATOR_DEPTH_OFFSET, (byte) initiatorDepth);
        struct.set(ValueLayout.JAVA_BYTE, RdmaCm.FLOW_CONTROL_OFFSET, (byte) 1);
        struct.set(ValueLayout.JAVA_BYTE, RdmaCm.RETRY_COUNT_OFFSET, (byte) retryCount);
        struct.set(ValueLayout.JAVA_BYTE, RdmaCm.RNR_RETRY_COUNT_OFFSET, (byte) rnrRetryCount);
        struct.set(ValueLayout.JAVA_BYTE, RdmaCm.SRQ_OFFSET, (byte) (sharedReceives ? 1 : 0));
        return struct;
    }
}
