package io.ringpoll.bench.processes;

import io.ringpoll.bench.baseline.CEnd;
import io.ringpoll.bench.baseline.CEnd.Medium;
import io.ringpoll.device.Device;
import java.net.InetAddress;

/** An end in C: messages over a medium, or writes over the device. */
final class CBaselineEnd implements End {
    /** Length of a write. */
    static final int WRITE_BYTES = 1 << 20;
    /** Writes in flight. */
    static final int WRITES_IN_FLIGHT = 4;

    /** Ports of the device are files in the folder of the run: each number is free. */
    private static final int PORT = 7_471;

    private final CEnd end;
    private final boolean isServer;
    private final boolean writes;

    private CBaselineEnd(final CEnd end, final boolean isServer, final boolean writes) {
        this.end = end;
        this.isServer = isServer;
        this.writes = writes;
    }

    /** The server's end. */
    static End listen(final ProcessesSubject subject, final EndSettings settings) {
        final Medium medium = medium(subject);
        final CEnd end = CEnd.listen(medium, address(medium, settings), PORT + subject.ordinal(), settings.yields());
        return new CBaselineEnd(end, true, subject == ProcessesSubject.WRITES);
    }

    /** The client's end; the place is that of the server's. */
    static End connect(final ProcessesSubject subject, final EndSettings settings, final String place) {
        final Medium medium = medium(subject);
        final CEnd end = CEnd.connect(medium, address(medium, settings), Integer.parseInt(place), settings.yields());
        return new CBaselineEnd(end, false, subject == ProcessesSubject.WRITES);
    }

    private static Medium medium(final ProcessesSubject subject) {
        return switch (subject) {
            case SHARED_MEMORY -> Medium.LINES;
            case TCP -> Medium.TCP;
            default -> Medium.DEVICE;
        };
    }

    private static String address(final Medium medium, final EndSettings settings) {
        return switch (medium) {
            case LINES -> settings.folder().resolve("lines").toString();
            case TCP -> InetAddress.getLoopbackAddress().getHostAddress();
            case DEVICE -> Device.current().address().host();
        };
    }

    @Override
    public void accept() {
        end.accept();
    }

    @Override
    public EndFigures run(final long fromNs, final long untilNs) {
        if (isServer) {
            end.answer(untilNs);
            return EndFigures.NONE;
        }
        return writes ? EndFigures.ofTransfers(end.writes(WRITE_BYTES, WRITES_IN_FLIGHT, fromNs, untilNs)) :
            EndFigures.of(end.ping(fromNs, untilNs));
    }

    @Override
    public String place() {
        return Integer.toString(end.port());
    }

    @Override
    public void close() {
        end.close();
    }
}
