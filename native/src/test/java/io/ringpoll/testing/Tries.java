package io.ringpoll.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

/** A test that is repeated, because two threads meet by chance in it; a quarter as often where {@link TestDevice#isShort}. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(Tries.Provider.class)
public @interface Tries {
    /** How often; a multiple of four. */
    int value();

    /** Repeats it. */
    final class Provider implements TestTemplateInvocationContextProvider {
        @Override
        public boolean supportsTestTemplate(final ExtensionContext context) {
            return true;
        }

        @Override
        public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(final ExtensionContext context) {
            final int tries = context.getRequiredTestMethod().getAnnotation(Tries.class).value();
            return IntStream.range(0, TestDevice.isShort() ? tries / 4 : tries)
                .mapToObj(i -> new TestTemplateInvocationContext() { });
        }
    }
}
