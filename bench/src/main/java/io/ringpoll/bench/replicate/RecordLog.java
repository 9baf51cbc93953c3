package io.ringpoll.bench.replicate;

import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/**
 * The state machine: applies numbered records, which must arrive in order and once each, and sums them up. Written by the thread
 * of the engine, read by any.
 */
class RecordLog extends BaseStateMachine {
    private final CRC32C sum = new CRC32C();
    private long records;
    private long misplaced;

    /** The state after the records applied so far. */
    record State(long records, long misplaced, long sum) {
    }

    @Override
    public CompletableFuture<Message> applyTransaction(final TransactionContext transaction) {
        final LogEntryProto entry = transaction.getLogEntry();
        final ByteString data = entry.getStateMachineLogEntry().getLogData();
        synchronized (this) {
            if (!isNumbered(data, records)) {
                misplaced++;
            }
            records++;
            data.asReadOnlyByteBufferList().forEach(sum::update);
        }
        updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
        return CompletableFuture.completedFuture(Message.EMPTY);
    }

    /** Writes the number of a record to its start; a record that is too short contains the low bytes only. */
    static void number(final byte[] record, final long number) {
        final int bytes = Math.min(record.length, Long.BYTES);
        for (int i = 0; i < bytes; i++) {
            record[i] = byteOf(number, bytes - 1 - i);
        }
    }

    private static boolean isNumbered(final ByteString record, final long number) {
        final int bytes = Math.min(record.size(), Long.BYTES);
        for (int i = 0; i < bytes; i++) {
            if (record.byteAt(i) != byteOf(number, bytes - 1 - i)) {
                return false;
            }
        }
        return true;
    }

    private static byte byteOf(final long number, final int index) {
        return (byte) (number >>> index * Byte.SIZE);
    }

    synchronized State state() {
        return new State(records, misplaced, sum.getValue());
    }
}
