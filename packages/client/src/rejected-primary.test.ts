import type { RawServer } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { redirect, type SentResource } from "../test/lists.ts";
import { flag, flagUrl, turn, useDeltaScript, type Script } from "../test/use-script.ts";

const named = (authority: string, id = "x"): string => `xdstp://${authority}/acme.v1.Flag/${id}`;
const NAME = `${named("a")}#alt=${named("b")}`;

/** `s0` is the server of authority a, and `s1` of b. b replaces a as soon as a is unreachable. */
function useTwo(): Script<RawServer<"delta">> {
  const server = (uri: string): object => ({
    xds_servers: [{ server_uri: uri, channel_creds: [{ type: "insecure" }] }],
  });
  return useDeltaScript(
    {
      altOnUnreachable: () => true,
      bootstrapMore: { authorities: { a: server("s0"), b: server("s1") } },
    },
    2,
  );
}

function flagOf(name: string, text: string, typeUrl = flagUrl): SentResource {
  return { name, version: text, resource: { typeUrl, value: Buffer.from(text) } };
}

let nonce = 0;

/** Sends resources, and returns true if the client rejected them. */
async function give(
  server: RawServer<"delta">,
  resources: readonly SentResource[],
  removedResources: readonly string[] = [],
): Promise<boolean> {
  await turn();
  server.rest();
  server.send({
    typeUrl: flagUrl,
    nonce: String(++nonce),
    resources: [...resources],
    removedResources: [...removedResources],
  });
  await turn();
  return server.rest().some(({ errorDetail }) => errorDetail !== undefined);
}

async function asked(server: RawServer<"delta"> | undefined): Promise<readonly string[]> {
  await turn();
  return server?.rest().flatMap(({ resourceNamesSubscribe }) => resourceNamesSubscribe) ?? [];
}

describe("an alternative of what a live server gives", () => {
  it.each<[string, SentResource]>([
    ["a flag that is rejected", flagOf(named("a"), "broken")],
    ["another type", flagOf(named("a"), "on", "type.googleapis.com/acme.v1.Other")],
    ["a redirect to a glob", redirect(named("a"), named("a", "ns/*"))],
  ])(
    "is not asked for %s; the error is told, and the alternative is asked when the server is down [C-ALT-2, C-ALT-3, C-ACK-3]",
    async (_, resource) => {
      const { client, clock, server, servers } = useTwo();
      const seen: (string | undefined)[] = [];
      void (async () => {
        for await (const { value, error } of client.watch(flag, NAME))
          seen.push(value ?? error?.code);
      })();
      expect([await give(server, [resource]), await asked(servers[1]), seen]).toEqual([
        true,
        [],
        ["INVALID_ARGUMENT"],
      ]);
      server.close({ code: 14, message: "a is away" });
      clock.advance(5_000);
      await turn();
      server.close({ code: 14, message: "a is away" });
      expect(await asked(servers[1])).toEqual([named("b")]);
    },
  );

  it("is not asked for what is removed, and kept with the error beside it [C-ALT-2, C-GRPC-9]", async () => {
    const { client, server, servers } = useTwo();
    const seen: (string | undefined)[] = [];
    void (async () => {
      for await (const { value, error } of client.watch(flag, NAME))
        seen.push(`${value} ${error?.code}`);
    })();
    await give(server, [flagOf(named("a"), "on")]);
    await give(server, [], [named("a")]);
    expect([await asked(servers[1]), seen]).toEqual([[], ["on undefined", "on NOT_FOUND"]]);
  });

  it("is not asked for a glob of which one member is rejected [C-ALT-3, C-ALT-7]", async () => {
    const { client, server, servers } = useTwo();
    const watch = client.watchAll(flag, `${named("a", "ns/*")}#alt=${named("b", "ns/*")}`);
    await give(
      server,
      ["m", "n"].map((id) => flagOf(named("a", `ns/${id}`), id)),
    );
    await watch[Symbol.asyncIterator]().next();
    expect([
      await give(server, [flagOf(named("a", "ns/n"), "broken")]),
      await asked(servers[1]),
    ]).toEqual([true, []]);
    expect([...watch.members.values()].map(({ value }) => value)).toEqual(["m", "n"]);
  });
});
