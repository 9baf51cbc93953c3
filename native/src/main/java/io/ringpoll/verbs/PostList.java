package io.ringpoll.verbs;

import io.ringpoll.internal.ffm.Bounds;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.lifecycle.Parents;
import io.ringpoll.internal.os.OwnedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Objects;

/**
 * Prepared work requests in off-heap memory, chained so that one call posts any number of them in a row.
 *
 * <p>A request is prepared once: its kind, its flags, and the memory region of each of its elements. Before each post only what
 * differs is set: the piece of a region, the request's number, and what the kind of request needs. Nothing of this allocates or
 * copies data.
 *
 * <p>Used by one thread at a time, the one that posts it. It may be changed as soon as a post returns. Its regions cannot be
 * closed before it; any thread may close it.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_send.3.html">ibv_post_send(3)</a>
 */
public abstract sealed class PostList extends NativeResource permits SendList, ReceiveList {
    /** Most elements of a request. */
    public static final int MAX_ELEMENTS = 16;

    /** Most requests of a list. */
    public static final int MAX_CAPACITY = 1 << 16;

    /** Longest message that verbs allow. */
    static final long MAX_MESSAGE_BYTES = 1L << 31;
    private static final long ALIGNMENT_BYTES = 64;

    private final Arena arena;
    private final MemorySegment memory;
    private final int capacity;
    private final int maxElements;
    private final int requestBytes;
    private final long firstElement;
    private final long badOffset;
    /** The region of each element; null for none. */
    private final MemoryRegion[] regions;
    /** That of the regions of each request; null if it has none. */
    private final ProtectionDomain[] domains;
    private final RegionUses<MemoryRegion> uses = new RegionUses<>(new IdentityHashMap<>(), this::retain, this::independentOf);
    /** Bytes of each request. */
    private final long[] lengths;
    private final int[] elementCounts;
    private int accepted;
    /**
     * Whether a thread is within a post. Not atomic: it costs nothing, and finds most uses by two threads at a time. A post would
     * cut the chain of the other one, and a change would give the device half of a request.
     */
    private boolean posting;

    PostList(final String name, final Arena arena, final MemorySegment memory, final int capacity, final int maxElements,
        final int requestBytes) {
        super(name, memory.address());
        this.arena = arena;
        this.memory = memory;
        this.capacity = capacity;
        this.maxElements = maxElements;
        this.requestBytes = requestBytes;
        firstElement = (long) capacity * requestBytes;
        badOffset = firstElement + (long) capacity * maxElements * IbvWr.SGE_SIZE_BYTES;
        regions = new MemoryRegion[capacity * maxElements];
        domains = new ProtectionDomain[capacity];
        lengths = new long[capacity];
        elementCounts = new int[capacity];
        for (int index = 0; index < capacity; index++) {
            memory.set(ValueLayout.JAVA_LONG, offset(index) + IbvWr.SG_LIST_OFFSET,
                maxElements == 0 ? 0 : memory.address() + elementOffset(index, 0));
            chain(index);
        }
    }

    /** Makes a list in memory of an arena. */
    @FunctionalInterface
    interface Factory<T> {
        T create(Arena arena, MemorySegment memory);
    }

    /** Makes a list after a check of its size, with the place of the first refused request at the end of its memory. */
    static <T> T allocate(
        final int capacity, final int maxElements, final int requestBytes, final Factory<T> factory) {
        requireSize(capacity, maxElements);
        Loading.require();
        final Arena arena = OwnedMemory.newArena();
        try {
            return factory.create(arena, arena.allocate(
                capacity * (requestBytes + (long) maxElements * IbvWr.SGE_SIZE_BYTES) + Long.BYTES, ALIGNMENT_BYTES));
        } catch (final RuntimeException | Error failure) {
            arena.close();
            throw failure;
        }
    }

    private static void requireSize(final int capacity, final int maxElements) {
        if (capacity < 1 || capacity > MAX_CAPACITY) {
            throw new IllegalArgumentException("a list of " + capacity + " requests: 1 to " + MAX_CAPACITY + " are possible");
        }
        if (maxElements < 0 || maxElements > MAX_ELEMENTS) {
            throw new IllegalArgumentException(
                "requests of " + maxElements + " elements: 0 to " + MAX_ELEMENTS + " are possible");
        }
    }

    /**
     * The number of requests.
     *
     * @return the same at each call
     */
    public final int capacity() {
        return capacity;
    }

    /**
     * The maximum number of elements of a request.
     *
     * @return the same at each call
     */
    public final int maxElements() {
        return maxElements;
    }

    /**
     * Prepares the elements of a request: the pieces of memory that it sends from or receives into, in order. Their lengths are 0
     * until {@link #element} sets them. The list keeps the regions open. They are of the protection domain of the queue that the
     * request is posted to, unless it is inline.
     *
     * @param index  of the request
     * @param memory the region of each element; none for a request without data
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalArgumentException  if there are more than {@link #maxElements()}, or they are of several protection domains
     * @throws IllegalStateException     if this or a region is closed, or another thread posts this
     */
    public final void elements(final int index, final MemoryRegion... memory) {
        Objects.checkIndex(index, capacity);
        Objects.requireNonNull(memory, "the regions (memory) are null");
        if (memory.length > maxElements) {
            throw new IllegalArgumentException(
                memory.length + " elements; a request of " + name() + " has at most " + maxElements);
        }
        Parents.enter(this);
        try {
            requireNoPost();
            final MemoryRegion[] next = memory.clone();
            final ProtectionDomain domain = commonDomain(next);
            uses.replace(regionsOf(index), next);
            domains[index] = domain;
            for (int element = 0; element < next.length; element++) {
                regions[index * maxElements + element] = next[element];
                final long offset = elementOffset(index, element);
                this.memory.set(ValueLayout.JAVA_LONG, offset + IbvWr.SGE_ADDR_OFFSET, next[element].memoryAddress());
                this.memory.set(ValueLayout.JAVA_INT, offset + IbvWr.SGE_LENGTH_OFFSET, 0);
                this.memory.set(ValueLayout.JAVA_INT, offset + IbvWr.SGE_LKEY_OFFSET, next[element].localKey());
            }
            Arrays.fill(regions, index * maxElements + next.length, (index + 1) * maxElements, null);
            elementCounts[index] = next.length;
            lengths[index] = 0;
            this.memory.set(ValueLayout.JAVA_INT, offset(index) + IbvWr.NUM_SGE_OFFSET, next.length);
        } finally {
            Parents.exit(this);
        }
    }

    /** The domain of all regions; null if there are none. */
    private ProtectionDomain commonDomain(final MemoryRegion... all) {
        ProtectionDomain common = null;
        for (final MemoryRegion region : all) {
            Objects.requireNonNull(region, "one of the regions (memory) is null");
            if (common != null && region.domain() != common) {
                throw new IllegalArgumentException(
                    "the regions of a request of " + name() + " are of several protection domains");
            }
            common = region.domain();
        }
        return common;
    }

    private MemoryRegion[] regionsOf(final int index) {
        return Arrays.copyOfRange(regions, index * maxElements, index * maxElements + elementCounts[index]);
    }

    private void retain(final MemoryRegion region) {
        Parents.enter(region);
        try {
            dependsOn(region);
        } finally {
            Parents.exit(region);
        }
    }

    /**
     * Sets the piece of memory of an element. Allocates nothing.
     *
     * @param index       of the request
     * @param element     of the request, as {@link #elements} has prepared it
     * @param offset      of the piece in the element's region, in bytes
     * @param lengthBytes of the piece
     * @throws IndexOutOfBoundsException if there is no such request or element, or the piece is not within the region
     * @throws IllegalArgumentException  if the request's message becomes longer than 2 GiB
     * @throws IllegalStateException     if this is closed, or another thread posts it
     */
    public final void element(final int index, final int element, final long offset, final long lengthBytes) {
        Objects.checkIndex(index, capacity);
        openAddress();
        requireNoPost();
        Objects.checkIndex(element, elementCounts[index]);
        final MemoryRegion region = regions[index * maxElements + element];
        final long address = region.addressFor(offset, lengthBytes);
        final long at = elementOffset(index, element);
        final int former = memory.get(ValueLayout.JAVA_INT, at + IbvWr.SGE_LENGTH_OFFSET);
        final long total = lengths[index] - Integer.toUnsignedLong(former) + lengthBytes;
        requireLength(total);
        memory.set(ValueLayout.JAVA_LONG, at + IbvWr.SGE_ADDR_OFFSET, address);
        memory.set(ValueLayout.JAVA_INT, at + IbvWr.SGE_LENGTH_OFFSET, (int) lengthBytes);
        lengths[index] = total;
    }

    /** Requires a message to have a length that verbs allow. */
    static void requireLength(final long lengthBytes) {
        if (lengthBytes > MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException(
                "a message of " + lengthBytes + " bytes; at most " + MAX_MESSAGE_BYTES + " can be posted");
        }
    }

    /**
     * Sets the number that a request's completion carries. Allocates nothing.
     *
     * @param index         of the request
     * @param workRequestId any
     * @throws IndexOutOfBoundsException if there is no such request
     * @throws IllegalStateException     if this is closed, or another thread posts it
     */
    public final void workRequestId(final int index, final long workRequestId) {
        Objects.checkIndex(index, capacity);
        openAddress();
        requireNoPost();
        memory.set(ValueLayout.JAVA_LONG, offset(index) + IbvWr.WR_ID_OFFSET, workRequestId);
    }

    final void setInt(final int index, final int field, final int value) {
        Objects.checkIndex(index, capacity);
        openAddress();
        requireNoPost();
        memory.set(ValueLayout.JAVA_INT, offset(index) + field, value);
    }

    final void setLong(final int index, final int field, final long value) {
        Objects.checkIndex(index, capacity);
        openAddress();
        requireNoPost();
        memory.set(ValueLayout.JAVA_LONG, offset(index) + field, value);
    }

    private long offset(final int index) {
        return (long) index * requestBytes;
    }

    private long elementOffset(final int index, final int element) {
        return firstElement + ((long) index * maxElements + element) * IbvWr.SGE_SIZE_BYTES;
    }

    /** Lets a request be followed by the next one; the last one by none. */
    private void chain(final int index) {
        memory.set(ValueLayout.JAVA_LONG, offset(index) + IbvWr.NEXT_OFFSET,
            index == capacity - 1 ? 0 : memory.address() + offset(index + 1));
    }

    /** Checks a range of requests and that this is open, for a post within a hot call. */
    final void requireOpen(final int first, final int count) {
        Bounds.checkRange(first, count, capacity);
        openAddress();
    }

    /** Bytes of a request, after a check of the number of its elements. */
    final long lengthOf(final int index, final int mostElements) {
        if (elementCounts[index] > mostElements) {
            throw new IllegalArgumentException("request " + index + " of " + name() + " has " + elementCounts[index] +
                " elements; the queue takes " + mostElements);
        }
        return lengths[index];
    }

    /** Checks that the device finds a request's regions by their keys, for a post within a hot call. */
    final void requireDomain(final int index, final ProtectionDomain queueDomain, final NativeResource queue) {
        final ProtectionDomain domain = domains[index];
        if (domain != queueDomain && domain != null) {
            throw ofAnotherDomain("the memory of request " + index + " of " + name(), queue);
        }
    }

    /** The exception for memory that a queue must not use: its key is unknown in the queue's domain, or that of other memory. */
    static IllegalArgumentException ofAnotherDomain(final String memory, final NativeResource queue) {
        return new IllegalArgumentException(memory + " is of another protection domain than " + queue.name());
    }

    /**
     * Posts requests, within a hot call and after the checks; {@link #accepted()} is then the number of accepted ones.
     *
     * @param turn        of the call
     * @param function    of the queue
     * @param queue       address of the queue
     * @param first       index of the first request
     * @param count       number of requests, at least 1
     * @param lengthBytes that the device may copy within the call
     * @return 0 or an errno value
     */
    final int post(final int turn, final MemorySegment function, final long queue, final int first, final int count,
        final long lengthBytes) {
        requireNoPost();
        posting = true;
        final int last = first + count - 1;
        try {
            memory.set(ValueLayout.JAVA_LONG, offset(last) + IbvWr.NEXT_OFFSET, 0L);
            memory.set(ValueLayout.JAVA_LONG, badOffset, 0L);
            final long begin = memory.address();
            final int errno =
                call(PostFunctions.turn(turn, lengthBytes, count), function, queue, begin + offset(first), begin + badOffset);
            accepted = errno == 0 ? count : acceptedOf(first, last);
            return errno;
        } finally {
            chain(last);
            posting = false;
        }
    }

    private void requireNoPost() {
        if (posting) {
            throw new IllegalStateException(
                name() + " is being posted by another thread: one thread at a time may use a list");
        }
    }

    /** The call of {@link PostFunctions} for requests of this kind. */
    abstract int call(int turn, MemorySegment function, long queue, long request, long bad);

    private int acceptedOf(final int first, final int last) {
        final long bad = memory.get(ValueLayout.JAVA_LONG, badOffset) - memory.address();
        final long refused = bad / requestBytes;
        return bad < 0 || refused < first || refused > last ? 0 : (int) refused - first;
    }

    /** The number of requests that the last post has accepted. */
    final int accepted() {
        return accepted;
    }

    @Override
    protected final boolean usedInHotCalls() {
        return true;
    }

    @Override
    protected final void destroy(final long lastAddress) {
        arena.close();
    }
}
