package io.ringpoll.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * Further cases of a parameterized test or class, which on another device show nothing that those of its other sources do not:
 * they take other paths in Java only. Left out where {@link TestDevice#isShort}.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(LoopbackCases.Provider.class)
public @interface LoopbackCases {
    /** The arguments of each case, with commas between them. */
    String[] value();

    /** Divides them. */
    final class Provider implements ArgumentsProvider, AnnotationConsumer<LoopbackCases> {
        private String[] cases;

        @Override
        public void accept(final LoopbackCases annotation) {
            cases = annotation.value();
        }

        @Override
        public Stream<Arguments> provideArguments(final ParameterDeclarations parameters, final ExtensionContext context) {
            return TestDevice.isShort() ? Stream.empty()
                : Arrays.stream(cases).map(one -> Arguments.of((Object[]) one.split(", *")));
        }
    }
}
