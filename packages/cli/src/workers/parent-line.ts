import type { CallPeer } from "@xdstp/grpc/server";
import type { Health } from "@xdstp/server";
import type { CliEvent } from "../cli-event.ts";
import {
  type FromChild,
  type Look,
  plainEvent,
  type StatusAnswer,
  type ToChild,
} from "./messages.ts";

/** The connection of a process to its parent. */
export interface ParentLine {
  send(message: FromChild): void;
  /** Reports an event. The events of one turn of the event loop are sent in one message. */
  tell(event: CliEvent): void;
  /** Returns the client status of all processes. */
  collect(request: Uint8Array, peer: CallPeer): Promise<StatusAnswer>;
  /** Resolves when the parent requests that this process ends. */
  readonly stopped: Promise<void>;
  /** Answers the requests of the parent. */
  serve(answers: ChildAnswers): void;
}

/** The answers of a process to the requests of its parent. */
export interface ChildAnswers {
  status(request: Uint8Array, peer: CallPeer, upstreams: readonly Health[]): Promise<StatusAnswer>;
  look(): Look;
  /** Returns the rows of a `health` message. */
  health(): readonly Health[];
  /** Returns the metrics of the process. Absent: it measures nothing. */
  metrics?(upstreams: readonly Health[]): string;
}

/** Opens the connection of this process. When the parent has ended, nothing could stop this process any more, so it exits. */
export function openParentLine(): ParentLine {
  process.once("disconnect", () => {
    process.exit(1);
  });
  // Ctrl-C sends a signal to all processes of a terminal. The parent decides when each of them ends, so they ignore it.
  for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const)
    process.on(signal, () => undefined);
  // With a callback, `send` does not throw an error if the parent has just ended; `disconnect` follows.
  const send = (message: FromChild): void => {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  };
  const listen = (listener: (message: ToChild) => void): void => {
    process.on("message", listener);
  };
  const waiting = new Map<number, (answer: StatusAnswer) => void>();
  let events: CliEvent[] = [];
  let asked = 0;
  listen((message) => {
    if (message.kind !== "collected") return;
    waiting.get(message.id)?.(message.answer);
    waiting.delete(message.id);
  });
  return {
    send,
    tell(event) {
      if (events.push(plainEvent(event)) > 1) return;
      setImmediate(() => {
        send({ kind: "events", events });
        events = [];
      });
    },
    collect: async (request, peer) =>
      new Promise((resolve) => {
        const id = asked++;
        waiting.set(id, resolve);
        send({ kind: "collect", id, request, peer });
      }),
    stopped: new Promise((resolve) => {
      listen((message) => {
        if (message.kind === "stop") resolve();
      });
    }),
    serve(answers) {
      listen((message) => {
        if (message.kind === "look") send({ kind: "look", look: answers.look() });
        if (message.kind === "health") send({ kind: "health", rows: answers.health() });
        if (message.kind === "metrics")
          send({ kind: "metrics", text: answers.metrics?.(message.upstreams) ?? "" });
        if (message.kind === "status")
          void answers.status(message.request, message.peer, message.upstreams).then((answer) => {
            send({ kind: "status", id: message.id, answer });
          });
      });
    },
  };
}
