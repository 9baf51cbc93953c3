package io.ringpoll.verbs;

import io.ringpoll.completion.VerbsCompletionQueue;
import java.util.Objects;

/**
 * Attributes of a new queue pair: {@code struct ibv_qp_init_attr}. A setter and its getter have the same name.
 *
 * <p>Used by one thread at a time; copied by the call that gets it.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_qp.3.html">ibv_create_qp(3)</a>
 */
public final class QueuePairAttributes {
    private static final int DEFAULT_REQUESTS = 64;

    private final VerbsCompletionQueue sendQueue;
    private final VerbsCompletionQueue receiveQueue;
    private SharedReceiveQueue sharedReceiveQueue;
    private int maxSendRequests = DEFAULT_REQUESTS;
    private int maxReceiveRequests = DEFAULT_REQUESTS;
    private int maxSendElements = 1;
    private int maxReceiveElements = 1;
    private int maxInlineBytes;
    private boolean signalAll;
    private boolean completionBudget = true;

    private QueuePairAttributes(final VerbsCompletionQueue sendQueue, final VerbsCompletionQueue receiveQueue) {
        this.sendQueue = sendQueue;
        this.receiveQueue = receiveQueue;
    }

    /**
     * Creates attributes of a queue pair whose sends and receives complete in one queue. The defaults: 64 requests in each queue,
     * one element, nothing inline, completions of successful sends by request.
     *
     * @param queue where all requests complete
     * @return new attributes
     */
    public static QueuePairAttributes create(final VerbsCompletionQueue queue) {
        Objects.requireNonNull(queue, "the queue is null");
        return new QueuePairAttributes(queue, queue);
    }

    /**
     * Creates attributes of a queue pair with a completion queue for each direction.
     *
     * @param sendQueue    where requests to the send queue complete
     * @param receiveQueue where receives complete
     * @return new attributes
     */
    public static QueuePairAttributes create(final VerbsCompletionQueue sendQueue, final VerbsCompletionQueue receiveQueue) {
        Objects.requireNonNull(sendQueue, "the send queue (sendQueue) is null");
        Objects.requireNonNull(receiveQueue, "the receive queue (receiveQueue) is null");
        return new QueuePairAttributes(sendQueue, receiveQueue);
    }

    VerbsCompletionQueue sendQueue() {
        return sendQueue;
    }

    VerbsCompletionQueue receiveQueue() {
        return receiveQueue;
    }

    /**
     * Sets the shared receive queue that the queue pair takes its receives from.
     *
     * @param queue of the same protection domain; null for a receive queue of its own
     * @return this
     */
    public QueuePairAttributes sharedReceiveQueue(final SharedReceiveQueue queue) {
        sharedReceiveQueue = queue;
        return this;
    }

    /**
     * The shared receive queue.
     *
     * @return null if the queue pair has a receive queue of its own
     */
    public SharedReceiveQueue sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    /**
     * Sets the depth of the send queue.
     *
     * @param requests at least that many outstanding requests
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public QueuePairAttributes maxSendRequests(final int requests) {
        maxSendRequests = require("send requests", requests);
        return this;
    }

    /**
     * The depth of the send queue.
     *
     * @return as set
     */
    public int maxSendRequests() {
        return maxSendRequests;
    }

    /**
     * Sets the depth of the receive queue.
     *
     * @param requests at least that many outstanding receives
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public QueuePairAttributes maxReceiveRequests(final int requests) {
        maxReceiveRequests = require("receives", requests);
        return this;
    }

    /**
     * The depth of the receive queue.
     *
     * @return as set
     */
    public int maxReceiveRequests() {
        return maxReceiveRequests;
    }

    /**
     * Sets the number of pieces of memory of a request to the send queue.
     *
     * @param elements at least that many
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public QueuePairAttributes maxSendElements(final int elements) {
        maxSendElements = require("send elements", elements);
        return this;
    }

    /**
     * The number of pieces of memory of a request to the send queue.
     *
     * @return as set
     */
    public int maxSendElements() {
        return maxSendElements;
    }

    /**
     * Sets the number of pieces of memory of a receive.
     *
     * @param elements at least that many
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public QueuePairAttributes maxReceiveElements(final int elements) {
        maxReceiveElements = require("receive elements", elements);
        return this;
    }

    /**
     * The number of pieces of memory of a receive.
     *
     * @return as set
     */
    public int maxReceiveElements() {
        return maxReceiveElements;
    }

    /**
     * Sets the longest message that can be posted with {@link SendFlag#INLINE}.
     *
     * @param bytes at least that many
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public QueuePairAttributes maxInlineBytes(final int bytes) {
        maxInlineBytes = require("inline bytes", bytes);
        return this;
    }

    /**
     * The longest inline message.
     *
     * @return in bytes, as set
     */
    public int maxInlineBytes() {
        return maxInlineBytes;
    }

    /**
     * Sets whether all requests to the send queue are signaled ({@code sq_sig_all}).
     *
     * @param all false (the default) leaves it to {@link SendFlag#SIGNALED}
     * @return this
     */
    public QueuePairAttributes signalAll(final boolean all) {
        signalAll = all;
        return this;
    }

    /**
     * Whether all requests to the send queue are signaled.
     *
     * @return as set
     */
    public boolean signalAll() {
        return signalAll;
    }

    /**
     * Sets whether the completion queues get a budget, so that posts are refused before a queue can overrun. A budget is for the
     * completion queues of one queue pair; queue pairs that share a completion queue all switch it off, and their user keeps its
     * depth in mind. A queue pair with a budget shares its queue with no other: the second one is refused. After the close of a
     * queue pair with a budget, poll its queue until it is empty before another one with a budget uses it, whose budget does not
     * count the completions that are left.
     *
     * @param counted true by default
     * @return this
     */
    public QueuePairAttributes completionBudget(final boolean counted) {
        completionBudget = counted;
        return this;
    }

    /**
     * Whether the completion queues get a budget.
     *
     * @return as set
     */
    public boolean completionBudget() {
        return completionBudget;
    }

    private static int require(final String what, final int number) {
        if (number < 0) {
            throw new IllegalArgumentException(number + " " + what + ": the number is 0 or more");
        }
        return number;
    }
}
