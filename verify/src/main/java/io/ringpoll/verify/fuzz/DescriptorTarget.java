package io.ringpoll.verify.fuzz;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.rpma.RpmaException;
import java.util.List;

/**
 * Passes descriptors of remote memory, as a peer might send them, to the binding, and reads and writes the described range: such
 * a request succeeds within the memory of the peer or fails, and never exceeds it.
 */
final class DescriptorTarget implements FuzzTarget {
    private static final int LENGTH_BYTES = 8;

    private final LiveConnection live;
    private final byte[] example;
    private final NextCompletion next = new NextCompletion();

    DescriptorTarget(final LiveConnection live) {
        this.live = live;
        this.example = live.far().descriptor();
    }

    @Override
    public String name() {
        return "memory-descriptor";
    }

    @Override
    public List<byte[]> examples() {
        return List.of(example);
    }

    @Override
    public void read(final byte[] input) throws Refused {
        try (RemoteMemoryRegion region = RemoteMemoryRegion.ofDescriptor(input)) {
            final long end = region.lengthBytes();
            try {
                live.client().write(region, end, live.near(), 0, LENGTH_BYTES, CompletionFlag.ALWAYS, 1);
                throw new AssertionError("a write behind the region's end was not refused");
            } catch (final IndexOutOfBoundsException right) {
                // Reported at the call, for any descriptor.
            }
            if (end >= LENGTH_BYTES) {
                post(region, 0);
                post(region, end - LENGTH_BYTES);
            }
        } catch (final RpmaException refused) {
            throw new Refused(refused);
        }
    }

    private void post(final RemoteMemoryRegion region, final long offset) {
        end(live.client().write(region, offset, live.near(), 0, LENGTH_BYTES, CompletionFlag.ALWAYS, 1));
        end(live.client().read(live.near(), 0, region, offset, LENGTH_BYTES, CompletionFlag.ALWAYS, 1));
    }

    private void end(final boolean accepted) {
        if (!accepted) {
            throw new AssertionError("a work request was refused although nothing was under way");
        }
        final int status = next.await(live.client()).status();
        if (status != WcStatus.SUCCESS) {
            if (status != WcStatus.REM_ACCESS_ERR && status != WcStatus.REM_INV_REQ_ERR) {
                throw new AssertionError("a work request ended with " + WcStatus.name(status));
            }
            live.hangUp();
        }
    }
}
