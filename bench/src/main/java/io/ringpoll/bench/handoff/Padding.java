package io.ringpoll.bench.handoff;

/** Two cache lines, which are fetched as a pair, before the fields of subclasses that one thread writes. */
abstract class Padding {
    /** Fills the gap behind the object header, where the JVM would otherwise place a hot field. */
    int p15;
    long p00;
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
