package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.device.MissingFunctionException;
import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.testing.CCompiler;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bound functions against the installed library and its header. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class FunctionsTest {
    private static final List<Class<?>> TOPICS = List.of(PeerFunctions.class, MemoryFunctions.class, ConfigFunctions.class,
        ConnectionFunctions.class, PostingFunctions.class, CompletionFunctions.class, LogFunctions.class);
    /** Functions that do not answer a null pointer with RPMA_E_INVAL: they take none, do not check it, or reset the log. */
    private static final Set<String> TAKES_ANYTHING = Set.of("rpma_mr_advise", "rpma_log_set_function", "rpma_log_set_threshold",
        "rpma_err_2str", "rpma_utils_conn_event_2str", "rpma_cq_get_completion");
    private static final String REMOVED = "rpma_cq_get_completion";
    /** The one parameter that C does not have. */
    private static final String TURN = "turn";

    @Test
    void shouldBindEveryFunctionThatTheInstalledLibraryExports() {
        final String path = Libraries.current().rpma().description().replaceAll(".*, ", "");
        final TreeSet<String> exported = new TreeSet<>();
        for (final String line : CCompiler.execute(List.of("nm", "-D", "--defined-only", path))) {
            if (line.matches(".* T rpma_.*")) {
                exported.add(line.replaceAll(".* T (rpma_\\w+).*", "$1"));
            }
        }
        final TreeSet<String> bound = new TreeSet<>(bound().keySet());
        assertTrue(bound.remove(REMOVED));
        assertEquals(exported, bound);
    }

    @Test
    void shouldBindEveryFunctionWithTheTypesOfTheHeader() {
        assumeTrue(Files.exists(LibrpmaHeader.PATH), "librpma.h is not installed (librpma-dev)");
        final Map<String, List<Class<?>>> bound = bound();
        bound.remove(REMOVED);
        assertEquals(new LibrpmaHeader().functions(), bound);
    }

    @Test
    void shouldNameFunctionLibraryAndVersionOfAFunctionThatIsMissing() {
        assumeTrue(!Libraries.current().rpma().has(REMOVED), "this librpma still has " + REMOVED);
        Loading.require();
        final MissingFunctionException missing =
            assertThrows(MissingFunctionException.class, () -> Librpma.COMPLETION.rpma_cq_get_completion(CallTurn.PLAIN, 0, 0));
        assertEquals(REMOVED, missing.function());
        assertTrue(missing.getMessage().matches("rpma_cq_get_completion is not in librpma \\d.*, /.*/librpma\\.so.*"),
            missing::getMessage);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, FfmPostingFunctions.CRITICAL_LIMIT_BYTES + 1})
    void shouldReachTheLibraryThroughEveryFunction(final long value) throws ReflectiveOperationException {
        Loading.require();
        for (final Field table : Librpma.class.getDeclaredFields()) {
            // Series are functions of libringpoll.
            if (!table.getType().isInterface() || table.getType() == SeriesFunctions.class) {
                continue;
            }
            for (final Method method : table.getType().getDeclaredMethods()) {
                if (!TAKES_ANYTHING.contains(method.getName()) && !(value != 0 && takesPointersOnly(method))) {
                    final Object result = method.invoke(table.get(null), arguments(method, value));
                    assertEquals(RpmaError.INVAL, result, method::getName);
                }
            }
        }
        assertEquals("Invalid argument", RpmaError.meaning(RpmaError.INVAL));
        assertEquals("Connection lost", ConnectionEvent.LOST.meaning());
    }

    /** Zeros, except for the parameter that is a length. */
    private static Object[] arguments(final Method method, final long value) {
        final Class<?>[] types = method.getParameterTypes();
        final Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            final boolean isLength = "lengthBytes".equals(method.getParameters()[i].getName());
            arguments[i] = types[i] == long.class ? isLength ? value : 0L : types[i] == boolean.class ? (Object) false : 0;
        }
        return arguments;
    }

    private static boolean takesPointersOnly(final Method method) {
        return List.of(method.getParameters()).stream().noneMatch(parameter -> "lengthBytes".equals(parameter.getName()));
    }

    private static Map<String, List<Class<?>>> bound() {
        final Map<String, List<Class<?>>> functions = new TreeMap<>();
        for (final Class<?> topic : TOPICS) {
            for (final Method method : topic.getDeclaredMethods()) {
                final List<Class<?>> types = new ArrayList<>();
                for (final Parameter parameter : method.getParameters()) {
                    if (!TURN.equals(parameter.getName())) {
                        types.add(parameter.getType());
                    }
                }
                types.add(method.getReturnType());
                functions.put(method.getName(), types);
            }
        }
        return functions;
    }
}
