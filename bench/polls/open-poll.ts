import { connect, type Socket } from "node:net";
import { pollPath } from "./poll-server.ts";
import { readHttpAnswer } from "./read-http-answer.ts";

/** The listener of a client. */
export interface PollHost {
  /** An answer was read; the next poll is sent. */
  readonly read: (bytes: number) => void;
  /** The connection has ended, or an answer is not a resource. */
  readonly lost: (error: Error) => void;
}

/** Opens a client with a connection of its own, which always has one request waiting. It costs less than `fetch`. */
export function openPoll(port: number, { read, lost }: PollHost): Socket {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const send = (query: string): void => {
    socket.write(`GET ${pollPath}?${query}form=protobuf HTTP/1.1\r\nhost: bench\r\n\r\n`);
  };
  let input: Buffer = Buffer.alloc(0);
  socket.on("connect", () => {
    send("");
  });
  socket.on("data", (chunk: Buffer) => {
    input = input.length === 0 ? chunk : Buffer.concat([input, chunk]);
    const answer = readHttpAnswer(input);
    if (answer === undefined) return;
    if (answer.status !== 200) lost(new Error(`a poll has status ${answer.status}`));
    read(input.length);
    input = Buffer.alloc(0);
    send(`after=${answer.version}&at=${answer.position}&`);
  });
  socket.on("error", lost);
  socket.on("close", () => {
    lost(new Error("a connection has ended"));
  });
  return socket;
}
