/** Tests of fault plans. */
package io.ringpoll.fault;
