import { globOf, nameKey } from "@xdstp/uri";

import type { SimClient } from "../sim-client.ts";
import { typeUrls } from "../types.ts";
import type { Report } from "../violation.ts";
import type { World } from "../simulated-world.ts";
import type { Invariant } from "./invariant.ts";

/** Looks between two checks of the clients. */
const EVERY = 5;

/** Memory is bounded by subscriptions: in the caches of clients at any time, on servers when all is at rest. */
export function memoryFollowsInterest(world: World, report: Report): Invariant {
  const fail = (text: string): void => {
    report("memory is bounded by interest [B-RELAY-10] [S-STREAM-10]", text);
  };
  let looks = 0;
  return {
    onLook() {
      if (++looks % EVERY === 0)
        for (const client of world.clients) if (client !== undefined) checkClient(client, fail);
    },
    onRest() {
      for (const client of world.clients) if (client !== undefined) checkWants(client, fail);
      checkServers(world, fail);
    },
  };
}

function checkClient(client: SimClient, fail: (text: string) => void): void {
  const { cache, watched } = client;
  const keys = new Set(watched.values().map(({ typeUrl, name }) => `${typeUrl} ${nameKey(name)}`));
  for (const typeUrl of typeUrls) {
    for (const { name } of cache.held(typeUrl)) {
      const covers = [nameKey(name), globOf(name) ?? "*", "*"].some((key) =>
        keys.has(`${typeUrl} ${key}`),
      );
      if (
        !covers &&
        cache
          .topic(typeUrl, { name })
          .get(name)
          ?.resource?.aliases?.some((alias) => keys.has(`${typeUrl} ${nameKey(alias)}`)) !== true
      )
        fail(`${client.name} keeps ${name}, which it does not watch`);
    }
  }
}

function checkWants(client: SimClient, fail: (text: string) => void): void {
  const wanted = wantsOf(client);
  const { name, feed } = client;
  const known = feed.status().types.reduce((sum, { wants }) => sum + wants.length, 0);
  if (known !== wanted)
    fail(`the client end of ${name} knows of ${known} wants, and there are ${wanted}`);
}

/** Different things that it watches, however spelled (N-40). */
function wantsOf({ watched }: SimClient): number {
  return new Set(watched.values().map(({ typeUrl, name }) => `${typeUrl} ${nameKey(name)}`)).size;
}

/** A stream for each client that is connected, a topic for each thing that one of them wants. */
function checkServers({ servers, clients, network }: World, fail: (text: string) => void): void {
  for (const server of servers) {
    const open = network.connections.filter(
      (connection) => connection.isOpen("server") && connection.address.startsWith(server.name),
    ).length;
    if (server.streams.size > open)
      fail(`${server.name} keeps ${server.streams.size} streams, of which ${open} are open`);
    const wanted = clients
      .filter((client) => client?.shape.origin === servers.indexOf(server))
      .reduce((sum, client) => sum + (client === undefined ? 0 : wantsOf(client)), 0);
    if (server.cache.counters.topics > wanted)
      fail(
        `${server.name} keeps ${server.cache.counters.topics} topics, and ${wanted} things are wanted of it`,
      );
  }
}
