/**
 * Random torture: seeded scenes of connections, pollers, handlers and planned faults, each work request checked by its identity
 * against a model that knows what it must end as.
 */
package io.ringpoll.verify.torture;
