package io.ringpoll.lifecycle;

/** What changes twice per call, on cache lines of its own. */
abstract class HotMarkWord extends HotMarkPadding {
    int word;
}
