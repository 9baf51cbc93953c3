package io.ringpoll.verbs;

/**
 * Something that a device told of its own accord.
 *
 * @param device                 name of the device
 * @param type                   what happened
 * @param completionQueueAddress address of the {@code struct ibv_cq}, if that is what it is about; else 0. To be compared only
 * @param queuePairNumber        number of the queue pair, if that is what it is about; else 0
 * @param port                   number of the port, if that is what it is about; else 0
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_get_async_event.3.html">ibv_get_async_event(3)</a>
 */
public record AsyncEvent(String device, AsyncEventType type, long completionQueueAddress, int queuePairNumber, int port) {
    /**
     * What happened and to what, for people.
     *
     * @return one line
     */
    public String description() {
        return device + ": " + type + switch (type.element()) {
            case COMPLETION_QUEUE -> " on completion queue 0x" + Long.toHexString(completionQueueAddress);
            case QUEUE_PAIR -> " on queue pair " + Integer.toUnsignedString(queuePairNumber);
            case PORT -> " on port " + port;
            case SHARED_RECEIVE_QUEUE, WORK_QUEUE, DEVICE -> "";
        };
    }
}
