import { StatusCode, type ByteStream, type ByteStreamHandler, type Status } from "@xdstp/core";

import { describeRequest, readRequest, type ReadRequest } from "./read-message.ts";
import { messageOf } from "./replay-client.ts";
import type { Recording, Variant } from "./recording.ts";
import {
  createFactReader,
  type FactReader,
  scriptsOf,
  type StreamScript,
  type TypeScript,
} from "./replay-script.ts";

/** An event of a replay server. `stream` is the number of the client's stream, from 1. */
export type ReplayServerEvent = { readonly stream: number } &
  /** A client has opened a stream. The server plays stream `plays` of the recording to it. */
  (
    | { readonly kind: "opened"; readonly plays: number }
    | { readonly kind: "request" | "response"; readonly type: string; readonly text: string }
    /**
     * The client sends something that the recording does not have. The server does not answer it.
     */
    | { readonly kind: "unknown"; readonly type: string; readonly what: readonly string[] }
    /**
     * The client answers a response differently than in the recording. `recorded` and `now` are the
     * error messages of the two answers; undefined means an ACK.
     */
    | {
        readonly kind: "verdict";
        readonly type: string;
        readonly nonce: string;
        readonly recorded: string | undefined;
        readonly now: string | undefined;
      }
    /**
     * The stream is over. `unplayed` is the number of responses that were not sent, because the
     * client did not send `unsaid`, which it sent before them in the recording.
     */
    | {
        readonly kind: "closed";
        readonly status: Status;
        readonly unplayed: number;
        readonly unsaid: readonly string[];
      }
  );

/**
 * Creates a server that answers as the server of a recording did. The server sends each response as
 * soon as the client has sent everything about its type that the recording has before that
 * response. The number and the times of the requests do not matter.
 *
 * The nonces are those of the recording.
 *
 * @param onEvent - Called with each event. It must not throw
 */
export function createReplayServer(
  recording: Recording,
  onEvent: (event: ReplayServerEvent) => void = () => undefined,
): {
  /**
   * Accepts one stream, as a server of byte streams does. The first stream gets the first stream of
   * the recording, the second the second, and so on; after the last one, the server begins with the
   * first again.
   */
  accept(out: ByteStream): ByteStreamHandler;
} {
  const scripts = scriptsOf(recording);
  let streams = 0;
  return {
    accept(out) {
      const script = scripts[streams % Math.max(1, scripts.length)] ?? {
        stream: 0,
        types: new Map(),
      };
      const stream = ++streams;
      onEvent({ stream, kind: "opened", plays: script.stream });
      return playStream({
        variant: recording.variant,
        script,
        out,
        tell: (event) => {
          onEvent({ stream, ...event });
        },
      });
    },
  };
}

type Untold<T> = T extends unknown ? Omit<T, "stream"> : never;

interface Play {
  readonly variant: Variant;
  readonly script: StreamScript;
  readonly out: ByteStream;
  readonly tell: (event: Untold<ReplayServerEvent>) => void;
}

function playStream(play: Play): ByteStreamHandler {
  const { variant, script, out, tell } = play;
  const types = new Map([...script.types].map(([type, own]) => [type, playType(play, type, own)]));
  const isDone = (): boolean =>
    types.values().every((type) => type.left().unplayed === 0 && type.left().unsaid.length === 0);
  return {
    onMessage(message) {
      const { type, text } = describeRequest(variant, message);
      tell({ kind: "request", type, text });
      const request = readOrNot(variant, message);
      if (request === undefined) {
        out.close({
          code: StatusCode.INVALID_ARGUMENT,
          message: "bytes that are not a discovery request",
        });
        return;
      }
      const known = types.get(type);
      if (known === undefined)
        tell({ kind: "unknown", type, what: request.names.length === 0 ? ["*"] : request.names });
      else known.take(request);
      if (script.end !== undefined && isDone()) out.close(script.end);
    },
    onDrained: () => undefined,
    onClosed(status) {
      const left = [...types.values()].map((type) => type.left());
      tell({
        kind: "closed",
        status,
        unplayed: left.reduce((sum, { unplayed }) => sum + unplayed, 0),
        unsaid: left.flatMap(({ unsaid }) => unsaid),
      });
    },
  };
}

function readOrNot(variant: Variant, message: Uint8Array): ReadRequest | undefined {
  try {
    return readRequest(variant, message);
  } catch {
    return undefined;
  }
}

interface PlayedType {
  take(request: ReadRequest): void;
  left(): { readonly unplayed: number; readonly unsaid: readonly string[] };
}

/**
 * Plays one type of a stream. It counts the facts: a fact that the recording has twice before a
 * response must be sent twice.
 */
function playType(
  { variant, out, tell }: Play,
  type: string,
  { steps, facts, verdicts }: TypeScript,
): PlayedType {
  const factsOf: FactReader = createFactReader(variant);
  const said = new Map<string, number>();
  const needed = new Map<string, number>();
  let at = 0;
  const isSaid = (own: readonly string[]): boolean =>
    own.every((fact) => (said.get(fact) ?? 0) > (needed.get(fact) ?? 0));
  /**
   * Returns true if all responses were sent. A client may then unsubscribe, because a recording
   * that was stopped before that does not have the request.
   */
  const isPlayed = (): boolean => steps.slice(at).every(({ kind }) => kind === "request");
  const go = (): void => {
    for (let step = steps[at]; step !== undefined; step = steps[++at]) {
      if (step.kind === "request") {
        if (!isSaid(step.facts)) return;
        for (const fact of step.facts) needed.set(fact, (needed.get(fact) ?? 0) + 1);
      } else {
        out.send(messageOf(step.message.bytes));
        tell({ kind: "response", type, text: step.message.text });
      }
    }
  };
  return {
    take(request) {
      const own = factsOf(request);
      for (const fact of own) said.set(fact, (said.get(fact) ?? 0) + 1);
      const unknown = own.filter(
        (fact) =>
          !facts.has(fact) && !fact.startsWith("=") && !(fact.startsWith("-") && isPlayed()),
      );
      if (unknown.length > 0) tell({ kind: "unknown", type, what: unknown.map(wordOf) });
      const { nonce, error } = request;
      const recorded = verdicts.get(nonce);
      if (verdicts.has(nonce) && (recorded === undefined) !== (error === undefined))
        tell({ kind: "verdict", type, nonce, recorded, now: error });
      go();
    },
    left() {
      const rest = steps.slice(at);
      const unsaid = rest.flatMap((step) =>
        step.kind === "request" ? step.facts.filter((fact) => !said.has(fact)) : [],
      );
      return {
        unplayed: rest.filter(({ kind }) => kind === "response").length,
        unsaid: unsaid.map(wordOf),
      };
    },
  };
}

function wordOf(fact: string): string {
  const rest = fact.slice(1);
  if (fact.startsWith("-")) return `the end of ${rest}`;
  return fact.startsWith("=") ? `an answer to nonce ${rest}` : rest;
}
