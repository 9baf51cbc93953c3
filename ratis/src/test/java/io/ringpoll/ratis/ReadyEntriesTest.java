package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.raftlog.RaftLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ReadyEntriesTest {
    @Test
    void shouldHaveNothingToSendAfterAStop() throws Exception {
        final RaftLog log = mock(RaftLog.class);
        when(log.getNextIndex()).thenReturn(1L);
        when(log.get(0)).thenReturn(LogEntryProto.newBuilder().setTerm(1).setIndex(0).build());
        final ReadyEntries ready = new ReadyEntries(log);
        ready.startAfter(null);
        assertTrue(ready.isPending());
        ready.stop();
        assertFalse(ready.isPending());
        assertNull(ready.take(0));
        ready.startAfter(null);
        assertEquals(1, ready.take(0).entries().size());
    }
}
