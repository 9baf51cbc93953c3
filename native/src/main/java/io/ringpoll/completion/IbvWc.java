package io.ringpoll.completion;

/**
 * Layout of {@code struct ibv_wc}, the record that a provider writes for each work completion.
 *
 * <pre>
 *   struct ibv_wc {
 *       uint64_t wr_id;                offset  0
 *       enum ibv_wc_status status;             8
 *       enum ibv_wc_opcode opcode;            12
 *       uint32_t vendor_err;                  16
 *       uint32_t byte_len;                    20
 *       union {
 *           __be32 imm_data;                  24
 *           uint32_t invalidated_rkey;        24
 *       };
 *       uint32_t qp_num;                      28
 *       uint32_t src_qp;                      32
 *       unsigned int wc_flags;                36
 *       uint16_t pkey_index;                  40
 *       uint16_t slid;                        42
 *       uint8_t sl;                           44
 *       uint8_t dlid_path_bits;               45
 *       (2 bytes of padding)                  46
 *   };                                  size 48
 * </pre>
 *
 * <p>All fields are in native byte order but {@code imm_data}, which is in network byte order.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 */
public final class IbvWc {
    /** Offset of {@code wr_id}, 8 bytes. */
    public static final int WR_ID_OFFSET = 0;
    /** Offset of {@code status}, 4 bytes; together with the opcode behind it one aligned 8-byte word. */
    public static final int STATUS_OFFSET = 8;
    /** Offset of {@code opcode}, 4 bytes. */
    public static final int OPCODE_OFFSET = 12;
    /** Offset of {@code vendor_err}, 4 bytes. */
    public static final int VENDOR_ERR_OFFSET = 16;
    /** Offset of {@code byte_len}, 4 bytes. */
    public static final int BYTE_LEN_OFFSET = 20;
    /** Offset of {@code imm_data}, 4 bytes in network byte order. */
    public static final int IMM_DATA_OFFSET = 24;
    /** Offset of {@code invalidated_rkey}, 4 bytes, the other member of the union. */
    public static final int INVALIDATED_RKEY_OFFSET = 24;
    /** Offset of {@code qp_num}, 4 bytes. */
    public static final int QP_NUM_OFFSET = 28;
    /** Offset of {@code src_qp}, 4 bytes. */
    public static final int SRC_QP_OFFSET = 32;
    /** Offset of {@code wc_flags}, 4 bytes. */
    public static final int WC_FLAGS_OFFSET = 36;
    /** Offset of {@code pkey_index}, 2 bytes. */
    public static final int PKEY_INDEX_OFFSET = 40;
    /** Offset of {@code slid}, 2 bytes. */
    public static final int SLID_OFFSET = 42;
    /** Offset of {@code sl}, 1 byte. */
    public static final int SL_OFFSET = 44;
    /** Offset of {@code dlid_path_bits}, 1 byte. */
    public static final int DLID_PATH_BITS_OFFSET = 45;
    /** Size of the struct in bytes. */
    public static final int SIZE_BYTES = 48;

    private IbvWc() {
    }
}
