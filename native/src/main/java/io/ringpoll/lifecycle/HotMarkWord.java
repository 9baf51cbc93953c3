package io.ringpoll.lifecycle;

/** The word that changes twice per call, on its own cache lines. */
abstract class HotMarkWord extends HotMarkPadding {
    int word;
}
