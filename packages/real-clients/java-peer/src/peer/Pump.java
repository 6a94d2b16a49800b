package peer;

import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/** Carries the messages of one stream at a time: `open` begins a stream, any other line is a message in base64. Each message that comes is a line too, and `ended ...` is the end of a stream. */
final class Pump implements StreamObserver<byte[]> {
  private Pump() {}

  static void run(String target, String path, Stream<String> lines) {
    ManagedChannel channel = Grpc.newChannelBuilder(target, InsecureChannelCredentials.create()).maxInboundMessageSize(Integer.MAX_VALUE).build();
    MethodDescriptor<byte[], byte[]> method = Bytes.method(MethodType.BIDI_STREAMING, path);
    AtomicReference<StreamObserver<byte[]>> requests = new AtomicReference<>();
    lines.forEach(line -> {
      if (line.equals("open")) {
        requests.set(ClientCalls.asyncBidiStreamingCall(channel.newCall(method, CallOptions.DEFAULT.withWaitForReady()), new Pump()));
      } else {
        requests.get().onNext(Base64.getDecoder().decode(line));
      }
    });
  }

  @Override
  public void onNext(byte[] message) {
    Main.say(Base64.getEncoder().encodeToString(message));
  }

  @Override
  public void onError(Throwable error) {
    Main.say("ended " + error.getMessage());
  }

  @Override
  public void onCompleted() {
    Main.say("ended");
  }
}
