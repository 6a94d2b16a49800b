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

describe("a byte stream over WebSocket", () => {
  it.each(cases)("$title", async ({ run }) => {
    await run();
  });
});

it("carries the delta variant between a server and a client, over a loss of the connection", async () => {
  const lines: string[] = [];
  await runTour((line) => {
    lines.push(line);
  });
  expect(lines).toEqual(["web: 1 s", "web: 2 s", "-- the connection is lost", "web: 3 s"]);
});
