package peer;

import com.google.gson.Gson;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Makes one call for each line; its answer is one line. */
final class Call implements StreamObserver<byte[]> {
  // A component of a record cannot be named `wait`.
  private static final class Order {
    int id;
    String target;
    int seconds;
    boolean wait;
  }

  private record Answer(int id, String answer, String error) {}

  private static final Gson JSON = new Gson();
  private static final MethodDescriptor<byte[], byte[]> ECHO = Bytes.method(MethodType.UNARY, "/suite.Echo/Call");

  private final int id;
  private String text;

  private Call(int id) {
    this.id = id;
  }

  static void run(Stream<String> lines) {
    Map<String, ManagedChannel> channels = new HashMap<>();
    lines.forEach(line -> {
      Order order = JSON.fromJson(line, Order.class);
      ManagedChannel channel = channels.computeIfAbsent(order.target, target -> Grpc.newChannelBuilder(target, InsecureChannelCredentials.create()).build());
      CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(order.seconds, TimeUnit.SECONDS);
      ClientCalls.asyncUnaryCall(channel.newCall(ECHO, order.wait ? options.withWaitForReady() : options), new byte[0], new Call(order.id));
    });
  }

  @Override
  public void onNext(byte[] answer) {
    text = new String(answer, StandardCharsets.UTF_8);
  }

  @Override
  public void onError(Throwable error) {
    Main.say(JSON.toJson(new Answer(id, null, error.getMessage())));
  }

  @Override
  public void onCompleted() {
    Main.say(JSON.toJson(new Answer(id, text, null)));
  }
}
