package io.ringpoll.ratis;

import java.net.ConnectException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delays reconnects to a peer that could not be reached: the delay doubles with each failure and is reset by a successful
 * connect. The engine opens a connection for every request; the delay prevents a storm of connects. Thread-safe.
 */
final class Reconnection {
    private static final Logger LOG = LoggerFactory.getLogger(Reconnection.class);
    private static final int MAX_DOUBLINGS = 20;

    private final long minNs;
    private final long maxNs;
    private final Map<RaftPeerId, Failures> byPeer = new HashMap<>();
    /** Number of times that a peer could not be reached after it had been: short ones are logged ever more rarely. */
    private final Map<RaftPeerId, Integer> outages = new HashMap<>();

    private record Failures(int count, long untilNs) {
    }

    Reconnection(final RaftProperties properties) {
        this(RdmaConfigKeys.reconnectDelayMin(properties).toLong(TimeUnit.NANOSECONDS),
            RdmaConfigKeys.reconnectDelayMax(properties).toLong(TimeUnit.NANOSECONDS));
    }

    /**
     * The delays between servers: at most the engine's interval of heartbeats, so that a server that starts is reached before it
     * becomes a candidate.
     */
    static Reconnection ofServers(final RaftProperties properties) {
        return new Reconnection(RdmaConfigKeys.reconnectDelayMin(properties).toLong(TimeUnit.NANOSECONDS),
            Math.min(RdmaConfigKeys.reconnectDelayMax(properties).toLong(TimeUnit.NANOSECONDS),
                RaftServerConfigKeys.Rpc.timeoutMin(properties).toLong(TimeUnit.NANOSECONDS) / 2));
    }

    Reconnection(final long minNs, final long maxNs) {
        this.minNs = minNs;
        this.maxNs = maxNs;
    }

    /** Throws if the delay has not elapsed. */
    synchronized void check(final RaftPeerId peer, final long nowNs) throws ConnectException {
        final Failures failures = byPeer.get(peer);
        if (failures != null && failures.untilNs - nowNs > 0) {
            throw new ConnectException(peer + " could not be reached " + failures.count + " times: the next connect is in " +
                TimeUnit.NANOSECONDS.toMillis(failures.untilNs - nowNs) + " ms");
        }
    }

    synchronized void onFailure(final RaftPeerId peer, final long nowNs, final Exception reason) {
        final int before = byPeer.containsKey(peer) ? byPeer.get(peer).count : 0;
        final int doublings = Math.min(before, MAX_DOUBLINGS);
        // A product that is longer than the maximum may be longer than a long.
        final long delayNs = minNs > maxNs >> doublings ? maxNs : minNs << doublings;
        byPeer.put(peer, new Failures(before + 1, nowNs + delayNs));
        if (before == 0) {
            outages.merge(peer, 1, Integer::sum);
        }
        if (isLogged(peer, before + 1)) {
            LOG.warn("{} cannot be reached: {} ({} failed connects)", peer, reason.getMessage(), before + 1);
        }
    }

    synchronized void onSuccess(final RaftPeerId peer) {
        final Failures failures = byPeer.remove(peer);
        if (failures != null && (failures.count > 1 || isLogged(peer, 1))) {
            LOG.warn("{} is reached again, after {} failed connects", peer, failures.count);
        }
    }

    /** The 1st, 2nd, 4th failure and so on is logged, and the 1st one itself in the 1st, 2nd, 4th outage and so on. */
    private boolean isLogged(final RaftPeerId peer, final int failures) {
        return Integer.bitCount(failures > 1 ? failures : outages.get(peer)) == 1;
    }
}
