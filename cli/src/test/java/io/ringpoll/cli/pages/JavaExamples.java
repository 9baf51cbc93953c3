package io.ringpoll.cli.pages;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Compiles the Java examples of the pages: a complete program unchanged, a fragment as the body of a method, or as members of a
 * class, with access to the declarations in {@link #CONTEXT}.
 */
final class JavaExamples {
    private static final Pattern PROGRAM = Pattern.compile("(?m)^(public )?(final )?class \\w+");
    private static final Pattern MEMBERS = Pattern.compile("(?s)\\s*(@Override|public |private |void ).*");
    private static final String IMPORTS = """
        import io.ringpoll.connections.*;
        import io.ringpoll.counters.*;
        import io.ringpoll.device.*;
        import io.ringpoll.fault.*;
        import io.ringpoll.pipeline.*;
        import io.ringpoll.poller.*;
        import io.ringpoll.rpma.*;
        import io.ringpoll.tuning.AutoPinning;
        import io.ringpoll.completion.*;
        import java.net.ConnectException;
        import java.nio.file.Path;
        import java.util.*;
        import java.util.concurrent.*;
        import java.util.concurrent.atomic.AtomicLong;
        import org.agrona.DirectBuffer;
        import org.agrona.ErrorHandler;
        import org.agrona.concurrent.*;
        import org.agrona.concurrent.status.CountersManager;
        """;
    private static final String CONTEXT = IMPORTS + """
        abstract class Context {
            static final long TEN_SECONDS = TimeUnit.SECONDS.toNanos(10);
            String address;
            String port;
            int timeoutMs;
            int n;
            Peer peer;
            Connection connection;
            Pipeline pipeline;
            VerbsContext context;
            WorkCompletions records;
            LocalMemoryRegion local;
            LocalMemoryRegion message;
            RemoteMemoryRegion remote;
            CompletionHandler journal;
            CompletionHandler acknowledge;
            CompletionHandler[] handlers;
            SlotControl slots;
            BlockingQueue<Long> work;
            AtomicLong bytes;
            ErrorHandler errorHandler;
            Agent logic;
            CountersManager countersManager;
            AgentRunner runner;
            Appendable response;
            Session session;
            SharedReceiveQueue shared;
            ConnectionListener listener;
            ConnectionSet set;
            Queue<DirectBuffer> unsent;
            ScheduledExecutorService timer;
            int serverPort;
            int position;
            long latest;
            interface Session {
                void received(WorkCompletion wc);
                void sent(WorkCompletion wc);
                void failed(WorkCompletion wc);
            }
            abstract void received(WorkCompletion wc);
            abstract void failed(WorkCompletion wc);
            abstract void written(long workRequestId);
            abstract void answer(Connection connection, WorkCompletion wc);
            abstract void errorHandlingCode();
            abstract void flush();
            abstract void print(String line);
            abstract void report(String line);
            abstract boolean isRunning();
            abstract void idle(int workCount);
        }
        """;

    private final List<Source> sources = new ArrayList<>();

    private static final class Source extends SimpleJavaFileObject {
        private final String code;

        Source(final String type, final String code) {
            super(URI.create("string:///" + type + ".java"), Kind.SOURCE);
            this.code = code;
        }

        @Override
        public CharSequence getCharContent(final boolean ignoreEncodingErrors) {
            return code;
        }
    }

    static boolean isProgram(final String example) {
        return PROGRAM.matcher(example).find();
    }

    /** The compile errors of the examples of a page; empty if all compile. */
    List<String> errors(final Page page) {
        sources.clear();
        sources.add(new Source("Context", CONTEXT));
        page.blocks().stream().filter(block -> "java".equals(block.language())).forEach(block -> add(block.text()));
        final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        final DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        final List<String> options = List.of(
            "-proc:none", "--should-stop=ifNoError=FLOW", "-cp", System.getProperty("java.class.path"));
        compiler.getTask(null, null, diagnostics, options, null, sources).call();
        return diagnostics.getDiagnostics().stream().filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
            .map(diagnostic -> diagnostic.getMessage(Locale.ROOT) + " in: " + line(diagnostic)).toList();
    }

    private static String line(final Diagnostic<? extends JavaFileObject> diagnostic) {
        final String code = ((Source) diagnostic.getSource()).code;
        return code.lines().skip(diagnostic.getLineNumber() - 1).findFirst().orElse("");
    }

    private void add(final String example) {
        final String type = "Example" + sources.size();
        if (isProgram(example)) {
            sources.add(new Source(example.replaceAll("(?s).*?class (\\w+).*", "$1"), example));
        } else if (MEMBERS.matcher(example).matches()) {
            sources.add(new Source(type, IMPORTS + "abstract class " + type + " extends Context\n" +
                "implements CompletionHandler, ConnectionListener {\n" + example + "}\n"));
        } else {
            sources.add(new Source(type, IMPORTS + "abstract class " + type + " extends Context { void run() throws Exception {\n"
                + example + "} }\n"));
        }
    }
}
