/** Plots of results, drawn by XChart. */
package io.ringpoll.bench.plot;
