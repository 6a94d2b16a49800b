import { describe, expect, it } from "vitest";

import {
  createFakeClock,
  createMemoryStream,
  createRawDeltaClient,
  createRawDeltaServer,
  createRawSotwClient,
  createRawSotwServer,
  type RawMessages,
} from "@xdstp/testing";
import {
  createRecorder,
  createReplayServer,
  observeStream,
  type RecordedEvent,
  type Recording,
  replayClient,
  type ReplayClientEvent,
  type ReplayServerEvent,
} from "./index.ts";
import { messageOf } from "./replay-client.ts";

const T = "type.googleapis.com/acme.v1.Flag";
const resource = (
  name: string,
  text: string,
): NonNullable<RawMessages["delta"]["responseInit"]["resources"]>[number] => ({
  name,
  version: text,
  resource: { typeUrl: T, value: Uint8Array.from(Buffer.from(text)) },
});

/**
 * Records a delta stream: it subscribes to names, gets the responses of a script, and answers them.
 */
function record(
  play: (
    server: ReturnType<typeof createRawDeltaServer>,
    client: ReturnType<typeof createRawDeltaClient>,
  ) => void,
): Recording {
  const events: RecordedEvent[] = [];
  const recorder = createRecorder({
    variant: "delta",
    clock: createFakeClock(),
    write: (event) => {
      events.push(event);
    },
  });
  const server = createRawDeltaServer();
  const came: Uint8Array[] = [];
  const out = observeStream(server.connect, () => recorder.observe("a:1"))({
    onMessage: (message) => {
      came.push(Uint8Array.from(message));
    },
    onDrained: () => undefined,
    onClosed: () => undefined,
  });
  play(
    server,
    createRawDeltaClient(
      {
        send: (message) => {
          out.send(messageOf(message));
        },
        take: () => came.shift(),
      },
      { node: { id: "me" } },
    ),
  );
  return { variant: "delta", path: "/a.B/C", server: "a:1", node: "me", time: 0, events };
}

/** The client subscribes to a and b; then a changes. */
const story = (): Recording =>
  record((server, client) => {
    client.send({ typeUrl: T, resourceNamesSubscribe: ["a", "b"] });
    server.send({ typeUrl: T, nonce: "1", resources: [resource("a", "a1"), resource("b", "b1")] });
    client.ack(client.next());
    server.send({ typeUrl: T, nonce: "2", resources: [resource("a", "a2")] });
    client.ack(client.next());
  });

describe("createReplayServer()", () => {
  function serve(recording: Recording): {
    readonly events: ReplayServerEvent[];
    readonly connect: () => ReturnType<typeof createMemoryStream>;
  } {
    const events: ReplayServerEvent[] = [];
    const server = createReplayServer(recording, (event) => {
      events.push(event);
    });
    return { events, connect: () => createMemoryStream((out) => server.accept(out)) };
  }
  const names = (responses: readonly { readonly nonce: string }[]): readonly string[] =>
    responses.map(({ nonce }) => nonce);

  it("answers as recorded, once the client has said what stands before an answer, in however many requests", () => {
    const { connect, events } = serve(story());
    const stream = connect();
    const client = createRawDeltaClient(stream, { node: { id: "other" } });
    client.send({ typeUrl: T, resourceNamesSubscribe: ["b"] });
    expect(stream.unread).toBe(0);
    client.send({ typeUrl: T, resourceNamesSubscribe: ["a"] });
    const first = client.next();
    expect([first.nonce, stream.unread]).toEqual(["1", 0]);
    client.ack(first);
    client.ack(client.next());
    stream.end();
    expect(events.filter(({ kind }) => kind !== "request" && kind !== "response")).toEqual([
      { stream: 1, kind: "opened", plays: 1 },
      { stream: 1, kind: "closed", status: { code: 0, message: "" }, unplayed: 0, unsaid: [] },
    ]);
  });

  it("says what a client asks for that the recording has not, what it answers otherwise, and what it has not said", () => {
    const { connect, events } = serve(story());
    const stream = connect();
    const client = createRawDeltaClient(stream);
    client.send({ typeUrl: T, resourceNamesSubscribe: ["a", "b", "c"] });
    client.nack(client.next(), "no");
    client.send({ typeUrl: "type.googleapis.com/acme.v1.Other" });
    stream.cancel();
    expect(events.filter(({ kind }) => !["request", "response", "opened"].includes(kind))).toEqual([
      { stream: 1, kind: "unknown", type: T, what: ["c"] },
      { stream: 1, kind: "verdict", type: T, nonce: "1", recorded: undefined, now: "no" },
      { stream: 1, kind: "unknown", type: "type.googleapis.com/acme.v1.Other", what: ["*"] },
      {
        stream: 1,
        kind: "closed",
        status: { code: 1, message: "cancelled by the peer" },
        unplayed: 0,
        unsaid: ["an answer to nonce 2"],
      },
    ]);
  });

  it("ends a stream as the server did, and plays the next one to who comes back", () => {
    const one = record((server, client) => {
      client.send({ typeUrl: T, resourceNamesSubscribe: ["a"] });
      server.send({ typeUrl: T, nonce: "1", resources: [resource("a", "a1")] });
      server.close({ code: 14, message: "away" });
    });
    const two = record((server, client) => {
      client.send({ typeUrl: T, resourceNamesSubscribe: ["a"] });
      server.send({ typeUrl: T, nonce: "9", resources: [resource("a", "a9")] });
    });
    const { connect } = serve({
      ...one,
      events: [...one.events, ...two.events.map((event) => ({ ...event, stream: 2 }))],
    });
    const seen = [1, 2, 3].map(() => {
      const stream = connect();
      const client = createRawDeltaClient(stream);
      client.send({ typeUrl: T, resourceNamesSubscribe: ["a"] });
      return [...names(client.rest()), stream.closed?.code];
    });
    expect(seen).toEqual([
      ["1", 14],
      ["9", undefined],
      ["1", 14],
    ]);
  });

  it("follows all that a SotW client wants, request by request", () => {
    const events: RecordedEvent[] = [];
    const recorder = createRecorder({
      variant: "sotw",
      clock: createFakeClock(),
      write: (event) => {
        events.push(event);
      },
    });
    const server = createRawSotwServer();
    const came: Uint8Array[] = [];
    const out = observeStream(server.connect, () => recorder.observe("a:1"))({
      onMessage: (message) => {
        came.push(Uint8Array.from(message));
      },
      onDrained: () => undefined,
      onClosed: () => undefined,
    });
    const recorded = createRawSotwClient({
      send: (message) => {
        out.send(messageOf(message));
      },
      take: () => came.shift(),
    });
    recorded.send({ typeUrl: T, resourceNames: ["a"] });
    server.send({ typeUrl: T, nonce: "1", versionInfo: "1", resources: [] });
    recorded.ack(recorded.next());
    recorded.send({ typeUrl: T, resourceNames: ["a", "b"], responseNonce: "1", versionInfo: "1" });
    server.send({ typeUrl: T, nonce: "2", versionInfo: "2", resources: [] });
    const { connect } = serve({
      variant: "sotw",
      path: "/a.B/C",
      server: "",
      node: "",
      time: 0,
      events,
    });
    const stream = connect();
    const client = createRawSotwClient(stream);
    client.send({ typeUrl: T, resourceNames: ["a"] });
    client.ack(client.next());
    expect(stream.unread).toBe(0);
    client.send({ typeUrl: T, resourceNames: ["a", "b"], responseNonce: "1", versionInfo: "1" });
    expect(names(client.rest())).toEqual(["2"]);
  });

  it("ends a stream with bytes that are not a request", () => {
    const stream = serve(story()).connect();
    stream.send(Uint8Array.from([255]));
    expect(stream.closed?.code).toBe(3);
  });
});

describe("replayClient()", () => {
  /**
   * Plays the recording against a server that answers by hand: `answer` is called for each request.
   */
  async function play(
    answer: (
      server: ReturnType<typeof createRawDeltaServer>,
      request: ReturnType<ReturnType<typeof createRawDeltaServer>["next"]>,
      count: number,
    ) => void,
  ): Promise<{ readonly differences: number; readonly events: readonly ReplayClientEvent[] }> {
    const server = createRawDeltaServer();
    const clock = createFakeClock();
    const events: ReplayClientEvent[] = [];
    let count = 0;
    const done = replayClient({
      recording: story(),
      clock,
      answerMs: 100,
      open: (handler) => {
        const out = server.connect(handler);
        return {
          ...out,
          send: (message) => {
            out.send(message);
            const request = server.next();
            queueMicrotask(() => {
              answer(server, request, ++count);
            });
            return true;
          },
        };
      },
      onEvent: (event) => {
        events.push(event);
      },
    });
    const state = { over: false };
    void done.finally(() => {
      state.over = true;
    });
    while (!state.over) {
      await new Promise(setImmediate);
      clock.advance(100);
    }
    return { differences: await done, events };
  }
  const told = (events: readonly ReplayClientEvent[]): readonly ReplayClientEvent[] =>
    events.filter(({ kind }) => kind === "difference" || kind === "ended");

  it("finds nothing where a server gives the same under other nonces, in more responses", async () => {
    const answers: string[] = [];
    const { differences, events } = await play((server, { responseNonce }, count) => {
      answers.push(responseNonce);
      if (count === 1) server.send({ typeUrl: T, nonce: "x", resources: [resource("a", "a1")] });
      if (count === 2) server.send({ typeUrl: T, nonce: "y", resources: [resource("b", "b1")] });
      if (count === 3) server.send({ typeUrl: T, nonce: "z", resources: [resource("a", "a2")] });
    });
    expect([differences, told(events), answers]).toEqual([0, [], ["", "x", "y", "z"]]);
  });

  it("names what a server has otherwise, what it lacks and what it has too many, each once", async () => {
    const { differences, events } = await play((server, _, count) => {
      if (count === 1)
        server.send({
          typeUrl: T,
          nonce: "x",
          resources: [resource("a", "other"), resource("c", "c1")],
        });
    });
    expect(differences).toBe(4);
    expect(
      told(events).map((event) =>
        event.kind === "difference"
          ? [
              event.difference.name,
              event.difference.recorded?.version,
              event.difference.now?.version,
            ]
          : [],
      ),
    ).toEqual([
      ["a", "a1", "other"],
      ["b", "b1", undefined],
      ["c", undefined, "c1"],
      ["a", "a2", "other"],
    ]);
  });

  it("says that a stream ended which did not", async () => {
    const { differences, events } = await play((server) => {
      if (server.connected) server.close({ code: 16, message: "who are you?" });
    });
    expect([differences, told(events).at(-1)]).toEqual([
      3,
      { stream: 1, kind: "ended", recorded: undefined, now: { code: 16, message: "who are you?" } },
    ]);
  });
});
