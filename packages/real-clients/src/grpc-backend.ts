import { Server, ServerCredentials, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { onTestFinished } from "vitest";

/** The one method that gRPC clients of the suites call. */
export const echoPath = "/suite.Echo/Call";

/** Starts a gRPC server that answers each call with `text`, for the time of the test; resolves with its port. */
export async function useGrpcBackend(text: string): Promise<number> {
  const server = new Server();
  const bytes = (value: Buffer): Buffer => value;
  const call = {
    path: echoPath,
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  };
  const implementation: UntypedServiceImplementation = {
    call: (_: unknown, answer: (error: null, value: Buffer) => void) => {
      answer(null, Buffer.from(text));
    },
  };
  server.addService({ call }, implementation);
  onTestFinished(() => {
    server.forceShutdown();
  });
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
}
