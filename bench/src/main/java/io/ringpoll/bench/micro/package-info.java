/** JMH benchmarks of the parts of the path: each method of ours stands beside the baseline that it is compared with. */
package io.ringpoll.bench.micro;
