import { describe, expect, it } from "vitest";

import { flag, flagUrl, turn, useSotwScript } from "../test/use-script.ts";
import { parseBootstrap, serverListenerName } from "./index.ts";

describe("the listener of a server", () => {
  it("names what may be missing for ever and come at any time: the watch goes on [C-GRPC-17, C-MISS-5]", async () => {
    const { client, server, clock } = useSotwScript();
    const said: string[] = [];
    const name = serverListenerName(
      parseBootstrap({
        xds_servers: [{ server_uri: "s", channel_creds: [{ type: "insecure" }] }],
        server_listener_resource_name_template: "server/%s",
      }),
      "0.0.0.0:80",
    );
    client.watch(
      { ...flag, decode: (payload) => Buffer.from(payload).toString("latin1").slice(2) },
      name,
      {
        onChanged: ({ value, error }) => {
          said.push(value ?? error?.code ?? "");
        },
      },
    );
    await turn();
    clock.advance(15_000);
    await turn();
    clock.advance(3_600_000);
    server.send({
      typeUrl: flagUrl,
      versionInfo: "1",
      nonce: "1",
      resources: [
        {
          typeUrl: flagUrl,
          value: Buffer.concat([Buffer.from([10, name.length]), Buffer.from(name)]),
        },
      ],
    });
    await turn();
    expect(said).toEqual(["NOT_FOUND", name]);
  });
});
