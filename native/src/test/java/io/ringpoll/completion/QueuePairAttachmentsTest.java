package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class QueuePairAttachmentsTest {
    private final QueuePairAttachments attachments = new QueuePairAttachments();

    @Test
    void shouldHaveTheAttachmentsOfAMapAfterAnyChanges() {
        final Random random = new Random(1);
        final Map<Integer, Object> expected = new HashMap<>();
        for (int i = 0; i < 200_000; i++) {
            // Few numbers, so that removed places are frequent; 0 and negative ones are numbers like others.
            final int number = random.nextInt(1 + i / 100) - 50;
            if (random.nextInt(3) == 0) {
                attachments.remove(number);
                expected.remove(number);
            } else {
                attachments.put(number, i);
                expected.put(number, i);
            }
            final int other = random.nextInt(1 + i / 100) - 50;
            assertEquals(expected.get(other), attachments.get(other));
            assertEquals(expected.size(), attachments.size());
        }
        expected.forEach((number, attachment) -> assertEquals(attachment, attachments.get(number)));
    }

    @Test
    void shouldFindNothingInAnEmptyTable() {
        assertNull(attachments.get(0));
        attachments.remove(7);
        attachments.put(7, "a");
        attachments.remove(7);
        assertNull(attachments.get(7));
        assertNull(attachments.get(0));
        assertEquals(0, attachments.size());
    }

    @Test
    void shouldKeepItsSizeWhileConnectionsComeAndGo() {
        for (int i = 0; i < 1_000_000; i++) {
            attachments.put(i, i);
            attachments.remove(i - 3);
        }
        assertEquals(3, attachments.size());
        assertEquals(64, attachments.capacity());
    }

    @Test
    void shouldFindAnAttachmentWhileOthersComeAndGo() throws InterruptedException {
        final AtomicBoolean ended = new AtomicBoolean();
        final Thread writer = Thread.ofPlatform().start(() -> {
            final Random random = new Random(2);
            for (int i = 0; i < 2_000_000; i++) {
                final int number = 1 + random.nextInt(300);
                if (random.nextBoolean()) {
                    attachments.put(number, number);
                } else {
                    attachments.remove(number);
                }
            }
            ended.set(true);
        });
        attachments.put(-1, "stays");
        long wrong = 0;
        for (int i = 0; !ended.get(); i++) {
            wrong += "stays".equals(attachments.get(-1)) ? 0 : 1;
            final int number = 1 + i % 300;
            final Object found = attachments.get(number);
            wrong += found == null || found.equals(number) ? 0 : 1;
        }
        writer.join();
        assertEquals(0, wrong);
    }
}
