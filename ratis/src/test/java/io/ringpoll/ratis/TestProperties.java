package io.ringpoll.ratis;

import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.TimeDuration;

/** Settings of tests that are not about time-outs, for a machine that may not give a thread a CPU for seconds. */
final class TestProperties {
    /** By default, a connect ends after 2 seconds, and a request after 3. */
    private static final TimeDuration PATIENT = TimeDuration.valueOf(30, TimeUnit.SECONDS);

    private TestProperties() {
    }

    /** Settings of clients and servers whose peers reply, or end the connection. */
    static RaftProperties patient() {
        final RaftProperties properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, new RdmaRpcType());
        RdmaConfigKeys.setConnectTimeout(properties, PATIENT);
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, PATIENT);
        RaftClientConfigKeys.Rpc.setWatchRequestTimeout(properties, PATIENT);
        RaftServerConfigKeys.Rpc.setRequestTimeout(properties, PATIENT);
        return properties;
    }
}
