package io.ringpoll.internal.lifecycle;

/** The word that changes with each call, on its own cache lines. */
abstract class HotMarkWord extends HotMarkPadding {
    int word;
}
