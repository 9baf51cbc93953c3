/**
 * Torture of message connections: seeded scenes in which sets of connections are opened, used and closed by several threads and
 * by their own callbacks, and a model that predicts messages, credits, callbacks and ends.
 */
package io.ringpoll.verify.torture.connections;
