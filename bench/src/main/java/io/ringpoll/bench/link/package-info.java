/** Connections between two ends whose operations are measured: in this process, or with a server in another process. */
package io.ringpoll.bench.link;
