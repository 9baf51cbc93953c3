package io.ringpoll.internal.counters;

import org.agrona.BitUtil;
import org.agrona.concurrent.status.CountersReader;

/**
 * Layout of a counters file.
 *
 * <pre>
 *    0  int      version; written last, so a reader that finds it finds the rest
 *    4  int      length of the metadata in bytes
 *    8  long     magic: "ringpoll" in ASCII, as a big-endian number
 *   16  long     process id
 *   24  long     start of the pipeline, milliseconds since the epoch
 *   32  int      length of the values in bytes
 *   36  int      length of the error log in bytes
 *   40  int      length of the pipeline's name in bytes
 *   44  UTF-8    the pipeline's name
 *  256           metadata    by Agrona's {@link CountersReader}
 *                values      by the same
 *                error log   by Agrona's {@code ErrorLogReader}
 * </pre>
 *
 * <p>Numbers are in the machine's byte order.
 */
public final class CountersFileLayout {
    /** The version that this release writes and reads. */
    public static final int VERSION = 1;
    /** "ringpoll" in ASCII. */
    public static final long MAGIC = 0x72696E67_706F6C6CL;
    /** Offset of the version, 4 bytes. */
    public static final int VERSION_OFFSET = 0;
    /** Offset of the metadata's length, 4 bytes. */
    public static final int METADATA_LENGTH_OFFSET = 4;
    /** Offset of the magic number, 8 bytes. */
    public static final int MAGIC_OFFSET = 8;
    /** Offset of the process id, 8 bytes. */
    public static final int PID_OFFSET = 16;
    /** Offset of the start time, 8 bytes. */
    public static final int START_OFFSET = 24;
    /** Offset of the values' length, 4 bytes. */
    public static final int VALUES_LENGTH_OFFSET = 32;
    /** Offset of the error log's length, 4 bytes. */
    public static final int ERROR_LOG_LENGTH_OFFSET = 36;
    /** Offset of the name's length, 4 bytes, with the name behind it. */
    public static final int NAME_OFFSET = 40;
    /** The longest name that is kept, in bytes. */
    public static final int MAX_NAME_LENGTH = 200;
    /** Offset of the metadata, followed by the other parts without gaps. */
    public static final int METADATA_OFFSET = 256;

    /** Maximum number of counters in a file. */
    static final int COUNTERS = 1024;
    static final int VALUES_LENGTH = COUNTERS * CountersReader.COUNTER_LENGTH;
    static final int METADATA_LENGTH = COUNTERS * CountersReader.METADATA_LENGTH;
    static final int ERROR_LOG_LENGTH = 256 * 1024;
    static final int FILE_LENGTH =
        BitUtil.align(METADATA_OFFSET + METADATA_LENGTH + VALUES_LENGTH + ERROR_LOG_LENGTH, 4096);

    private CountersFileLayout() {
    }
}
