/**
 * Life-cycle torture: seeded scenes in which several threads and the handlers themselves call every public method of pipelines,
 * groups, queues and connections in any order, in child JVMs with a supervising parent.
 */
package io.ringpoll.verify.torture.lifecycle;
