package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.datastream.impl.DataStreamRequestFilePositionCount;
import org.apache.ratis.io.FilePositionCount;
import org.apache.ratis.proto.RaftProtos.DataStreamPacketHeaderProto.Type;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.DataStreamRequestHeader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Parts of files that are longer than the positions of an int: the file has a hole, and only the last packet is read. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class LongFilePartTest {
    private static final int PACKET_BYTES = 1 << 30;
    private static final int PACKETS = 4;
    private static final long FIRST = 5;
    private static final byte[] END = {1, 2, 3};

    @TempDir
    private Path folder;

    @Test
    void shouldSendTheBytesAtTheirPositionInTheFile() throws IOException {
        final long length = (long) PACKETS * PACKET_BYTES + END.length;
        final Path file = folder.resolve("long");
        try (FileChannel channel = FileChannel.open(
            file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SPARSE)) {
            channel.write(ByteBuffer.wrap(END), FIRST + length - END.length);
        }
        final DataStreamRequestHeader header =
            new DataStreamRequestHeader(ClientId.randomId(), Type.STREAM_DATA, 1, 0, length, List.of());
        final List<Integer> lengths = new ArrayList<>();
        final List<byte[]> ends = new ArrayList<>();
        RdmaDataStreamClientRpc.sendPackets(new DataStreamRequestFilePositionCount(header,
            FilePositionCount.valueOf(file.toFile(), FIRST, length)), PACKET_BYTES, packet -> {
                lengths.add(packet.dataBytes());
                if (packet.dataBytes() == END.length) {
                    ends.add(Arrays.copyOf(packet.toByteArray(), END.length));
                }
                return new CompletableFuture<>();
            });
        assertEquals(List.of(PACKET_BYTES, PACKET_BYTES, PACKET_BYTES, PACKET_BYTES, END.length), lengths);
        assertArrayEquals(END, ends.getFirst());
    }
}
