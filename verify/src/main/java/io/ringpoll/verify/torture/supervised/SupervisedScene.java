package io.ringpoll.verify.torture.supervised;

/** A scene that a child process plays once; one thread. */
public interface SupervisedScene {
    /**
     * The parts of the scene.
     *
     * @return printed as text, drawn from its seed
     */
    Object shape();

    /**
     * The beginning of the names of all threads of the scene.
     *
     * @return different for each scene
     */
    String threadPrefix();

    /**
     * Plays the scene, and releases everything.
     *
     * @throws InterruptedException if the calling thread is interrupted
     * @throws SceneHangs           if it cannot be ended
     */
    void play() throws InterruptedException;

    /**
     * The violations so far.
     *
     * @return to which the census of resources adds others
     */
    Violations violations();

    /**
     * How often the scene has called, for the report.
     *
     * @return number, after the play
     */
    long operations();

    /**
     * How often the scene was called, for the report.
     *
     * @return number, after the play
     */
    long events();
}
