package io.ringpoll.internal.lifecycle;

/** The cache lines before {@link HotMarkWord}. */
abstract class HotMarkPadding {
    /** Fills the gap behind the object header, into which the JVM would put the word otherwise. */
    int p00;
    long p01;
    long p02;
    long p03;
    long p04;
    long p05;
    long p06;
    long p07;
    long p08;
    long p09;
    long p10;
    long p11;
    long p12;
    long p13;
    long p14;
}
