/**
 * Random torture: seeded scenes of connections, pollers, handlers and planned faults; a model verifies each work request by its
 * identity.
 */
package io.ringpoll.verify.torture;
