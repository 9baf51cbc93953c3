/**
 * What a poller costs while nothing comes, and how late it is when something does.
 */
package io.ringpoll.bench.idle;
