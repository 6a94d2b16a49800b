import { createSeededRandom, type SeededRandom } from "@xdstp/testing";
import { expect, it } from "vitest";

import { scene } from "../../test/scene.ts";
import { createStoreServer, type StoreServer } from "../../test/store-server.ts";
import { turn } from "../../test/turn.ts";
import { explain, sourcesBeside, type FederationSource } from "../index.ts";

const seeds = Math.max(100, Math.round(10_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000_000);
const AUTHORITIES = ["a", "b", "c", ""];

interface Configured {
  readonly servers: readonly StoreServer[];
  readonly sources: readonly FederationSource[];
  readonly ownSource: FederationSource | undefined;
  readonly name: string;
}

/** Creates unreachable servers, so that all servers that may be used are used. */
function configured(random: SeededRandom): Configured {
  const servers = Array.from({ length: 6 }, (_, index) => createStoreServer(`s${index}`));
  for (const server of servers) server.fail(`${server.id} is down`);
  const some = (): readonly StoreServer[] =>
    Array.from({ length: random.between(1, 2) }, () => random.pick(servers));
  const authorities = (least: number): readonly string[] =>
    Array.from({ length: random.between(least, 2) }, () => random.pick(AUTHORITIES));
  const listed = Array.from({ length: random.between(1, 3) }, () => ({
    servers: some(),
    authorities: authorities(1),
    reachabilityOnly: random.once(4),
  }));
  return {
    servers,
    name: random.once(6) ? "opaque" : locatorOf(random, 0),
    sources: [
      ...listed,
      ...(random.once(2) ? [{ servers: some(), opaque: true }] : []),
      ...(random.once(2) ? [{ servers: some() }] : []),
    ],
    ownSource: random.once(2) ? { servers: some(), authorities: authorities(0) } : undefined,
  };
}

function locatorOf(random: SeededRandom, depth: number): string {
  const name = `xdstp://${random.pick(AUTHORITIES)}/t.T/x${depth}`;
  return depth < 3 && random.once(2)
    ? `${name}#alt=${encodeURIComponent(locatorOf(random, depth + 1))}`
    : name;
}

it(`names the very servers that a federation asks, each for the very name, beside a ConfigSource too (${seeds} new seeds) [C-AUTH-1, C-AUTH-3, C-AUTH-4, C-ALT-5]`, async () => {
  console.log(`explain: seeds from ${firstSeed} on`);
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const { servers, sources, ownSource, name } = configured(createSeededRandom(seed));
    const said = explain(sources, name, ownSource === undefined ? {} : { ownSource }).flatMap(
      (place) => place.servers.map(({ id }) => `${id} ${place.name}`),
    );
    const { watch } = await scene([], {
      sources:
        ownSource === undefined
          ? sources
          : (sourcesBeside(sources, name, ownSource)?.sources ?? sources),
    });
    const watched = watch(name);
    for (let turns = 0; turns < 8; turns++) await turn();
    const asked = servers.flatMap(({ id, wanted }) => wanted.map((one) => `${id} ${one}`));
    expect([seed, ...asked.sort()]).toEqual([seed, ...[...new Set(said)].sort()]);
    watched.close();
  }
});
