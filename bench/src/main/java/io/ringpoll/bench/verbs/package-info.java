/** {@code ./ringpoll bench --only verbs}: posts over librdmacm and libibverbs, singly and in lists, beside C and librpma. */
package io.ringpoll.bench.verbs;
