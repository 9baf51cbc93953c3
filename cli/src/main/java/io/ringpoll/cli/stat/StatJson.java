package io.ringpoll.cli.stat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.counters.Counter;
import io.ringpoll.internal.counters.CountersSnapshot;
import io.ringpoll.internal.counters.CountersSnapshot.RecordedCounter;
import java.util.List;
import java.util.Locale;

/** Writes counters and errors of pipelines as JSON: {@code {"pipelines":[{...},...]}}. */
final class StatJson {
    private StatJson() {
    }

    static String of(final List<Watched> pipelines) {
        final ObjectNode root = JsonNodeFactory.instance.objectNode();
        final ArrayNode array = root.putArray("pipelines");
        pipelines.forEach(watched -> describe(watched, array.addObject()));
        return JsonText.of(root);
    }

    private static void describe(final Watched watched, final ObjectNode node) {
        final CountersSnapshot snapshot = watched.latest();
        final PipelineView view = new PipelineView(snapshot, watched.before());
        node.put("name", snapshot.name()).put("pid", snapshot.pid()).put("alive", !watched.hasEnded())
            .put("startMs", snapshot.startMs()).put("ringSize", view.ringSize());
        view.occupancy().ifPresent(slots -> node.put("occupancy", slots));
        final ArrayNode handlers = node.putArray("handlers");
        view.lags().forEach(lag ->
            handlers.addObject().put("name", lag.attributes().get("handler")).put("lag", lag.value()));
        final ArrayNode counters = node.putArray("counters");
        final List<RecordedCounter> recorded = snapshot.counters();
        final List<Counter> named = view.counters().subList(view.counters().size() - recorded.size(), view.counters().size());
        for (int i = 0; i < recorded.size(); i++) {
            final RecordedCounter counter = recorded.get(i);
            final ObjectNode entry = counters.addObject().put("id", counter.typeId())
                .put("type", counter.type() == null ? null : counter.type().name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .put("name", named.get(i).name()).put("owner", counter.owner()).put("parameter", counter.parameter())
                .put("label", counter.label()).put("unit", named.get(i).unit()).put("value", counter.value());
            view.rate(named.get(i)).ifPresent(rate -> entry.put("perSecond", rate));
        }
        final ArrayNode errors = node.putArray("errors");
        for (final CountersSnapshot.RecordedError error : snapshot.errors()) {
            errors.addObject().put("count", error.count()).put("firstMs", error.firstMs()).put("lastMs", error.lastMs())
                .put("text", error.text());
        }
    }
}
