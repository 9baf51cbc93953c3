package io.ringpoll.internal.lifecycle;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method that calls {@link HotCalls#enter()}. A thread is within a call as long as its stack has such a method's frame, so the
 * method does nothing that takes long before it enters and after it leaves, and it is no lambda expression.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface HotCall {
}
