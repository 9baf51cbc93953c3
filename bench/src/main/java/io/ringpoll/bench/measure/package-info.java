/** Common parts of all measurements: lost CPU time, medians and their spread, results, and the description of the machine. */
package io.ringpoll.bench.measure;
