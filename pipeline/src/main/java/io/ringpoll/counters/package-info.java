/**
 * The counters of running pipelines at one moment: values with name, unit and kind, and their OpenMetrics text.
 */
package io.ringpoll.counters;
