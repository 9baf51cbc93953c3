package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class CompletionPathTest {
    @Test
    void shouldGiveTheSamePathAsAnObjectAndAsABit() {
        for (int status = 0; status < WcStatus.COUNT; status++) {
            for (int opcode = 0; opcode <= 2 * WcOpcode.RECV; opcode++) {
                final long word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putInt(status).putInt(opcode)
                    .getLong(0);
                final CompletionPath path = CompletionPath.of(word);
                assertEquals(1 << path.ordinal(), CompletionPath.bit(word), status + ", " + opcode + ": " + path);
            }
        }
    }
}
