/** Plots of results as SVG files, which follow the light or dark scheme of their viewer. */
package io.ringpoll.bench.plot;
