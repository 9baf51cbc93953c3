/** Tests of the access to queues and completion records. */
package io.ringpoll.internal.verbs;
