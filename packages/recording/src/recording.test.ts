import { create, toBinary } from "@bufbuild/protobuf";
import type { ByteStream, ByteStreamHandler } from "@xdstp/core";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";

import { createFakeClock, createRawDeltaServer } from "@xdstp/testing";
import {
  createRecorder,
  formatRecording,
  observeStream,
  parseRecording,
  type RecordedEvent,
  type Recording,
} from "./index.ts";
import { redactResponse } from "./redact-response.ts";
import { messageOf } from "./replay-client.ts";
import { readResponse } from "./read-message.ts";

const T = "type.googleapis.com/acme.v1.Flag";
const payload = (text: string): { readonly typeUrl: string; readonly value: Uint8Array } => ({
  typeUrl: T,
  value: Uint8Array.from(Buffer.from(text)),
});

/** The messages of a small delta client and its server. */
function record(): Recording {
  const clock = createFakeClock();
  const events: RecordedEvent[] = [];
  const recorder = createRecorder({
    variant: "delta",
    clock,
    write: (event) => {
      events.push(event);
    },
  });
  const server = createRawDeltaServer();
  const heard: string[] = [];
  const handler: ByteStreamHandler = {
    onMessage: (message) => {
      heard.push(Buffer.from(message).toString("latin1"));
    },
    onDrained: () => undefined,
    onClosed: () => {
      heard.push("closed");
    },
  };
  const out: ByteStream = observeStream(server.connect, () => recorder.observe("a:1"))(handler);
  out.send(messageOf(Uint8Array.from([])));
  clock.advance(5);
  server.send({
    typeUrl: T,
    nonce: "1",
    systemVersionInfo: "v",
    resources: [{ name: "a", version: "1", resource: payload("x") }],
    removedResources: ["b"],
  });
  server.close({ code: 14, message: "gone" });
  expect(heard).toHaveLength(2);
  return { variant: "delta", path: "/a.B/C", server: "a:1", node: "me", time: 1_000, events };
}

describe("a recording", () => {
  it("holds every message of both sides in their order, in short and as its bytes, and who ended the stream", () => {
    const { events } = record();
    expect(
      events.map((event) => [event.at, event.kind, "text" in event ? event.text : ""]),
    ).toEqual([
      [0, "open", ""],
      [0, "request", "subscribes to everything"],
      [5, "response", "version v; 1 resource (a); removed b"],
      [5, "end", ""],
    ]);
    expect(events.at(-1)).toMatchObject({ by: "server", status: { code: 14, message: "gone" } });
  });

  it("is the same after it was written and read, and lacks a line that was cut off", () => {
    const recording = record();
    const text = formatRecording(recording);
    expect(parseRecording(text)).toEqual(recording);
    expect(parseRecording(text.slice(0, -10)).events).toEqual(recording.events.slice(0, -1));
  });

  it.each([
    ["", "f: is empty; give what `xdstp record` has written"],
    ["{}\n", 'f:1: is not a first line of a recording, which has "xdstp":"recording"'],
    ['{"xdstp":"recording","format":2}\n', "f:1: has the format 2; this version reads 1"],
    [
      '{"xdstp":"recording","format":1,"variant":"rest"}\n',
      'f:1: needs "variant":"delta" or "sotw"',
    ],
    [
      '{"xdstp":"recording","format":1,"variant":"delta","time":"","path":"/a.B/C","server":"","node":""}\n{"at":1,"stream":1,"kind":"response","type":"","nonce":"","text":"","bytes":"?"}\n',
      'f:2: "bytes" is not valid base64',
    ],
    [
      '{"xdstp":"recording","format":1,"variant":"delta","time":"","path":"/a.B/C","server":"","node":""}\nno\n',
      "f:2: is not a JSON object",
    ],
  ])("that is broken is rejected with its line: %j", (text, problem) => {
    expect(() => parseRecording(text, "f")).toThrow(problem);
  });
});

describe("redactResponse()", () => {
  const hide = ({
    typeUrl,
  }: {
    readonly typeUrl: string;
  }): { readonly typeUrl: string; readonly value: Uint8Array } => ({
    typeUrl,
    value: Uint8Array.from([9]),
  });

  it("replaces payloads and nothing else, in wrappers too", () => {
    const wrapped = {
      typeUrl: "type.googleapis.com/envoy.service.discovery.v3.Resource",
      value: toBinary(
        ResourceSchema,
        create(ResourceSchema, { name: "a", version: "1", resource: payload("x") }),
      ),
    };
    const delta = toBinary(
      DeltaDiscoveryResponseSchema,
      create(DeltaDiscoveryResponseSchema, {
        typeUrl: T,
        nonce: "n",
        resources: [{ name: "a", version: "1", resource: payload("x") }],
      }),
    );
    const sotw = toBinary(
      DiscoveryResponseSchema,
      create(DiscoveryResponseSchema, { typeUrl: T, nonce: "n", resources: [wrapped] }),
    );
    for (const [variant, bytes] of [
      ["delta", delta],
      ["sotw", sotw],
    ] as const) {
      const { nonce, resources } = readResponse(variant, redactResponse(variant, bytes, hide));
      expect({ nonce, resources }).toEqual({
        nonce: "n",
        resources: [{ name: "a", version: "1", type: T, payload: Uint8Array.from([9]) }],
      });
      expect(redactResponse(variant, bytes, (same) => same)).toBe(bytes);
    }
  });

  it("leaves out what it cannot read", () => {
    expect(redactResponse("delta", Uint8Array.from([255]), hide)).toEqual(new Uint8Array());
  });
});
