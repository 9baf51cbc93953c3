package io.ringpoll.completion;

/**
 * An asynchronous event of a device.
 *
 * @param device                 name of the device
 * @param type                   the type of the event
 * @param completionQueueAddress address of the {@code struct ibv_cq}, if the event refers to one; else 0. Only for comparison
 * @param queuePairNumber        number of the queue pair, if the event refers to one; else 0
 * @param port                   number of the port, if the event refers to one; else 0
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_get_async_event.3.html">ibv_get_async_event(3)</a>
 */
public record AsyncEvent(String device, AsyncEventType type, long completionQueueAddress, int queuePairNumber, int port) {
    /** Clears the fields that an event of this type does not use. */
    public AsyncEvent {
        final AsyncEventElement element = type.element();
        completionQueueAddress = element == AsyncEventElement.COMPLETION_QUEUE ? completionQueueAddress : 0;
        queuePairNumber = element == AsyncEventElement.QUEUE_PAIR ? queuePairNumber : 0;
        port = element == AsyncEventElement.PORT ? port : 0;
    }

    /**
     * Describes the event and its element.
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
