/** Tests of the tuning tools and what they share. */
package io.ringpoll.tuning;
