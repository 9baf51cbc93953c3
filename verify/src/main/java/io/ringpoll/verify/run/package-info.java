/**
 * The main job: a server and a client over librpma, a mixed workload, and the account of every work request.
 *
 * <p>Threads: the client's posts, the fault lane's provokes failures, the server's accepts and tears down; the pipeline's poller
 * and handlers take the completions. What crosses between them is the {@link io.ringpoll.verify.run.Ledger} and the credits.
 */
package io.ringpoll.verify.run;
