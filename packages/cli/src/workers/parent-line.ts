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

/** How a process talks with the one that has made it. */
export interface ParentLine {
  send(message: FromChild): void;
  /** Events of one turn go together. */
  tell(event: CliEvent): void;
  /** The client status of all processes. */
  collect(request: Uint8Array, peer: CallPeer): Promise<StatusAnswer>;
  /** Resolves when this process is to end in order. */
  readonly stopped: Promise<void>;
  /** Answers what is asked. */
  serve(answers: ChildAnswers): void;
}

/** What a process has to say when it is asked. */
export interface ChildAnswers {
  status(request: Uint8Array, peer: CallPeer, upstreams: readonly Health[]): Promise<StatusAnswer>;
  look(): Look;
  /** See the message of this kind. */
  health(): readonly Health[];
  /** Absent: it measures nothing. */
  metrics?(upstreams: readonly Health[]): string;
}

/** The line of this process. When the other side is closed, nothing could end this process any more: it ends by itself. */
export function openParentLine(): ParentLine {
  process.once("disconnect", () => {
    process.exit(1);
  });
  // Ctrl-C reaches all processes of a terminal; the one that has made them says when each ends.
  for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const)
    process.on(signal, () => undefined);
  // With a callback Node does not throw where the other end has just gone: `disconnect` follows.
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
