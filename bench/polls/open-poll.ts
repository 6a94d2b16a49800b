import { connect, type Socket } from "node:net";
import type { PollScenario } from "./poll-scenario.ts";
import { wireOf } from "./poll-wire.ts";
import { readHttpAnswer } from "./read-http-answer.ts";

/** The listener of a client. */
export interface PollHost {
  /** The poll of a round has ended as it has to. */
  readonly read: (bytes: number) => void;
  /** The connection has ended, or an answer is not one of the protocol. */
  readonly lost: (error: Error) => void;
}

/** A client with a connection of its own. */
export interface PollClient {
  readonly socket: Socket;
  /** Sends the next poll. A client whose polls wait does it by itself. */
  readonly poll: () => void;
}

/** Opens a client, whose first poll is sent at once. It costs less than `fetch`. */
export function openPoll(
  { port, client }: { readonly port: number; readonly client: number },
  scenario: PollScenario,
  { read, lost }: PollHost,
): PollClient {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const wire = wireOf(scenario);
  let state = "";
  let isFirst = true;
  let input: Buffer = Buffer.alloc(0);
  const poll = (): void => {
    socket.write(wire.request(client, state));
  };
  socket.on("connect", poll);
  socket.on("data", (chunk: Buffer) => {
    input = input.length === 0 ? chunk : Buffer.concat([input, chunk]);
    const answer = readHttpAnswer(input);
    if (answer === undefined) return;
    const { length } = input;
    input = Buffer.alloc(0);
    const due = scenario.ending === "unchanged" && !isFirst ? 304 : 200;
    if (answer.status === 200) state = wire.stateOf(answer);
    else if (answer.status !== 304) lost(new Error(`a poll has status ${answer.status}`));
    if (answer.status !== due) {
      // A server under load may have answered before it had the new state.
      poll();
      return;
    }
    isFirst = false;
    read(length);
    if (scenario.ending === "change-while-waiting") poll();
  });
  socket.on("error", lost);
  socket.on("close", () => {
    lost(new Error("a connection has ended"));
  });
  return { socket, poll };
}
