package io.ringpoll.internal.transport;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The addresses from which peers may connect. */
public final class AddressFilter {
    /** All addresses. */
    public static final AddressFilter ANY = new AddressFilter(List.of());

    private final List<Range> ranges;

    private record Range(byte[] address, int prefixBits) {
        private boolean contains(final byte[] other) {
            if (other.length != address.length) {
                return false;
            }
            for (int bit = 0; bit < prefixBits; bit++) {
                final int mask = 0x80 >>> bit % Byte.SIZE;
                if (((address[bit / Byte.SIZE] ^ other[bit / Byte.SIZE]) & mask) != 0) {
                    return false;
                }
            }
            return true;
        }
    }

    private AddressFilter(final List<Range> ranges) {
        this.ranges = ranges;
    }

    /**
     * Parses a list.
     *
     * @param list addresses ({@code 10.0.0.7}, {@code fd00::7}) and prefixes ({@code 10.0.0.0/8}), separated by commas; empty for
     *             all addresses
     * @return the filter
     * @throws IllegalArgumentException if an entry is neither
     */
    public static AddressFilter of(final String list) {
        final List<Range> ranges = new ArrayList<>();
        for (final String entry : list.split(",", -1)) {
            if (!entry.isBlank()) {
                ranges.add(range(entry.strip()));
            } else if (!list.isBlank()) {
                throw new IllegalArgumentException("an empty entry in '" + list + "'");
            }
        }
        return ranges.isEmpty() ? ANY : new AddressFilter(List.copyOf(ranges));
    }

    private static Range range(final String entry) {
        final int slash = entry.indexOf('/');
        final String address = slash < 0 ? entry : entry.substring(0, slash);
        // No host names: their addresses may change. No short forms: 10.1 is 10.0.0.1.
        if (!address.matches("[0-9]{1,3}([.][0-9]{1,3}){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")) {
            throw new IllegalArgumentException("'" + entry + "' is neither an IP address nor a prefix");
        }
        try {
            final byte[] bytes = InetAddress.getByName(address).getAddress();
            final int most = bytes.length * Byte.SIZE;
            final int prefix = slash < 0 ? most : Integer.parseInt(entry.substring(slash + 1));
            if (prefix < 0 || prefix > most) {
                throw new IllegalArgumentException("'" + entry + "': the prefix has 0 to " + most + " bits");
            }
            return new Range(bytes, prefix);
        } catch (final UnknownHostException | NumberFormatException e) {
            throw new IllegalArgumentException("'" + entry + "' is neither an IP address nor a prefix", e);
        }
    }

    /** Whether a peer may connect; an unknown address is allowed only if all are. */
    boolean allows(final Optional<InetAddress> address) {
        return ranges.isEmpty() ||
            address.isPresent() && ranges.stream().anyMatch(range -> range.contains(address.get().getAddress()));
    }
}
