package io.ringpoll.bench.micro;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.verbs.RecordAddress;
import java.util.concurrent.TimeUnit;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Reading a completion: through the flyweight, in place, and as the baseline from a heap object with a copy of the needed fields,
 * with the cost of the copy and without.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = ForkOptions.FORKS, jvmArgsAppend = {ForkOptions.HEAP, ForkOptions.MAX_HEAP, ForkOptions.PRE_TOUCH})
public class FlyweightBenchmark {
    private static final int RECORDS = 1024;
    private static final int CACHE_LINE_BYTES = 64;
    private static final int ERROR_EVERY = 128;

    /** The fields that are read. */
    @Param({"WORK_REQUEST_ID", "STATUS", "OPCODE", "VENDOR_ERROR", "LENGTH", "QUEUE_PAIR", "SOURCE_QUEUE_PAIR", "FLAGS", "PATH"})
    public Reading reading;

    private final UnsafeBuffer records =
        new UnsafeBuffer(BufferUtil.allocateDirectAligned(RECORDS * IbvWc.SIZE_BYTES, CACHE_LINE_BYTES));
    private final WorkCompletion flyweight = new WorkCompletion();
    private final CompletionRecord[] objects = new CompletionRecord[RECORDS];

    /** The fields that are read of each completion. */
    public enum Reading {
        /** {@code wr_id}. */
        WORK_REQUEST_ID(true),
        /** {@code status}. */
        STATUS(true),
        /** {@code opcode}. */
        OPCODE(false),
        /** {@code vendor_err}. */
        VENDOR_ERROR(true),
        /** {@code byte_len}. */
        LENGTH(false),
        /** {@code qp_num}. */
        QUEUE_PAIR(true),
        /** {@code src_qp}. */
        SOURCE_QUEUE_PAIR(false),
        /** {@code wc_flags}. */
        FLAGS(false),
        /** The path of the completion. */
        PATH(true);

        private final boolean validOnFailure;

        Reading(final boolean validOnFailure) {
            this.validOnFailure = validOnFailure;
        }
    }

    /** Created by JMH. */
    public FlyweightBenchmark() {
    }

    /** Fills the records with receives, sends and a few errors; without errors for a field that is valid on success only. */
    @Setup
    public void setUp() {
        for (int i = 0; i < RECORDS; i++) {
            final int offset = i * IbvWc.SIZE_BYTES;
            records.putLong(offset + IbvWc.WR_ID_OFFSET, i);
            records.putInt(offset + IbvWc.STATUS_OFFSET,
                reading.validOnFailure && i % ERROR_EVERY == 0 ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS);
            records.putInt(offset + IbvWc.OPCODE_OFFSET, i % 2 == 0 ? WcOpcode.RECV : WcOpcode.SEND);
            objects[i] = new CompletionRecord();
            objects[i].copyFor(reading, records.addressOffset() + offset);
        }
    }

    /**
     * In place, by address, as handlers do.
     *
     * @return a sum, so that no read is eliminated
     */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public long flyweight() {
        final long address = records.addressOffset();
        long sum = 0;
        for (int i = 0; i < RECORDS; i++) {
            sum += read(RecordAddress.show(flyweight, address + i * (long) IbvWc.SIZE_BYTES));
        }
        return sum;
    }

    /**
     * From objects that were filled before.
     *
     * @return a sum
     */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public long heapObject() {
        long sum = 0;
        for (int i = 0; i < RECORDS; i++) {
            sum += read(objects[i]);
        }
        return sum;
    }

    /**
     * From objects that the needed fields are copied to first.
     *
     * @return a sum
     */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public long copiedHeapObject() {
        final long address = records.addressOffset();
        long sum = 0;
        for (int i = 0; i < RECORDS; i++) {
            final CompletionRecord record = objects[i];
            record.copyFor(reading, address + i * (long) IbvWc.SIZE_BYTES);
            sum += read(record);
        }
        return sum;
    }

    private long read(final WorkCompletion completion) {
        return switch (reading) {
            case WORK_REQUEST_ID -> completion.workRequestId();
            case STATUS -> completion.status();
            case OPCODE -> completion.opcode();
            case VENDOR_ERROR -> completion.vendorError();
            case LENGTH -> completion.lengthBytes();
            case QUEUE_PAIR -> completion.queuePairNumber();
            case SOURCE_QUEUE_PAIR -> completion.sourceQueuePairNumber();
            case FLAGS -> completion.flags();
            case PATH -> completion.path().ordinal();
        };
    }

    private long read(final CompletionRecord record) {
        return switch (reading) {
            case WORK_REQUEST_ID -> record.workRequestId;
            case STATUS -> record.status;
            case OPCODE -> record.opcode;
            case VENDOR_ERROR -> record.vendorError;
            case LENGTH -> record.lengthBytes;
            case QUEUE_PAIR -> record.queuePairNumber;
            case SOURCE_QUEUE_PAIR -> record.sourceQueuePairNumber;
            case FLAGS -> record.flags;
            case PATH -> path(record).ordinal();
        };
    }

    private static CompletionPath path(final CompletionRecord record) {
        if (record.status != WcStatus.SUCCESS) {
            return CompletionPath.ERROR;
        }
        return (record.opcode & WcOpcode.RECV) != 0 ? CompletionPath.RECEIVE : CompletionPath.SEND_WRITE;
    }
}
