package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class AddressTextTest {
    @ParameterizedTest
    @ValueSource(chars = {'\0', '\t', '\n', '\u001F', '\u007F', '\u0080', '\u009F'})
    void shouldShowTheTextAroundAControlCharacter(final char control) {
        assertEquals("address 'a?b c?' holds a control character", refusal("address", "a" + control + "b c" + control));
        assertEquals("port '?' holds a control character",
            assertThrows(IllegalArgumentException.class, () -> AddressText.requirePort("" + control)).getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {" ", "~", "\u00A0", "fe80::1%eth0", "größe.example"})
    void shouldPassOnAnyOtherText(final String text) {
        assertEquals(text, AddressText.require("address", text));
        assertEquals(text, AddressText.requirePort(text));
        assertEquals(text, AddressText.requireRemotePort(text));
        assertFalse(AddressText.isAnyPort(text));
    }

    @Test
    void shouldNameWhatIsMissing() {
        assertEquals("the service is null", refusal("service", null));
        assertEquals("the service is empty", refusal("service", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "+1", "65535", "007"})
    void shouldPassOnAPort(final String port) {
        assertEquals(port, AddressText.requirePort(port));
        assertEquals(port, AddressText.requireRemotePort(port));
        assertFalse(AddressText.isAnyPort(port));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-0", "+0", "000"})
    void shouldListenAtPortZeroOnly(final String port) {
        assertEquals(port, AddressText.requirePort(port));
        assertTrue(AddressText.isAnyPort(port));
        assertThrows(IllegalArgumentException.class, () -> AddressText.requireRemotePort(port));
    }

    @ParameterizedTest
    @ValueSource(strings = {"65536", "-1", "4294967297"})
    void shouldRefuseANumberThatIsNoPort(final String port) {
        assertEquals("port '" + port + "' is not within 0 to 65535",
            assertThrows(IllegalArgumentException.class, () -> AddressText.requirePort(port)).getMessage());
        assertThrows(IllegalArgumentException.class, () -> AddressText.requireRemotePort(port));
    }

    private static String refusal(final String what, final String text) {
        return assertThrows(IllegalArgumentException.class, () -> AddressText.require(what, text)).getMessage();
    }
}
