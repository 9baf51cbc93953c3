package io.ringpoll.bench.echo;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.apache.ratis.thirdparty.io.netty.bootstrap.Bootstrap;
import org.apache.ratis.thirdparty.io.netty.bootstrap.ServerBootstrap;
import org.apache.ratis.thirdparty.io.netty.buffer.ByteBuf;
import org.apache.ratis.thirdparty.io.netty.channel.Channel;
import org.apache.ratis.thirdparty.io.netty.channel.ChannelHandlerContext;
import org.apache.ratis.thirdparty.io.netty.channel.ChannelInboundHandlerAdapter;
import org.apache.ratis.thirdparty.io.netty.channel.ChannelInitializer;
import org.apache.ratis.thirdparty.io.netty.channel.ChannelOption;
import org.apache.ratis.thirdparty.io.netty.channel.EventLoopGroup;
import org.apache.ratis.thirdparty.io.netty.channel.SelectStrategy;
import org.apache.ratis.thirdparty.io.netty.channel.SelectStrategyFactory;
import org.apache.ratis.thirdparty.io.netty.channel.epoll.Epoll;
import org.apache.ratis.thirdparty.io.netty.channel.epoll.EpollEventLoopGroup;
import org.apache.ratis.thirdparty.io.netty.channel.epoll.EpollServerSocketChannel;
import org.apache.ratis.thirdparty.io.netty.channel.epoll.EpollSocketChannel;
import org.apache.ratis.thirdparty.io.netty.channel.nio.NioEventLoopGroup;
import org.apache.ratis.thirdparty.io.netty.channel.socket.SocketChannel;
import org.apache.ratis.thirdparty.io.netty.channel.socket.nio.NioServerSocketChannel;
import org.apache.ratis.thirdparty.io.netty.channel.socket.nio.NioSocketChannel;
import org.apache.ratis.thirdparty.io.netty.util.concurrent.FastThreadLocalThread;

/**
 * Netty over TCP on the loopback interface, the shaded one that Ratis uses: one event loop at each end, which spins with epoll as
 * the other contestants do; pooled buffers, writes that are flushed at the end of a read, no delay.
 */
final class NettyEcho extends JavaEcho {
    private static final long END_S = 5;
    private static final int CONNECT_TIMEOUT_MS = 5_000;

    private final DirectBuffer message = new UnsafeBuffer(new byte[EchoScale.MESSAGE_BYTES]);
    private final Channel[] channels;
    private final EventLoopGroup serverLoop;
    private final EventLoopGroup clientLoop;

    /** Answers each message. */
    private static final class Server extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(final ChannelHandlerContext context, final Object read) {
            context.write(read, context.voidPromise());
        }

        @Override
        public void channelReadComplete(final ChannelHandlerContext context) {
            context.flush();
        }
    }

    /** Sends the next message after each answer. */
    private final class Client extends ChannelInboundHandlerAdapter {
        private final int next;
        private int bytes;

        Client(final int next) {
            this.next = next;
        }

        @Override
        public void channelRead(final ChannelHandlerContext context, final Object read) {
            final ByteBuf answers = (ByteBuf) read;
            bytes += answers.readableBytes();
            answers.release();
            while (bytes >= EchoScale.MESSAGE_BYTES) {
                bytes -= EchoScale.MESSAGE_BYTES;
                if (meter.onAnswer()) {
                    if (meter.isPingPong()) {
                        send(channels[next]);
                        channels[next].flush();
                    } else {
                        send(context.channel());
                    }
                }
            }
        }

        @Override
        public void channelReadComplete(final ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(final ChannelHandlerContext context, final Throwable cause) {
            meter.fail(cause.toString());
        }
    }

    NettyEcho(final EchoScale scale, final EchoThreads threads) {
        super(scale, threads);
        channels = new Channel[scale.connections()];
        serverLoop = newLoop(true);
        clientLoop = newLoop(false);
        boolean connected = false;
        try {
            connect();
            connected = true;
        } finally {
            if (!connected) {
                close();
            }
        }
        threads.gate().close();
    }

    private EventLoopGroup newLoop(final boolean isServer) {
        final ThreadFactory factory = body ->
            new FastThreadLocalThread(threads.pinned(isServer, body), "bench-netty-" + (isServer ? "server" : "client"));
        if (!Epoll.isAvailable()) {
            return new NioEventLoopGroup(1, factory);
        }
        final boolean spins = !threads.yields();
        final SelectStrategyFactory strategy = () -> (selected, hasTasks) -> hasTasks ? selected.get() :
            spins && !threads.gate().isClosed() ? SelectStrategy.BUSY_WAIT : SelectStrategy.SELECT;
        return new EpollEventLoopGroup(1, factory, strategy);
    }

    private void connect() {
        final Channel listener = new ServerBootstrap().group(serverLoop)
            .channel(Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, scale.connections())
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(final SocketChannel channel) {
                    channel.pipeline().addLast(new Server());
                }
            })
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).syncUninterruptibly().channel();
        for (int i = 0; i < channels.length; i++) {
            final int next = (i + 1) % channels.length;
            channels[i] = new Bootstrap().group(clientLoop)
                .channel(Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(final SocketChannel channel) {
                        channel.pipeline().addLast(new Client(next));
                    }
                })
                .connect(listener.localAddress()).syncUninterruptibly().channel();
        }
    }

    @Override
    protected void sendFirst() {
        channels[0].eventLoop().execute(this::sendAll);
    }

    private void sendAll() {
        final int connections = meter.isPingPong() ? 1 : channels.length;
        final int messages = meter.isPingPong() ? 1 : scale.inFlight();
        for (int i = 0; i < connections; i++) {
            for (int j = 0; j < messages; j++) {
                send(channels[i]);
            }
            channels[i].flush();
        }
    }

    private void send(final Channel channel) {
        meter.onSend();
        final ByteBuf buffer = channel.alloc().directBuffer(EchoScale.MESSAGE_BYTES);
        buffer.writeBytes(message.byteArray(), 0, EchoScale.MESSAGE_BYTES);
        channel.write(buffer, channel.voidPromise());
    }

    @Override
    public void close() {
        threads.gate().open();
        clientLoop.shutdownGracefully(0, END_S, TimeUnit.SECONDS).awaitUninterruptibly(2 * END_S, TimeUnit.SECONDS);
        serverLoop.shutdownGracefully(0, END_S, TimeUnit.SECONDS).awaitUninterruptibly(2 * END_S, TimeUnit.SECONDS);
    }
}
