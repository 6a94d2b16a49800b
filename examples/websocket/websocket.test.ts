import { checkByteStream } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { runTour } from "./run-tour.ts";
import { listenForWebSockets } from "./websocket-server.ts";
import { streamOver } from "./websocket-stream.ts";

const cases = checkByteStream(
  async (accept) => {
    const listener = await listenForWebSockets((_path, _peer, out) => accept(out));
    return {
      open: (handler) => streamOver(new WebSocket(`${listener.url}/x`), handler),
      cut: () => {
        for (const socket of listener.sockets) socket.terminate();
      },
      close: () => listener.close(),
    };
  },
  { largeBytes: 4 << 20, unreadBytes: 16 << 20 },
);

// The `WebSocket` of browsers has neither.
const noPause = { kind: "skipped", reason: "the wire cannot pause" };
const noProbe = { kind: "skipped", reason: "the wire cannot probe" };
const skipped: Readonly<Record<string, unknown>> = {
  "nothing is read between pause and resume, and nothing is lost": noPause,
  "a server whose peer does not read is asked to wait, and continues when it reads": noPause,
  "a client whose peer does not read is asked to wait, and continues when it reads": noPause,
  "a probe is answered at most once, and says whether the peer is idle": noProbe,
};

describe("a byte stream over WebSocket", () => {
  it.each(cases)("$title", async ({ name, check }) => {
    expect(await check()).toEqual(skipped[name] ?? { kind: "passed" });
  });
});

it("carries the delta variant between a server and a client, over a loss of the connection", async () => {
  const lines: string[] = [];
  await runTour((line) => {
    lines.push(line);
  });
  expect(lines).toEqual(["web: 1 s", "web: 2 s", "-- the connection is lost", "web: 3 s"]);
});
