import { once } from "node:events";
import { connect, createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { probeSession } from "./probe-session.ts";

test("a session that is destroyed is not probed, and nothing is thrown", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
  });
  await once(server, "listening");
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.destroy();
  });
  const [session] = (await once(server, "session")) as [ServerHttp2Session];
  session.destroy();
  const counted: string[] = [];
  const meter = {
    sentBytes: 0,
    receivedBytes: 0,
    pinged: () => {
      counted.push("ping");
    },
    settled: () => {
      counted.push("settings");
    },
  };
  probeSession(session, meter, () => {
    counted.push("answer");
  });
  expect(counted).toEqual([]);
});
