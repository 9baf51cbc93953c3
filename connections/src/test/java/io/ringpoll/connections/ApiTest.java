package io.ringpoll.connections;

import io.ringpoll.testing.PublicApi;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The public surface of the connections is the one in {@code api/connections.txt}. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ApiTest {
    @Test
    void shouldHaveTheListedPublicTypesAndMembers() throws IOException {
        PublicApi.assertAsListed("connections");
    }
}
