/** What every measurement needs: what the machine took away meanwhile, medians and their spread, results and the machine. */
package io.ringpoll.bench.measure;
