package io.ringpoll.cli.options;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The standard output of a command, with the first write failure: a {@link java.io.PrintWriter} above it drops the exception. Any
 * thread may write.
 */
final class ResultStream extends OutputStream {
    private final OutputStream target;
    private final boolean pipe;
    private IOException failure;

    /** A pipe fails only if its reader has closed it. */
    ResultStream(final OutputStream target, final boolean pipe) {
        this.target = target;
        this.pipe = pipe;
    }

    /** The standard output of this process. */
    static ResultStream ofThisProcess() {
        return new ResultStream(new FileOutputStream(FileDescriptor.out), isPipe());
    }

    @Override
    public void write(final int octet) throws IOException {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public synchronized void write(final byte[] bytes, final int offset, final int length) throws IOException {
        try {
            target.write(bytes, offset, length);
        } catch (final IOException e) {
            keep(e);
            throw e;
        }
    }

    @Override
    public synchronized void flush() throws IOException {
        try {
            target.flush();
        } catch (final IOException e) {
            keep(e);
            throw e;
        }
    }

    /**
     * The reason why the output is incomplete.
     *
     * @return the reason; null if everything was written, or if the reader of a pipe has closed it, as {@code head} does
     */
    synchronized String fault() {
        return failure == null || pipe ? null : failure.getMessage();
    }

    private void keep(final IOException e) {
        if (failure == null) {
            failure = e;
        }
    }

    private static boolean isPipe() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString().startsWith("pipe:");
        } catch (final IOException noProc) {
            return false;
        }
    }
}
