package io.ringpoll.cli.tuning;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.internal.tuning.topology.MachineDescription;

/** JSON objects, built node by node and printed with indentation. */
final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Json() {
    }

    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    static void describe(final ObjectNode node, final MachineDescription machine) {
        node.put("processor", machine.processor()).put("cpus", machine.cpus()).put("cores", machine.cores())
            .put("numaNodes", machine.nodes()).put("caches", machine.caches()).put("cache", machine.cacheName())
            .put("isolated", machine.isolated().toString()).put("kernel", machine.kernel());
    }

    static String text(final ObjectNode node) {
        try {
            return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(node);
        } catch (final JsonProcessingException e) {
            throw new IllegalStateException("JSON nodes always have a text", e);
        }
    }
}
