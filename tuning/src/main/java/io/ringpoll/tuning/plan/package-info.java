/**
 * Where each thread of a pipeline belongs on a machine, and how it should wait there.
 *
 * <p>{@link io.ringpoll.tuning.plan.AffinityPlan#plan} takes a topology and the threads and gives each a CPU; the plan is
 * a plain value that a command prints and a pipeline's builder can follow.
 */
package io.ringpoll.tuning.plan;
