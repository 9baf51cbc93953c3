/** What the machine is, where threads belong on it, and how quiet it is. */
package io.ringpoll.tuning;
