package io.ringpoll.pipeline;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;

/**
 * Defines a delivery class for each class of handlers, with the code of {@link SingleDelivery} or {@link BatchDelivery}.
 *
 * <p>The JIT compiler inlines a virtual call by the receiver classes that it profiled at the call site. A loop shared by all
 * handlers of a process is megamorphic, and every completion costs a virtual call. A hidden copy of the loop has one receiver
 * class, and the compiler inlines the handler. Handlers of one class share the copy, so that its compiled code also serves later
 * pipelines.
 *
 * <p>Called by the thread that builds a pipeline.
 */
final class DeliveryClass extends ClassValue<MethodHandle> {
    private static final MethodType CONSTRUCTOR = MethodType.methodType(
        void.class, HandlerConfig.class, CompletionSlab.class, HandlerFailures.class, HandlerContext.class);
    private static final MethodType FACTORY = CONSTRUCTOR.changeReturnType(Delivery.class);

    private static final DeliveryClass SINGLE = new DeliveryClass(SingleDelivery.class);
    private static final DeliveryClass BATCH = new DeliveryClass(BatchDelivery.class);

    private final Class<? extends Delivery> copied;

    private DeliveryClass(final Class<? extends Delivery> copied) {
        this.copied = copied;
    }

    /** Creates a delivery to a handler, of the delivery class of the handler's class. */
    static Delivery newDelivery(
        final HandlerConfig config, final CompletionSlab slab, final HandlerFailures failures, final HandlerContext context) {
        final MethodHandle constructor = (config.inBatches() ? BATCH : SINGLE).get(config.handler().getClass());
        try {
            return (Delivery) constructor.invokeExact(config, slab, failures, context);
        } catch (final Throwable failure) {
            throw new IllegalStateException("cannot create the delivery to handler " + config.roleName(), failure);
        }
    }

    @Override
    protected MethodHandle computeValue(final Class<?> handlerClass) {
        final Lookup lookup = MethodHandles.lookup();
        try (InputStream code = copied.getResourceAsStream(copied.getSimpleName() + ".class")) {
            final Class<?> own = code == null ? copied :
                lookup.defineHiddenClass(code.readAllBytes(), true, Lookup.ClassOption.NESTMATE).lookupClass();
            return lookup.findConstructor(own, CONSTRUCTOR).asType(FACTORY);
        } catch (final IOException | ReflectiveOperationException failure) {
            throw new IllegalStateException("cannot define the delivery class of " + handlerClass.getName(), failure);
        }
    }
}
