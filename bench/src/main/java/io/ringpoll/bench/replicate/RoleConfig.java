package io.ringpoll.bench.replicate;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;

/**
 * The settings of a process that is one server, or the client, of a group of processes.
 *
 * @param peers        addresses of all servers, as {@code IP:PORT}
 * @param id           of a server: its index in {@code peers}
 * @param folder       of a server: folder of its log; an existing log is continued
 * @param acknowledged of the client: file for the acknowledged records
 * @param everyMs      of the client: minimum time between two records, milliseconds
 * @param electionMs   of a server: shortest election time-out, milliseconds
 */
public record RoleConfig(List<String> peers, int id, Path folder, Path acknowledged, int everyMs, int electionMs) {
    private static final RaftGroupId GROUP = RaftGroupId.valueOf(UUID.nameUUIDFromBytes(new byte[] {9}));

    /**
     * Copies the list.
     */
    public RoleConfig {
        peers = List.copyOf(peers);
    }

    RaftGroup group() {
        final List<RaftPeer> members = new ArrayList<>();
        for (final String address : peers) {
            members.add(RaftPeer.newBuilder().setId("server-" + members.size()).setAddress(address).build());
        }
        return RaftGroup.valueOf(GROUP, members);
    }
}
