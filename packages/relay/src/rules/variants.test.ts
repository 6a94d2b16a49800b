import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld, type RelayWorld } from "../../test/relay-world.ts";
import { anyOf, type WireResource } from "../../../rollout/test/wire-bytes.ts";

const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);
const name = flagName("a");
const environments = ["prod", "test"] as const;

const is = (value: string): Uint8Array =>
  lengthDelimited(1, concatBytes([lengthDelimited(1, "env"), lengthDelimited(2, value)]));
const variant = (env: string, text: string): WireResource => ({
  name,
  version: `${env} ${text}`,
  any: anyOf(flagUrl, Buffer.from(text)),
  constraints: is(env),
});

interface ParameterClient {
  /** Reads the responses that have arrived, and accepts them. */
  take(): readonly WireResource[];
}

describe.each(ways)("%s upstream, %s downstream", (upstream, downstream) => {
  /** Clients of each environment. */
  const useClients = (world: RelayWorld): readonly ParameterClient[] =>
    environments.map((env) => {
      const client = world.connect(downstream, { id: env });
      const locators = [{ name, dynamicParameters: { env } }];
      client.send({
        typeUrl: flagUrl,
        ...(downstream === "delta"
          ? { resourceLocatorsSubscribe: locators }
          : { resourceLocators: locators }),
      });
      return {
        take: () =>
          client.read().flatMap(({ resources, nonce, version }) => {
            client.send({
              typeUrl: flagUrl,
              responseNonce: nonce,
              ...(downstream === "sotw" && { versionInfo: version, resourceLocators: locators }),
            });
            return resources;
          }),
      };
    });

  it("one name with several sets of parameters is asked upstream with each, and each client has its own variant, constraints included [B-DYN-6] [B-RELAY-1] [B-RELAY-3]", async () => {
    const world = useWorld({ upstream });
    const clients = useClients(world);
    await world.settle();
    const [request, ...more] = world.up.requests();
    expect([request?.names, more]).toEqual([[name, name], []]);
    expect(environments.filter((env) => Buffer.from(request?.bytes ?? []).includes(env))).toEqual(
      environments,
    );
    world.up.reply(flagUrl, { resources: environments.map((env) => variant(env, "1")) });
    await world.settle();
    expect(clients.map((client) => client.take())).toEqual(
      environments.map((env) => [variant(env, "1")]),
    );
  });

  it("a variant that changes goes to its own clients, and one who comes late is served his of what is held [B-DYN-6]", async () => {
    const world = useWorld({ upstream });
    const clients = useClients(world);
    await world.settle();
    world.up.reply(flagUrl, { resources: environments.map((env) => variant(env, "1")) });
    await world.settle();
    for (const client of clients) client.take();
    world.up.reply(flagUrl, { resources: [variant("test", "2")] });
    await world.settle();
    expect(clients.map((client) => client.take())).toEqual([[], [variant("test", "2")]]);
    world.up.requests();
    const late = useClients(world);
    await world.settle();
    expect(late.map((client) => client.take())).toEqual([
      [variant("prod", "1")],
      [variant("test", "2")],
    ]);
    expect(world.up.requests()).toEqual([]);
  });
});
