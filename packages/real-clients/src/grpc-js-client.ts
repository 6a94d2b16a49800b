// A gRPC client in JavaScript. For each line of JSON on standard input one call, and one line of JSON on standard output when it is over.
import { createInterface } from "node:readline";
import { Client, Metadata, credentials } from "@grpc/grpc-js";
import { register } from "@grpc/grpc-js-xds";

interface Call {
  readonly id: number;
  readonly target: string;
  readonly seconds: number;
  readonly wait: boolean;
}

register();
const clients = new Map<string, Client>();
const bytes = (value: Buffer): Buffer => value;

for await (const line of createInterface({ input: process.stdin })) begin(JSON.parse(line) as Call);
process.exit();

function begin({ id, target, seconds, wait }: Call): void {
  const client = clients.get(target) ?? new Client(target, credentials.createInsecure());
  clients.set(target, client);
  const options = { deadline: Date.now() + 1000 * seconds };
  client.makeUnaryRequest(
    "/suite.Echo/Call",
    bytes,
    bytes,
    Buffer.alloc(0),
    new Metadata({ waitForReady: wait }),
    options,
    (error, answer) => {
      console.log(
        JSON.stringify({
          id,
          ...(error === null ? { answer: String(answer) } : { error: error.message }),
        }),
      );
    },
  );
}
