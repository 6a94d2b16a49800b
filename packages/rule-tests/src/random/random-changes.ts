import type { Cache } from "@xdstp/cache";
import type { Put, Removal } from "@xdstp/core";
import { bodyOf, typeUrls } from "./model-types.ts";
import { stored } from "./random-names.ts";
import type { Random } from "./random.ts";

/** Changes of a cache, and what is in it by them. */
export interface RandomChanges {
  /** Versions by type and name. */
  readonly truth: ReadonlyMap<string, Map<string, string>>;
  /** Puts and removes a few resources; one put in eight is bad. */
  commit(): void;
  /** Puts a good version of everything that is bad. */
  mend(): void;
}

/** Nothing but an empty transaction yet. */
export function createRandomChanges(cache: Cache, random: Random): RandomChanges {
  const truth = new Map(typeUrls.map((typeUrl) => [typeUrl, new Map<string, string>()]));
  let version = 0;
  cache.commit({});
  const put = (typeUrl: string, name: string, next: string): Put => {
    truth.get(typeUrl)?.set(name, next);
    return {
      typeUrl,
      resource: { name, version: next, payload: { typeUrl, value: bodyOf(name, next) } },
    };
  };
  return {
    truth,
    commit() {
      const puts = new Map<string, Put>();
      const removals = new Map<string, Removal>();
      for (let n = 1 + random.below(4); n > 0; n--) {
        const typeUrl = random.pick(typeUrls);
        const name = stored(random, typeUrl);
        const key = `${typeUrl} ${name}`;
        if (puts.has(key) || removals.has(key)) continue;
        if (random.below(3) > 0)
          puts.set(key, put(typeUrl, name, `v${++version}${random.below(8) === 0 ? "-bad" : ""}`));
        else {
          removals.set(key, { typeUrl, name });
          truth.get(typeUrl)?.delete(name);
        }
      }
      cache.commit({ put: [...puts.values()], remove: [...removals.values()] });
    },
    mend() {
      const bad = [...truth].flatMap(([typeUrl, names]) =>
        [...names].filter(([, held]) => held.endsWith("-bad")).map(([name]) => ({ typeUrl, name })),
      );
      for (const { typeUrl, name } of bad)
        cache.commit({ put: [put(typeUrl, name, `v${++version}`)] });
    },
  };
}
