import { checkByteStream } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { useSockets } from "../../test/use-sockets.ts";
import { streamOver } from "./socket-stream.ts";

const cases = checkByteStream(async (accept) => {
  const sockets = useSockets((_path, out) => accept(out));
  return Promise.resolve({
    open: (handler) => streamOver(sockets.connect("wss://acme.example/x"), handler),
    cut: () => {
      sockets.cut();
    },
    close: async () => Promise.resolve(),
  });
});

/** The cases for parts that the `WebSocket` of browsers does not have. */
const skipped: Readonly<Record<string, unknown>> = {
  "nothing is read between pause and resume, and nothing is lost": "the wire cannot pause",
  "a server whose peer does not read is asked to wait, and continues when it reads":
    "the wire cannot pause",
  "a client whose peer does not read is asked to wait, and continues when it reads":
    "the wire cannot pause",
  "a probe is answered at most once, and says whether the peer is idle": "the wire cannot probe",
};

describe("a byte stream over a WebSocket", () => {
  it.each(cases)("$title", async ({ name, check }) => {
    const reason = skipped[name];
    expect(await check()).toEqual(
      reason === undefined ? { kind: "passed" } : { kind: "skipped", reason },
    );
  });
});
