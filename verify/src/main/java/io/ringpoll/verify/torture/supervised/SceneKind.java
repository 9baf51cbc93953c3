package io.ringpoll.verify.torture.supervised;

/**
 * A kind of scenes that child processes play.
 *
 * @param option     of {@code ./ringpoll torture} that chooses it
 * @param main       main class of the child process
 * @param operations name of {@link SupervisedScene#operations()} in the report
 * @param events     name of {@link SupervisedScene#events()} in the report
 * @param verdict    printed if all scenes passed
 */
public record SceneKind(String option, Class<?> main, String operations, String events, String verdict) {
}
