package io.ringpoll.verify.fuzz;

import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.PeerConfig;
import io.ringpoll.rpma.RpmaException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** Input from peers and users to the binding, through the real librpma over the loopback device. Stateless. */
final class DeviceTargets {
    private static final int MAX_REQUEST_DATA = 56;
    /** The length of private data is one byte. */
    private static final int LONGEST_LENGTH = 255;

    private DeviceTargets() {
    }

    static List<FuzzTarget> on(final LiveConnection live) {
        return List.of(
            new DescriptorTarget(live), peerConfig(), privateData(live),
            text("address", DeviceTargets::openAt, "127.0.0.1", "::1", "0.0.0.0", "127.1"),
            text("port", text -> live.peer().listen(LiveConnection.ADDRESS, text).close(), "7502", "0", "65535"));
    }

    /** Rejected by the binding, for a control character or an address without a device, or by librpma. */
    private static FuzzTarget text(final String name, final Consumer<String> reader, final String... examples) {
        return ReaderTarget.ofText(name, IllegalArgumentException.class, text -> {
            try {
                reader.accept(text);
            } catch (final RpmaException | IllegalStateException refused) {
                throw new IllegalArgumentException(refused.getMessage(), refused);
            }
        }, examples);
    }

    /** Host names are excluded: they would be resolved in the network. */
    private static void openAt(final String address) {
        if (address.chars().noneMatch(Character::isLetter)) {
            Peer.ofLocal(address).close();
        }
    }

    private static FuzzTarget peerConfig() {
        final byte[] example;
        try (PeerConfig config = PeerConfig.create().directWriteToPmem(true)) {
            example = config.descriptor();
        }
        return ReaderTarget.ofBytes("peer-descriptor", RpmaException.class, input -> {
            try (PeerConfig config = PeerConfig.ofDescriptor(input)) {
                config.directWriteToPmem();
                config.descriptor();
            }
        }, example);
    }

    private static FuzzTarget privateData(final LiveConnection live) {
        return ReaderTarget.ofBytes("private-data", RpmaException.class, input -> {
            final byte[] arrived;
            try {
                arrived = live.request(input);
            } catch (final IllegalArgumentException tooLong) {
                if (input.length <= LONGEST_LENGTH) {
                    throw tooLong;
                }
                return;
            }
            final byte[] expected = input.length == 0 ? arrived : Arrays.copyOf(input, Math.max(arrived.length, input.length));
            if (!Arrays.equals(arrived, expected)) {
                throw new AssertionError("the private data arrived changed");
            }
        }, new byte[MAX_REQUEST_DATA], new byte[1]);
    }
}
