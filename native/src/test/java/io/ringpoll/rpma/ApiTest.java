package io.ringpoll.rpma;

import io.ringpoll.testing.PublicApi;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The public surface of the binding is the one in {@code api/native.txt}. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ApiTest {
    @Test
    void shouldHaveTheListedPublicTypesAndMembers() throws IOException {
        PublicApi.assertAsListed("native");
    }
}
