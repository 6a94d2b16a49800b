package peer;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Hands bytes on as they are. */
final class Bytes implements Marshaller<byte[]> {
  /** A method whose messages are bytes; its path begins with a slash. */
  static MethodDescriptor<byte[], byte[]> method(MethodType type, String path) {
    Bytes bytes = new Bytes();
    return MethodDescriptor.newBuilder(bytes, bytes).setType(type).setFullMethodName(path.substring(1)).build();
  }

  @Override
  public InputStream stream(byte[] value) {
    return new ByteArrayInputStream(value);
  }

  @Override
  public byte[] parse(InputStream stream) {
    try {
      return stream.readAllBytes();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
