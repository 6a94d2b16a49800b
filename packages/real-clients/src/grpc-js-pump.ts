// The messages of one stream at a time, by grpc-js: `open` begins a stream, any other line is a message in base64. Each message that comes is a line too, and `ended ...` is the end of a stream.
import { createInterface } from "node:readline";
import { type ClientDuplexStream, Client, Metadata, credentials } from "@grpc/grpc-js";

const [target = "", path = ""] = process.argv.slice(2);
const client = new Client(target, credentials.createInsecure(), {
  "grpc.max_receive_message_length": -1,
});
const bytes = (value: Buffer): Buffer => value;

function open(): ClientDuplexStream<Buffer, Buffer> {
  const stream = client.makeBidiStreamRequest(
    path,
    bytes,
    bytes,
    new Metadata({ waitForReady: true }),
  );
  stream.on("data", (message: Buffer) => {
    console.log(message.toString("base64"));
  });
  let isOver = false;
  // grpc-js reports the end of a call that failed as well.
  const end = (line: string): void => {
    if (!isOver) console.log(line);
    isOver = true;
  };
  stream.on("error", (error: Error) => {
    end(`ended ${JSON.stringify(error.message)}`);
  });
  stream.on("end", () => {
    end("ended");
  });
  return stream;
}

let stream: ClientDuplexStream<Buffer, Buffer> | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "open") stream = open();
  else stream?.write(Buffer.from(line, "base64"));
}
process.exit();
