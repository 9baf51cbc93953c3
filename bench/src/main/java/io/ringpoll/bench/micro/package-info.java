/** JMH benchmarks of the parts of the completion path: each ringpoll method has a baseline in the same class. */
package io.ringpoll.bench.micro;
