/**
 * Torture in child JVMs: a parent that supervises them, the runner of scenes in the child, and the census of resources around
 * each scene.
 */
package io.ringpoll.verify.torture.supervised;
