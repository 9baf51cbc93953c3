package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.CallState;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * Properties of a node for peers that write to its memory: whether a remote write reaches persistent memory directly.
 *
 * <p>Used by one thread at a time.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_peer_cfg_new.3.html">rpma_peer_cfg_new(3)</a>
 */
public final class PeerConfig extends Configuration {
    private PeerConfig(final long address) {
        super("peer configuration", address);
    }

    /**
     * Creates a configuration that claims nothing.
     *
     * @return to be closed
     * @throws RpmaException {@code RPMA_E_NOMEM}
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_peer_cfg_new.3.html">rpma_peer_cfg_new(3)</a>
     */
    public static PeerConfig create() {
        Loading.require();
        final CallState state = CallState.current();
        RpmaException.check("rpma_peer_cfg_new", Librpma.CONFIG.rpma_peer_cfg_new(state.scratch()));
        return new PeerConfig(state.longAt(0));
    }

    /**
     * Creates a configuration from a {@link #descriptor()} of the other side.
     *
     * @param descriptor its bytes; more may follow
     * @return to be closed
     * @throws RpmaException {@code RPMA_E_INVAL} if it is too short, or {@code RPMA_E_NOMEM}
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_peer_cfg_from_descriptor.3.html">
     *     rpma_peer_cfg_from_descriptor(3)</a>
     */
    public static PeerConfig ofDescriptor(final byte[] descriptor) {
        Objects.requireNonNull(descriptor, "the descriptor is null");
        Loading.require();
        final CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            LogSink.clearError();
            RpmaException.check("rpma_peer_cfg_from_descriptor", Librpma.CONFIG.rpma_peer_cfg_from_descriptor(
                arena.allocateFrom(ValueLayout.JAVA_BYTE, descriptor).address(), descriptor.length, state.scratch()));
        }
        return new PeerConfig(state.longAt(0));
    }

    /**
     * Sets whether writes of the device reach persistent memory without a cache in between.
     *
     * @param supported true only if the platform is set up so: otherwise flushed data may be lost
     * @return this
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_peer_cfg_set_direct_write_to_pmem.3.html">
     *     rpma_peer_cfg_set_direct_write_to_pmem(3)</a>
     */
    public PeerConfig directWriteToPmem(final boolean supported) {
        setSwitch("rpma_peer_cfg_set_direct_write_to_pmem", Librpma.CONFIG::rpma_peer_cfg_set_direct_write_to_pmem, supported);
        return this;
    }

    /**
     * Whether the device's writes reach persistent memory without a cache in between.
     *
     * @return true if they do
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_peer_cfg_get_direct_write_to_pmem.3.html">
     *     rpma_peer_cfg_get_direct_write_to_pmem(3)</a>
     */
    public boolean directWriteToPmem() {
        return get("rpma_peer_cfg_get_direct_write_to_pmem", Librpma.CONFIG::rpma_peer_cfg_get_direct_write_to_pmem)
            .byteAt(0) != 0;
    }

    /**
     * The descriptor from which the other side creates the same configuration; usually sent as private data.
     *
     * @return a new array of {@code rpma_peer_cfg_get_descriptor_size} bytes
     * @throws RpmaException as in rpma_peer_cfg_get_descriptor(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_peer_cfg_get_descriptor.3.html">
     *     rpma_peer_cfg_get_descriptor(3)</a>
     */
    public byte[] descriptor() {
        return descriptor("rpma_peer_cfg_get_descriptor_size", Librpma.CONFIG::rpma_peer_cfg_get_descriptor_size,
            "rpma_peer_cfg_get_descriptor", Librpma.CONFIG::rpma_peer_cfg_get_descriptor);
    }

    /** Enters the configuration for a connection that takes it over. */
    long enterForApply() {
        return enter();
    }

    /** Leaves the configuration. */
    void exitFromApply() {
        exit();
    }

    @Override
    protected void destroy(final long lastAddress) {
        RpmaException.check("rpma_peer_cfg_delete", delete(Librpma.CONFIG::rpma_peer_cfg_delete, lastAddress));
    }
}
