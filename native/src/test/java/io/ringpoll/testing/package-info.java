/** What tests share: where the device is, two connected sides, and a slab for completions. */
package io.ringpoll.testing;
