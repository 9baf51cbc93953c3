package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.classfile.Annotation;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The methods that enter {@link HotCalls} or a {@link HotLease}, as compiled: a thread that closes looks for their frames. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HotCallMethodsTest {
    private static final String HOT_CALLS = HotCalls.class.getName().replace('.', '/');
    private static final ClassDesc HOT_CALL = HotCall.class.describeConstable().orElseThrow();

    @Test
    void shouldMarkEachMethodThatEntersAndNoOther() throws IOException, URISyntaxException {
        final List<String> entering = new ArrayList<>();
        final List<String> marked = new ArrayList<>();
        for (final ClassModel type : classesOfTheArtifact()) {
            for (final MethodModel method : type.methods()) {
                final String name = type.thisClass().asInternalName() + "." + method.methodName().stringValue() +
                    method.methodType().stringValue();
                if (enters(method)) {
                    entering.add(name);
                }
                if (isMarked(method)) {
                    marked.add(name);
                }
            }
        }
        assertEquals(entering, marked);
        assertTrue(entering.size() >= 16, "too few were found: " + entering);
    }

    private static List<ClassModel> classesOfTheArtifact() throws IOException, URISyntaxException {
        final Path classes = Path.of(HotCalls.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (Stream<Path> files = Files.walk(classes)) {
            final List<ClassModel> models = new ArrayList<>();
            for (final Path file : files.filter(path -> path.toString().endsWith(".class")).sorted().toList()) {
                models.add(ClassFile.of().parse(file));
            }
            return models;
        }
    }

    private static boolean enters(final MethodModel method) {
        return method.code().stream().flatMap(code -> code.elementStream()).anyMatch(HotCallMethodsTest::isEnter);
    }

    private static boolean isEnter(final CodeElement element) {
        return element instanceof final InvokeInstruction call &&
            (call.owner().asInternalName().equals(HOT_CALLS) && call.name().equalsString("enter") ||
                call.name().stringValue().startsWith("enterLeased"));
    }

    private static boolean isMarked(final MethodModel method) {
        return method.findAttribute(Attributes.runtimeVisibleAnnotations()).stream()
            .flatMap(attribute -> attribute.annotations().stream()).map(Annotation::classSymbol).anyMatch(HOT_CALL::equals);
    }
}
