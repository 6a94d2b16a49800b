package peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

/**
 * The xDS of Java, as suites use it: a client of grpc-java.
 *
 * <pre>
 * call               a gRPC client
 * pump TARGET PATH   the messages of a stream, whatever they are
 * version            the library it is built of
 * </pre>
 *
 * The first two read lines on standard input and write lines on standard output; they end with their input.
 */
public final class Main {
  private Main() {}

  public static void main(String[] args) throws IOException {
    switch (args.length == 0 ? "" : String.join(" ", args[0], String.valueOf(args.length))) {
      case "call 1" -> Call.run(lines());
      case "pump 3" -> Pump.run(args[1], args[2], lines());
      case "version 1" -> System.out.println("grpc-java " + io.grpc.ManagedChannel.class.getPackage().getImplementationVersion());
      default -> {
        System.err.println("call, pump TARGET PATH, or version");
        System.exit(2);
      }
    }
    System.exit(0);
  }

  private static Stream<String> lines() {
    return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines();
  }

  /** Writes one line. */
  static void say(String line) {
    System.out.println(line);
  }
}
