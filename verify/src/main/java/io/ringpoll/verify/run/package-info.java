/**
 * The main job: a server and a client over librpma, a mixed workload, and the account of every work request.
 *
 * <p>Threads: the client thread posts, the fault lane provokes failures, the server thread accepts and closes connections; the
 * poller and the handlers of the pipeline process the completions. The {@link io.ringpoll.verify.run.Ledger} and the credits are
 * shared between threads.
 */
package io.ringpoll.verify.run;
