import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.StackMapsOption;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.constant.ClassDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/**
 * Rewrites the classes of a jar for Java 8, for the suite in the guest: class data sharing archives exclude classes older than
 * Java 6, as in libraries that support Java 5, and loading them without the archive takes seconds there.
 */
public final class ModernClasses {
    /** Writes each instruction again: a copied method would lack the stack map that Java 8 requires. */
    private static final ClassTransform AS_JAVA_8 = ClassTransform
        .transformingMethodBodies((code, instruction) -> code.with(instruction))
        .andThen((type, element) -> {
            if (element instanceof ClassFileVersion) {
                type.withVersion(ClassFile.JAVA_8_VERSION, 0);
            } else {
                type.with(element);
            }
        });

    private ModernClasses() {
    }

    /**
     * Rewrites.
     *
     * @param args the jar to read and the jar to write
     * @throws IOException if one of them cannot be
     */
    public static void main(final String[] args) throws IOException {
        try (JarFile old = new JarFile(args[0]);
            JarOutputStream modern = new JarOutputStream(Files.newOutputStream(Path.of(args[1])))) {
            final ClassHierarchyResolver types = ClassHierarchyResolver.defaultResolver()
                .orElse(ClassHierarchyResolver.ofResourceParsing(type -> open(old, type)));
            final ClassFile classes = ClassFile.of(ClassHierarchyResolverOption.of(types), StackMapsOption.GENERATE_STACK_MAPS);
            for (final JarEntry entry : old.stream().filter(entry -> !entry.isDirectory()).toList()) {
                final byte[] content = old.getInputStream(entry).readAllBytes();
                modern.putNextEntry(new JarEntry(entry.getName()));
                modern.write(entry.getName().endsWith(".class") ? modernize(classes, content) : content);
                modern.closeEntry();
            }
        }
    }

    private static byte[] modernize(final ClassFile classes, final byte[] content) {
        final ClassModel parsed = classes.parse(content);
        return parsed.majorVersion() < ClassFile.JAVA_8_VERSION ? classes.transformClass(parsed, AS_JAVA_8) : content;
    }

    private static InputStream open(final JarFile jar, final ClassDesc type) {
        final String descriptor = type.descriptorString();
        final JarEntry entry = jar.getJarEntry(descriptor.substring(1, descriptor.length() - 1) + ".class");
        try {
            return entry == null ? null : jar.getInputStream(entry);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
