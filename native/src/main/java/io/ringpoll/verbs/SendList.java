package io.ringpoll.verbs;

import io.ringpoll.completion.CompletionBudget;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/**
 * Prepared requests to a send queue: {@code struct ibv_send_wr}.
 *
 * <pre>{@code
 * SendList orders = SendList.allocate(16, 1);
 * for (int i = 0; i < 16; i++) {
 *     orders.writeWithImmediate(i, remote, SendFlag.INLINE);     // once
 *     orders.elements(i, region);
 * }
 * orders.element(0, 0, offset, lengthBytes);                     // before each post
 * orders.remoteOffset(0, slot * 64);
 * orders.immediate(0, sequence);
 * int posted = queuePair.postSend(orders, 0, n);
 * }</pre>
 *
 * <p>Used by one thread at a time.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_send.3.html">ibv_post_send(3)</a>
 */
public final class SendList extends PostList {
    /** The {@code enum ibv_wr_opcode}. */
    static final int RDMA_WRITE = 0;
    static final int RDMA_WRITE_WITH_IMM = 1;
    static final int SEND = 2;
    static final int SEND_WITH_IMM = 3;
    static final int RDMA_READ = 4;
    static final int ATOMIC_CMP_AND_SWP = 5;
    static final int ATOMIC_FETCH_AND_ADD = 6;

    /** {@link SendFlag#SIGNALED}, without its object. */
    static final int SIGNALED = SendFlag.SIGNALED.value();

    private static final int NOT_PREPARED = -1;
    /** Instead of the room of an atomic whose address is not a multiple of 8. */
    private static final long UNALIGNED = -1;
    /** Instead of the room of an atomic whose remote memory has fewer than 8 bytes, whatever its elements are. */
    private static final long TOO_SHORT = -2;

    private final int[] flags;
    private final int[] opcodes;
    /** Null for a message. */
    private final RemoteMemory[] remotes;
    /** Bytes from the begin of a request's remote piece to the end of its remote memory. */
    private final long[] remoteRooms;

    private SendList(final Arena arena, final MemorySegment memory, final int capacity, final int maxElements) {
        super("send list of " + capacity, arena, memory, capacity, maxElements, IbvWr.SEND_SIZE_BYTES);
        flags = new int[capacity];
        opcodes = new int[capacity];
        Arrays.fill(flags, NOT_PREPARED);
        remotes = new RemoteMemory[capacity];
        remoteRooms = new long[capacity];
    }

    /**
     * Allocates a list of requests, each of which is to be prepared before it is posted.
     *
     * @param capacity    number of requests, 1 to {@value PostList#MAX_CAPACITY}
     * @param maxElements maximum number of elements of each, 0 to {@value PostList#MAX_ELEMENTS}
     * @return to be closed; the queue pairs that it is posted to need not be
     * @throws IllegalArgumentException if a number is out of range
     */
    public static SendList allocate(final int capacity, final int maxElements) {
        return allocate(capacity, maxElements, IbvWr.SEND_SIZE_BYTES,
            (arena, memory) -> new SendList(arena, memory, capacity, maxElements));
    }

    /**
     * Prepares a message, which consumes a receive of the other side.
     *
     * @param index     of the request
     * @param sendFlags the flags
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalStateException     if this is closed, or another thread posts it
     */
    public void send(final int index, final SendFlag... sendFlags) {
        prepare(index, SEND, null, bits(sendFlags));
    }

    /**
     * Prepares a message with 32 bits of data for the receive's completion, see {@link #immediate}.
     *
     * @param index     of the request
     * @param sendFlags the flags
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalStateException     if this is closed, or another thread posts it
     */
    public void sendWithImmediate(final int index, final SendFlag... sendFlags) {
        prepare(index, SEND_WITH_IMM, null, bits(sendFlags));
    }

    /**
     * Prepares a write to memory of the other side, see {@link #remoteOffset}.
     *
     * @param index     of the request
     * @param target    registered with {@link AccessFlag#REMOTE_WRITE}
     * @param sendFlags the flags
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalStateException     if this is closed, or another thread posts it
     */
    public void write(final int index, final RemoteMemory target, final SendFlag... sendFlags) {
        prepare(index, RDMA_WRITE, Objects.requireNonNull(target, "the target is null"), bits(sendFlags));
    }

    /**
     * Prepares a write that also consumes a receive of the other side and completes it with 32 bits of data, see
     * {@link #immediate}.
     *
     * @param index     of the request
     * @param target    registered with {@link AccessFlag#REMOTE_WRITE}
     * @param sendFlags the flags
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalStateException     if this is closed, or another thread posts it
     */
    public void writeWithImmediate(final int index, final RemoteMemory target, final SendFlag... sendFlags) {
        prepare(index, RDMA_WRITE_WITH_IMM, Objects.requireNonNull(target, "the target is null"), bits(sendFlags));
    }

    /**
     * Prepares a read of memory of the other side. The regions of its elements need {@link AccessFlag#LOCAL_WRITE}.
     *
     * @param index     of the request
     * @param source    registered with {@link AccessFlag#REMOTE_READ}
     * @param sendFlags the flags, without {@link SendFlag#INLINE}
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalArgumentException  if it is inline
     * @throws IllegalStateException     if this is closed, or another thread posts it
     */
    public void read(final int index, final RemoteMemory source, final SendFlag... sendFlags) {
        prepare(index, RDMA_READ, Objects.requireNonNull(source, "the source is null"), notInline(sendFlags));
    }

    /**
     * Prepares an atomic addition to 8 bytes of the other side, whose former value goes into the request's element of 8 bytes.
     * The number is set by {@link #operands}, its first operand.
     *
     * @param index     of the request
     * @param target    registered with {@link AccessFlag#REMOTE_ATOMIC}
     * @param sendFlags the flags, without {@link SendFlag#INLINE}
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalArgumentException  if it is inline
     * @throws IllegalStateException     if this is closed, or another thread posts it
     */
    public void fetchAndAdd(final int index, final RemoteMemory target, final SendFlag... sendFlags) {
        prepare(index, ATOMIC_FETCH_AND_ADD, Objects.requireNonNull(target, "the target is null"), notInline(sendFlags));
    }

    /**
     * Prepares an atomic exchange of 8 bytes of the other side if they have an expected value; the former value goes into the
     * request's element of 8 bytes. See {@link #operands}.
     *
     * @param index     of the request
     * @param target    registered with {@link AccessFlag#REMOTE_ATOMIC}
     * @param sendFlags the flags, without {@link SendFlag#INLINE}
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalArgumentException  if it is inline
     * @throws IllegalStateException     if this is closed, or another thread posts it
     */
    public void compareAndSwap(final int index, final RemoteMemory target, final SendFlag... sendFlags) {
        prepare(index, ATOMIC_CMP_AND_SWP, Objects.requireNonNull(target, "the target is null"), notInline(sendFlags));
    }

    private static int bits(final SendFlag... sendFlags) {
        return SendFlag.bits(Objects.requireNonNull(sendFlags, "the send flags are null"));
    }

    private static int notInline(final SendFlag... sendFlags) {
        final int bits = bits(sendFlags);
        if ((bits & SendFlag.INLINE.value()) != 0) {
            throw new IllegalArgumentException("INLINE is for sends and writes: here the device writes into the element");
        }
        return bits;
    }

    private void prepare(final int index, final int opcode, final RemoteMemory remote, final int bits) {
        setInt(index, IbvWr.OPCODE_OFFSET, opcode);
        setInt(index, IbvWr.SEND_FLAGS_OFFSET, bits);
        remotes[index] = remote;
        flags[index] = bits;
        opcodes[index] = opcode;
        if (remote == null) {
            remoteRooms[index] = Long.MAX_VALUE;
        } else {
            remoteRooms[index] = firstRoom(opcode, remote);
            setLong(index, IbvWr.REMOTE_ADDR_OFFSET, remote.address());
            if (isAtomic(opcode)) {
                operands(index, 0, 0);
                setInt(index, IbvWr.ATOMIC_RKEY_OFFSET, remote.key());
            } else {
                setInt(index, IbvWr.RDMA_RKEY_OFFSET, remote.key());
            }
        }
    }

    /**
     * Sets where in the memory of the other side a request begins; 0 after it was prepared. Allocates nothing. The post checks
     * that the request also ends in that memory: its length may be set after this.
     *
     * @param index  of the request
     * @param offset in the request's remote memory, in bytes
     * @throws IndexOutOfBoundsException if there is no such request, or the offset is outside of the memory or, of an atomic, not
     *     followed by 8 bytes of it
     * @throws IllegalArgumentException  if the request is atomic and the address is not a multiple of 8
     * @throws IllegalStateException     if this is closed, another thread posts it, or the request has no remote memory
     */
    public void remoteOffset(final int index, final long offset) {
        Objects.checkIndex(index, capacity());
        final RemoteMemory remote = remotes[index];
        if (remote == null) {
            throw new IllegalStateException("request " + index + " of " + name() + " has no remote memory");
        }
        final long atLeast = isAtomic(opcodes[index]) ? Long.BYTES : 0;
        if (offset < 0 || offset > remote.lengthBytes() - atLeast) {
            throw new IndexOutOfBoundsException("offset " + offset + " of request " + index + " of " + name() +
                " in remote memory of " + remote.lengthBytes() + " bytes");
        }
        if (isUnaligned(opcodes[index], remote.address() + offset)) {
            throw unaligned(index);
        }
        setLong(index, IbvWr.REMOTE_ADDR_OFFSET, remote.address() + offset);
        remoteRooms[index] = remote.lengthBytes() - offset;
    }

    /** The room at offset 0, or the reason for which a post refuses it. */
    private static long firstRoom(final int opcode, final RemoteMemory remote) {
        if (isUnaligned(opcode, remote.address())) {
            return UNALIGNED;
        }
        return isAtomic(opcode) && remote.lengthBytes() < Long.BYTES ? TOO_SHORT : remote.lengthBytes();
    }

    private static boolean isUnaligned(final int opcode, final long address) {
        return isAtomic(opcode) && (address & Long.BYTES - 1) != 0;
    }

    private IllegalArgumentException unaligned(final int index) {
        return new IllegalArgumentException("request " + index + " of " + name() +
            " is atomic: the address of its remote memory must be a multiple of " + Long.BYTES);
    }

    /** Bytes of a request that a queue pair takes, for a post within a hot call. */
    long checkedLength(final int index, final QueuePair queuePair, final ProtectionDomain domain) {
        final int bits = preparedFlags(index);
        final long lengthBytes = lengthOf(index, queuePair.maxSendElements());
        if ((bits & SendFlag.INLINE.value()) == 0) {
            requireDomain(index, domain, queuePair);
        } else if (lengthBytes > queuePair.maxInlineBytes()) {
            throw new IllegalArgumentException("request " + index + " of " + name() + " has " + lengthBytes +
                " inline bytes; " + queuePair.name() + " takes " + queuePair.maxInlineBytes());
        }
        if (lengthBytes > remoteRooms[index]) {
            throw outside(index, lengthBytes);
        }
        return lengthBytes;
    }

    private RuntimeException outside(final int index, final long lengthBytes) {
        final long room = remoteRooms[index];
        if (room == UNALIGNED) {
            return unaligned(index);
        }
        if (room == TOO_SHORT) {
            return new IndexOutOfBoundsException("request " + index + " of " + name() + " is atomic and takes " + Long.BYTES +
                " bytes; its remote memory has " + remotes[index].lengthBytes());
        }
        return new IndexOutOfBoundsException("request " + index + " of " + name() +
            " has " + lengthBytes + " bytes; its remote memory has " + room + " from its offset on");
    }

    /**
     * Sets the 32 bits of a request with immediate data. Allocates nothing.
     *
     * @param index     of the request
     * @param immediate in host byte order
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalStateException     if this is closed, or another thread posts it
     */
    public void immediate(final int index, final int immediate) {
        setInt(index, IbvWr.IMM_DATA_OFFSET, Integer.reverseBytes(immediate));
    }

    /**
     * Sets the numbers of an atomic request. Allocates nothing.
     *
     * @param index        of the request
     * @param compareOrAdd the expected value, or the number to add
     * @param swap         the new value; unused by an addition
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalStateException     if this is closed, another thread posts it, or the request is not atomic
     */
    public void operands(final int index, final long compareOrAdd, final long swap) {
        if (!isAtomic(opcodes[Objects.checkIndex(index, capacity())])) {
            throw new IllegalStateException("request " + index + " of " + name() + " is not atomic");
        }
        setLong(index, IbvWr.ATOMIC_COMPARE_ADD_OFFSET, compareOrAdd);
        setLong(index, IbvWr.ATOMIC_SWAP_OFFSET, swap);
    }

    /**
     * Changes whether a prepared request generates a completion if it succeeds. Allocates nothing.
     *
     * @param index    of the request
     * @param signaled true sets {@link SendFlag#SIGNALED}
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalStateException     if this is closed, another thread posts it, or the request is not prepared
     */
    public void signaled(final int index, final boolean signaled) {
        final int former = preparedFlags(Objects.checkIndex(index, capacity()));
        final int bits = signaled ? former | SendFlag.SIGNALED.value() : former & ~SendFlag.SIGNALED.value();
        setInt(index, IbvWr.SEND_FLAGS_OFFSET, bits);
        flags[index] = bits;
    }

    /** Whether a prepared request generates a completion if it succeeds. */
    boolean isSignalled(final int index, final boolean signalAll) {
        return signalAll || (preparedFlags(index) & SIGNALED) != 0;
    }

    /**
     * Counts checked requests in a budget, for a post within a hot call: those between two signalled ones at once.
     *
     * @return number of requests for which there is room, from the first
     */
    int reserve(
        final CompletionBudget budget, final int first, final int count, final boolean signalAll, final boolean shared) {
        int reserved = 0;
        while (reserved < count) {
            int unsignalled = 0;
            while (reserved + unsignalled < count && !isSignalled(first + reserved + unsignalled, signalAll)) {
                unsignalled++;
            }
            if (unsignalled == 0) {
                if (!budget.reserveSend(true, shared)) {
                    break;
                }
                reserved++;
            } else {
                final int room = budget.reserveUnsignalled(unsignalled, shared);
                reserved += room;
                if (room < unsignalled) {
                    break;
                }
            }
        }
        return reserved;
    }

    private static boolean isAtomic(final int opcode) {
        return opcode == ATOMIC_CMP_AND_SWP || opcode == ATOMIC_FETCH_AND_ADD;
    }

    /** The flags of a request. */
    int preparedFlags(final int index) {
        final int bits = flags[index];
        if (bits == NOT_PREPARED) {
            throw new IllegalStateException(
                "request " + index + " of " + name() + " is not prepared: call send, write or the like");
        }
        return bits;
    }

    @Override
    int call(final int turn, final MemorySegment function, final long queue, final long request, final long bad) {
        return PostFunctions.ibv_post_send(turn, function, queue, request, bad);
    }
}
