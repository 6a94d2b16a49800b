import type { Snapshot, Watch, WatchOptions } from "@xdstp/client";
import { type GoCacheKind, type GoControlPlane, startGoControlPlane } from "./go-control-plane.ts";
import type { TestResource } from "./resources.ts";
import { until } from "./until.ts";
import { useXdsClient, type WordType, type XdsClient } from "./xds-client.ts";

/** Names, and what each says. */
export type Words = readonly (readonly [name: string, word: string])[];

/** A control plane built on go-control-plane, and our client of it. */
export interface GoWorld extends XdsClient {
  readonly server: GoControlPlane;
  readonly put: (...words: Words) => Promise<void>;
  readonly remove: (...names: readonly string[]) => Promise<void>;
  readonly watch: (name: string, options?: WatchOptions<string>) => Seen;
}

/** The newest snapshot of a watch. */
export interface Seen {
  readonly now: Snapshot<string> | undefined;
  /** The number of updates so far. */
  readonly updates: number;
  /** Resolves when it shows this; `undefined`: it has no value and an error. */
  shows(word: string | undefined): Promise<Snapshot<string>>;
  readonly watch: Watch<Snapshot<string>>;
}

/** SotW tells of an absent name by silence; so the tests do not wait for long. */
const fetchMs = 1_000;

/** Starts both, with resources of one type to begin with. */
export async function useGoWorld(
  command: string,
  kind: GoCacheKind,
  type: WordType,
  variant: "delta" | "sotw",
  words: Words,
): Promise<GoWorld> {
  const encoded = (more: Words): readonly TestResource[] =>
    more.map(([name, word]) => type.of(name, word));
  const server = await startGoControlPlane(command, kind, ...encoded(words));
  const { client, events } = useXdsClient(server.uri, { variant, fetchMs });
  return {
    server,
    client,
    events,
    put: (...more) => server.change(encoded(more)),
    remove: (...names) =>
      server.change(
        [],
        names.map((name) => type.of(name, "")),
      ),
    watch: (name, options = {}) => follow(client.watch(type.watched, name, options)),
  };
}

function follow(watch: Watch<Snapshot<string>>): Seen {
  let now: Snapshot<string> | undefined;
  let updates = 0;
  void (async () => {
    for await (const snapshot of watch) {
      now = snapshot;
      updates++;
    }
  })();
  return {
    watch,
    get now() {
      return now;
    },
    get updates() {
      return updates;
    },
    shows: (word) =>
      until(
        `${watch.name} shows ${String(word)}`,
        () => (now !== undefined && now.value === word ? now : undefined),
        () => now,
      ),
  };
}
