package io.ringpoll.completion;

import java.lang.foreign.MemorySegment;

/**
 * The functions of libibverbs that librpma has no call for, by the C names and with the C parameters of {@code verbs.h}.
 *
 * <p>Pointers are addresses. {@code ibv_poll_cq} and {@code ibv_req_notify_cq} are inline in C and go through the function
 * pointers of {@link IbvContext}, which are arguments here. {@code turn} is the caller's {@link
 * io.ringpoll.internal.ffm.CallTurn}.
 * Where C sets errno it is in {@link io.ringpoll.internal.ffm.CallState#errno()}.
 */
interface VerbsFunctions {
    /** The function of a device that {@link #ibv_poll_cq} calls, by the address of its context. */
    MemorySegment pollCqOf(long context);

    int ibv_poll_cq(int turn, MemorySegment pollCq, long cq, int numEntries, long wcs);

    int ibv_req_notify_cq(MemorySegment reqNotifyCq, long cq, int solicitedOnly);

    long ibv_create_comp_channel(long context);

    int ibv_destroy_comp_channel(long channel);

    long ibv_create_cq(long context, int cqe, long cqContext, long channel, int compVector);

    int ibv_destroy_cq(long cq);

    /** Without errno, since taking an event must allocate nothing. */
    int ibv_get_cq_event(long channel, long cqPointer, long contextPointer);

    /** The same with errno, for when it has failed. */
    int ibv_get_cq_event_errno(long channel, long cqPointer, long contextPointer);

    void ibv_ack_cq_events(long cq, int events);

    int ibv_get_async_event(long context, long event);

    void ibv_ack_async_event(long event);

    long ibv_event_type_str(int eventType);
}
