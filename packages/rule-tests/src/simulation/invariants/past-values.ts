import { nameKey } from "@xdstp/uri";

import type { Value } from "../sim-server.ts";

/** The values of the servers under each name and alias, with their times. */
export interface PastValues {
  note(server: string, values: readonly Value[]): void;
  /** Returns the texts of a server since that time, the text of that time included; undefined: no resource. */
  since(
    server: string,
    typeUrl: string,
    name: string,
    time: number,
  ): readonly (string | undefined)[];
}

interface Dated {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string | undefined;
}

/** Forgets the values that ended longer ago than `keptMs`. */
export function createPastValues(now: () => number, keptMs: number): PastValues {
  const values = new Map<string, Dated[]>();
  const keyOf = (server: string, typeUrl: string, name: string): string =>
    `${server} ${typeUrl} ${nameKey(name)}`;
  return {
    note(server, all) {
      for (const { typeUrl, name, text } of all) {
        const key = keyOf(server, typeUrl, name);
        const known = values.get(key) ?? [{ at: -Infinity, text: undefined }];
        values.set(key, [...from(known, now() - keptMs), { at: now(), text }]);
      }
    },
    since: (server, typeUrl, name, time) => {
      const known = values.get(keyOf(server, typeUrl, name));
      return known === undefined ? NOTHING : from(known, time).map(({ text }) => text);
    },
  };
}

const NOTHING = [undefined];

/** The last one that was there before, and all after it. */
function from(dated: readonly Dated[], time: number): readonly Dated[] {
  return dated.slice(
    Math.max(
      0,
      dated.findLastIndex(({ at }) => at <= time),
    ),
  );
}
