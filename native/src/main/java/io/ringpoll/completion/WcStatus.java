package io.ringpoll.completion;

/**
 * Values of {@code enum ibv_wc_status}: how a work request ended.
 *
 * <p>Plain integers, since they are compared on the hot path.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 */
public final class WcStatus {
    /** The work request ended as asked. */
    public static final int SUCCESS = 0;
    /** A local scatter list is too short for the message, or a message is longer than the device allows. */
    public static final int LOC_LEN_ERR = 1;
    /** The queue pair is inconsistent. */
    public static final int LOC_QP_OP_ERR = 2;
    /** The end-to-end context is inconsistent. */
    public static final int LOC_EEC_OP_ERR = 3;
    /** A local scatter list names memory that is not registered for the operation. */
    public static final int LOC_PROT_ERR = 4;
    /** The queue pair went to the error state, or disconnected, before the work request was done. */
    public static final int WR_FLUSH_ERR = 5;
    /** A memory window could not be bound. */
    public static final int MW_BIND_ERR = 6;
    /** The responder's answer is malformed. */
    public static final int BAD_RESP_ERR = 7;
    /** A local buffer was protected while an RDMA WRITE with immediate data arrived. */
    public static final int LOC_ACCESS_ERR = 8;
    /** The responder refused the message: for instance longer than the receive's buffer. */
    public static final int REM_INV_REQ_ERR = 9;
    /** The remote region does not allow the operation: bounds, key or rights. */
    public static final int REM_ACCESS_ERR = 10;
    /** The responder could not carry out the operation. */
    public static final int REM_OP_ERR = 11;
    /** The peer did not answer within the retries. */
    public static final int RETRY_EXC_ERR = 12;
    /** The peer had no receive posted within the RNR retries. */
    public static final int RNR_RETRY_EXC_ERR = 13;
    /** A reliable-datagram domain was violated. */
    public static final int LOC_RDD_VIOL_ERR = 14;
    /** A reliable-datagram request was invalid. */
    public static final int REM_INV_RD_REQ_ERR = 15;
    /** The peer aborted the operation. */
    public static final int REM_ABORT_ERR = 16;
    /** An end-to-end context number is invalid. */
    public static final int INV_EECN_ERR = 17;
    /** An end-to-end context is in the wrong state. */
    public static final int INV_EEC_STATE_ERR = 18;
    /** The device has failed. */
    public static final int FATAL_ERR = 19;
    /** The response timed out. */
    public static final int RESP_TIMEOUT_ERR = 20;
    /** An error that has no status of its own. */
    public static final int GENERAL_ERR = 21;
    /** Tag matching failed. */
    public static final int TM_ERR = 22;
    /** The tag-matching rendezvous is incomplete. */
    public static final int TM_RNDV_INCOMPLETE = 23;
    /** Number of statuses: an array indexed by status has this length. */
    public static final int COUNT = 24;

    private static final String[] NAMES = {
        "IBV_WC_SUCCESS", "IBV_WC_LOC_LEN_ERR", "IBV_WC_LOC_QP_OP_ERR", "IBV_WC_LOC_EEC_OP_ERR", "IBV_WC_LOC_PROT_ERR",
        "IBV_WC_WR_FLUSH_ERR", "IBV_WC_MW_BIND_ERR", "IBV_WC_BAD_RESP_ERR", "IBV_WC_LOC_ACCESS_ERR", "IBV_WC_REM_INV_REQ_ERR",
        "IBV_WC_REM_ACCESS_ERR", "IBV_WC_REM_OP_ERR", "IBV_WC_RETRY_EXC_ERR", "IBV_WC_RNR_RETRY_EXC_ERR",
        "IBV_WC_LOC_RDD_VIOL_ERR", "IBV_WC_REM_INV_RD_REQ_ERR", "IBV_WC_REM_ABORT_ERR", "IBV_WC_INV_EECN_ERR",
        "IBV_WC_INV_EEC_STATE_ERR", "IBV_WC_FATAL_ERR", "IBV_WC_RESP_TIMEOUT_ERR", "IBV_WC_GENERAL_ERR", "IBV_WC_TM_ERR",
        "IBV_WC_TM_RNDV_INCOMPLETE"
    };

    private WcStatus() {
    }

    /**
     * The name of a status in the verbs manual.
     *
     * @param status a value of {@code enum ibv_wc_status}
     * @return for instance {@code "IBV_WC_WR_FLUSH_ERR"}; {@code "status 77"} for a value the manual does not have
     */
    public static String name(final int status) {
        return status >= 0 && status < COUNT ? NAMES[status] : "status " + status;
    }
}
