import { createCache, type Cache } from "@xdstp/cache";
import {
  encodeConstraints,
  forwardSource,
  type Entry,
  type ResourceSource,
  type Topic,
  type Watcher,
  XdsError,
} from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { type ChangeablePolicy, createPolicy } from "./policy.ts";
import { filterSource, type FilteredSource } from "./filter-source.ts";

const TYPE = "type.googleapis.com/test.Thing";
const GLOB = "xdstp://a/test.Thing/p/*";
const noSubscribers: Watcher = { wake: () => undefined };

interface Setup {
  readonly cache: Cache;
  readonly policy: ChangeablePolicy;
  readonly filter: FilteredSource;
  readonly put: (name: string, text?: string) => void;
  readonly watched: (name: string) => Topic;
}

/** A filter that hides names with "secret" in them. */
function setup(allows: (name: string) => boolean = (name) => !name.includes("secret")): Setup {
  const cache = createCache();
  cache.commit({});
  const policy = createPolicy({ key: "k", allows: (_, name) => allows(name) });
  const filter = filterSource(cache, policy);
  return {
    cache,
    policy,
    filter,
    put(name, text = "") {
      cache.put({ typeUrl: TYPE, name, value: Buffer.from(text) });
    },
    watched(name) {
      const topic = filter.topic(TYPE, { name });
      topic.watch(noSubscribers);
      return topic;
    },
  };
}

it("says of a revision what its source says: whether it may have changed something", () => {
  const policy = createPolicy({ key: "k", allows: () => true });
  const source = forwardSource(createCache(), { changedBy: (revision) => revision > 4 });
  expect([4, 5].map((revision) => filterSource(source, policy).changedBy?.(revision))).toEqual([
    false,
    true,
  ]);
  expect(filterSource(createCache(), policy).changedBy?.(4)).toBe(true);
});

const namesOf = (entries: readonly Entry[] | undefined): readonly string[] =>
  (entries ?? []).map(({ name, resource }) => (resource === undefined ? `-${name}` : name));

describe("filterSource()", () => {
  it("answers a forbidden name as one that does not exist, whether it does or not, and never asks for it behind [S-LIM-8]", () => {
    const { cache, put, watched } = setup();
    put("secret");
    const [there, missing] = [watched("secret"), watched("secret-none")];
    for (const topic of [there, missing])
      expect({
        settled: topic.settled,
        members: namesOf(topic.members()),
        hash: topic.hash,
      }).toEqual({ settled: true, members: [`-${topic.interest.name}`], hash: 0 });
    expect(there.get("secret")).toBeUndefined();
    expect(there.members()).toBe(there.members());
    expect(cache.counters.topics).toBe(0);
    const { head } = there;
    put("secret", "changed");
    cache.remove(TYPE, "secret");
    expect(there.head).toBe(head);
  });

  it("tells what was before of names that are allowed only [S-LIM-8] [B-CSDS-7]", () => {
    const { put, filter } = setup();
    for (const text of ["1", "2"]) for (const name of ["open", "secret"]) put(name, text);
    expect(filter.asOf?.(TYPE, "open", 3)?.resource?.payload.value.toString()).toBe("49");
    expect(filter.asOf?.(TYPE, "secret", 3)).toBeUndefined();
  });

  it.each([GLOB, "*"])(
    "does not tell in %s when goes what has become forbidden before [S-LIM-8]",
    (interest) => {
      const rights = { closed: false };
      const { cache, policy, put, watched } = setup(() => !rights.closed);
      const name = "xdstp://a/test.Thing/p/x";
      put(name);
      const topic = watched(interest);
      rights.closed = true;
      policy.replace(() => !rights.closed);
      const { head } = topic;
      expect(namesOf(topic.removed())).toEqual([`-${name}`]);
      put(name, "2");
      cache.remove(TYPE, name);
      expect(topic.head).toBe(head);
    },
  );

  it("gives the same topic of a forbidden name to everyone while it is watched", () => {
    const { watched, filter } = setup();
    expect(watched("secret")).toBe(filter.topic(TYPE, { name: "secret" }));
    expect(watched("open")).toBe(filter.topic(TYPE, { name: "open" }));
  });

  it.each([
    ["*", "a", "secret"],
    [GLOB, "xdstp://a/test.Thing/p/a", "xdstp://a/test.Thing/p/secret"],
  ])(
    "shows of %s the members that are allowed, and of their number, sum and removal too [S-LIM-8]",
    (collection, open, secret) => {
      const { cache, put, watched } = setup();
      const topic = watched(collection);
      put(open);
      const { hash, head } = topic;
      const after = topic.changes(0);
      put(secret);
      put(secret, "changed");
      cache.remove(TYPE, secret);
      expect({
        hash: topic.hash,
        head: topic.head,
        members: namesOf(topic.members()),
        removed: namesOf(topic.removed()),
      }).toEqual({ hash, head, members: [open], removed: [] });
      expect(topic.changes(0)).toBe(after);
      expect(topic.get(secret)).toBeUndefined();
      put(open, "changed");
      cache.remove(TYPE, open);
      expect(namesOf(topic.removed())).toEqual([open].map((name) => `-${name}`));
      expect(topic.hash).toBe(0);
    },
  );

  it("has the sum that a source without the forbidden names has [S-VER-2]", () => {
    const [all, part] = [setup(), setup()];
    for (const name of ["a", "b", "secret"]) all.put(name);
    for (const name of ["a", "b"]) part.put(name);
    expect(all.watched("*").hash).toBe(part.cache.topic(TYPE, { name: "*" }).hash);
  });

  it("wakes nobody for what may not be seen [S-LIM-6]", () => {
    const { filter, put } = setup();
    let wakes = 0;
    const topic = filter.topic(TYPE, { name: "*" });
    topic.watch({
      wake: () => {
        wakes++;
      },
    });
    put("secret");
    expect(wakes).toBe(0);
    put("a");
    expect(wakes).toBe(1);
  });

  it("wakes its readers for each error of the supply once, whichever object reports it [S-ERR-1]", () => {
    const { cache, filter } = setup();
    const wakes: (string | undefined)[] = [];
    filter.topic(TYPE, { name: "open" }).watch({ wake: ({ stale }) => wakes.push(stale?.text) });
    for (const text of ["away", "away", "closed"])
      cache.unavailable({ typeUrl: TYPE }, new XdsError("UNAVAILABLE", text));
    cache.unavailable({ typeUrl: TYPE }, undefined);
    expect(wakes).toEqual(["away", "closed", undefined]);
  });

  it("says that a glob is empty of which nothing may be seen, and nothing more when that changes [S-GLOB-3]", () => {
    const { put, watched } = setup();
    put("xdstp://a/test.Thing/p/secret");
    const topic = watched(GLOB);
    expect(namesOf(topic.members())).toEqual([`-${GLOB}`]);
    put("xdstp://a/test.Thing/p/open");
    expect(namesOf(topic.members())).toEqual(["xdstp://a/test.Thing/p/open"]);
    expect(namesOf(topic.changes(0))).toEqual(["xdstp://a/test.Thing/p/open"]);
  });

  it("asks for names in canonical spelling, so that no spelling leads past it [N-40]", () => {
    const asked: string[] = [];
    const { put, watched } = setup((name) => {
      asked.push(name);
      return false;
    });
    put("xdstp://a/test.Thing/p/x");
    expect(namesOf(watched("xdstp://a/test.Thing/p/%78").members())).toEqual([
      "-xdstp://a/test.Thing/p/%78",
    ]);
    expect([...new Set(asked)]).toEqual(["xdstp://a/test.Thing/p/x"]);
  });

  it("shows a resource by alias only if its name is allowed and the alias too [S-LIM-8]", () => {
    const { cache, watched, policy } = setup();
    cache.put({ typeUrl: TYPE, name: "secret", value: new Uint8Array(), aliases: ["alias"] });
    cache.put({
      typeUrl: TYPE,
      name: "open",
      value: new Uint8Array(),
      aliases: ["by-secret-alias", "other"],
    });
    const hidden = watched("alias");
    expect(namesOf(hidden.members())).toEqual(["-alias"]);
    expect(namesOf(watched("by-secret-alias").members())).toEqual(["-by-secret-alias"]);
    const other = watched("other");
    expect(namesOf(other.members())).toEqual(["open"]);
    const { head } = hidden;
    cache.put({ typeUrl: TYPE, name: "secret", value: Buffer.from("x"), aliases: ["alias"] });
    expect(hidden.head).toBe(head);
    policy.replace((_, name) => name !== "open");
    expect(namesOf(hidden.members())).toEqual(["secret"]);
    expect(namesOf(other.changes(0))).toEqual(["-open", "-other"]);
  });

  it("says of what is removed, or becomes forbidden, since when it existed [S-ORD-4]", () => {
    const { cache, put, policy, filter, watched } = setup();
    const all = watched("*");
    put("a");
    const since = cache.revision;
    put("b");
    put("a", "changed");
    const before = filter.revision;
    cache.remove(TYPE, "a");
    expect(all.changes(before)).toMatchObject([{ name: "a", since }]);
    const between = filter.revision;
    policy.replace(() => false);
    expect(all.changes(between)).toMatchObject([{ name: "b", since: since + 1 }]);
  });

  it("removes what becomes forbidden and brings what becomes allowed, at one revision above that of the source and below the next", () => {
    const { cache, put, policy, filter, watched } = setup();
    for (const name of ["a", "secret"]) put(name);
    const [all, a, secret] = [watched("*"), watched("a"), watched("secret")];
    const before = filter.revision;
    policy.replace((_, name) => name === "secret");
    const { revision } = filter;
    expect(revision).toBeGreaterThan(before);
    expect(revision).toBeLessThan(cache.revision + 1);
    expect(namesOf(all.changes(before)).toSorted()).toEqual(["-a", "secret"]);
    expect(namesOf(a.changes(before))).toEqual(["-a"]);
    expect(namesOf(secret.changes(before))).toEqual(["secret"]);
    expect(secret.changes(before)?.[0]).toMatchObject({ revision, since: revision });
    put("secret", "changed");
    expect(secret.members()[0]).toMatchObject({ revision: cache.revision, since: revision });
    expect([all.get("a"), all.get("secret")?.name]).toEqual([undefined, "secret"]);
  });

  it("tells nobody of a change of the policy that changes nothing for them", () => {
    const { put, policy, filter, watched } = setup();
    put("a");
    const members = watched("*").members();
    const { revision } = filter;
    policy.replace((_, name) => name === "a");
    expect(filter.revision).toBe(revision);
    expect(filter.topic(TYPE, { name: "*" }).members()).toBe(members);
  });

  it("gives the arrays of the source where nothing is hidden, and one array for an entry alone, so that streams of different rights share frames", () => {
    const { cache, put, watched } = setup();
    const other = filterSource(cache, { key: "other", allows: () => true });
    for (const name of ["a", "b"]) put(name);
    const mine = watched("*");
    const theirs = other.topic(TYPE, { name: "*" });
    for (const topic of [cache.topic(TYPE, { name: "*" }), theirs]) topic.watch(noSubscribers);
    expect(mine.members()).toBe(theirs.members());
    expect(mine.members()).toBe(cache.topic(TYPE, { name: "*" }).members());
    expect(mine.changes(0)).toBe(cache.topic(TYPE, { name: "*" }).changes(0));
    put("secret");
    put("b", "changed");
    const { revision } = cache;
    expect(mine.changes(revision - 1)).toBe(theirs.changes(revision - 1));
    expect(watched("a").members()).toBe(cache.topic(TYPE, { name: "a" }).members());
  });

  it.each([
    [
      "throws",
      (): boolean => {
        throw new Error("no");
      },
    ],
    ["gives a promise", (): boolean => Promise.resolve(true) as unknown as boolean],
    ["gives something", (): boolean => "yes" as unknown as boolean],
  ])("allows nothing where the policy %s", (_, allows) => {
    const { cache } = setup();
    const faults: unknown[] = [];
    cache.put({ typeUrl: TYPE, name: "a", value: new Uint8Array() });
    const filter = filterSource(
      cache,
      { key: "k", allows },
      {
        onFault: (error) => {
          faults.push(error);
        },
      },
    );
    for (const name of ["a", "*"])
      expect(
        filter
          .topic(TYPE, { name })
          .members()
          .filter(({ resource }) => resource !== undefined),
      ).toEqual([]);
    expect(faults.length).toBeLessThanOrEqual(1);
  });

  it("says PERMISSION_DENIED of a forbidden name if the policy wants it, of one that does not exist too [S-LIM-8]", () => {
    const { cache, put } = setup();
    put("a");
    const policy = createPolicy({ key: "k", forbidden: "denied", allows: () => false });
    const filter = filterSource(cache, policy);
    const topics = ["a", "none"].map((name) => filter.topic(TYPE, { name }));
    for (const topic of topics) topic.watch(noSubscribers);
    expect(topics.map((topic) => topic.members()[0]?.error?.code)).toEqual([
      "PERMISSION_DENIED",
      "PERMISSION_DENIED",
    ]);
    policy.replace(() => true);
    expect(
      topics.map((topic) => [topic.members()[0]?.resource?.name, topic.members()[0]?.error]),
    ).toEqual([
      ["a", undefined],
      [undefined, undefined],
    ]);
    const heads = topics.map(({ head }) => head);
    policy.replace(() => true);
    expect(topics.map(({ head }) => head)).toEqual(heads);
  });

  it("remembers a removal for ten minutes, then readers that are behind have to begin anew [S-RECON-10]", () => {
    const clock = createFakeClock();
    const cache = createCache({ clock });
    cache.commit({});
    const policy = createPolicy({ key: "k", allows: () => true });
    const filter = filterSource(cache, policy, { clock });
    const topic = filter.topic(TYPE, { name: "*" });
    topic.watch(noSubscribers);
    for (const name of ["a", "b"]) cache.put({ typeUrl: TYPE, name, value: new Uint8Array() });
    const { revision } = filter;
    policy.replace((_, name) => name === "b");
    expect(namesOf(topic.removed())).toEqual(["-a"]);
    clock.advance(600_001);
    expect(namesOf(topic.removed())).toEqual([]);
    expect(topic.changes(revision)).toBeUndefined();
    expect(namesOf(topic.changes(filter.revision))).toEqual([]);
    expect(namesOf(topic.members())).toEqual(["b"]);
  });

  it("asks behind once a name is allowed, and not until then (B-RELAY-16)", async () => {
    const cache = createCache();
    const wanted: string[] = [];
    cache.addFeed({
      run: (_, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            resolve();
          });
        }),
      want: (_, added, dropped) => {
        wanted.push(
          ...added.map(({ name }) => `+${name}`),
          ...dropped.map(({ name }) => `-${name}`),
        );
      },
    });
    const policy = createPolicy({ key: "k", allows: () => false });
    const topic = filterSource(cache, policy).topic(TYPE, { name: "a" });
    topic.watch(noSubscribers);
    await Promise.resolve();
    expect(wanted).toEqual([]);
    policy.replace(() => true);
    await Promise.resolve();
    expect(wanted).toEqual(["+a"]);
    expect(topic.settled).toBe(true);
    cache.put({ typeUrl: TYPE, name: "a", value: new Uint8Array() });
    expect(namesOf(topic.members())).toEqual(["a"]);
    await cache.close();
  });

  it("reads as of now while nobody watches", () => {
    const { cache, put, policy, filter } = setup();
    const all = filter.topic(TYPE, { name: "*" });
    put("a");
    put("secret");
    expect(namesOf(all.members())).toEqual(["a"]);
    expect(all.members()).toBe(all.members());
    policy.replace(() => true);
    expect(namesOf(all.members())).toEqual(["a", "secret"]);
    cache.remove(TYPE, "a");
    expect(namesOf(all.members())).toEqual(["secret"]);
    expect(namesOf(filter.topic(TYPE, { name: "a" }).members())).toEqual(["-a"]);
  });

  it("still tells a reader that leaves what it has missed", () => {
    const { put, policy, watched, filter } = setup();
    put("a");
    const topic = watched("*");
    const { revision } = filter;
    policy.replace(() => false);
    topic.unwatch(noSubscribers);
    expect(namesOf(topic.changes(revision))).toEqual(["-a"]);
    put("b");
    expect(namesOf(topic.members())).toEqual([]);
  });

  it("asks for what has changed, and not for every member or reader [S-LIM-6]", () => {
    let asked = 0;
    const { put, watched, filter } = setup(() => {
      asked++;
      return true;
    });
    for (let n = 0; n < 100; n++) put(`n${n}`);
    const topic = watched("*");
    for (let n = 0; n < 10; n++) topic.watch({ wake: () => undefined });
    expect(asked).toBe(100);
    asked = 0;
    put("n5", "changed");
    for (let n = 0; n < 10; n++) expect(topic.changes(filter.revision - 1)).toHaveLength(1);
    expect([topic.members().length, topic.get("n7")?.name, asked]).toEqual([100, "n7", 1]);
  });

  it("lets go of the source and of the policy", () => {
    const { cache, filter, put } = setup();
    put("a");
    for (const name of ["a", "*", GLOB, "secret"]) {
      const topic = filter.topic(TYPE, { name });
      topic.watch(noSubscribers);
      topic.unwatch(noSubscribers);
    }
    expect(cache.counters.topics).toBe(0);
    filter.close();
  });
});

describe("filterSource() at random", () => {
  const seeds = Math.max(20, Math.round(2_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
  const first = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);
  const plain = ["a", "b", "c", "d"];
  const inGlob = ["x", "y", "z"].map((id) => `xdstp://a/test.Thing/p/${id}`);
  const interests = ["*", GLOB, "a", "b", "alias", ...inGlob.slice(0, 2)];

  it("brings every reader to what exists and is allowed, whenever it reads, and never shows another name", () => {
    for (let seed = first; seed < first + seeds; seed++) run(seed);
  });

  function run(seed: number): void {
    let state = (seed * 2_654_435_761) >>> 0 || 1;
    const below = (limit: number): number => {
      state ^= state << 13;
      state >>>= 0;
      state ^= state >>> 17;
      state ^= state << 5;
      state >>>= 0;
      return state % limit;
    };
    const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
    const clock = createFakeClock();
    const cache = createCache({ clock, tombstoneMs: 1_000_000_000 });
    cache.commit({});
    let allowed = new Set<string>([...plain, ...inGlob, "alias"]);
    const policy = createPolicy({ key: "k", allows: (_, name) => allowed.has(name) });
    const filter: ResourceSource = filterSource(cache, policy, { clock });
    const readers = Array.from({ length: 6 }, () => createReader(filter, pick(interests)));
    for (let step = 0; step < 120; step++) {
      const name = pick([...plain, ...inGlob]);
      switch (below(6)) {
        case 0:
        case 1:
          cache.put({
            typeUrl: TYPE,
            name,
            value: Buffer.from(String(below(1000))),
            ...(below(2) === 0 && plain.includes(name) ? { aliases: ["alias"] } : {}),
          });
          break;
        case 2:
          cache.remove(TYPE, name);
          break;
        case 3: {
          allowed = new Set([...plain, ...inGlob, "alias"].filter(() => below(3) > 0));
          policy.replace((_, asked) => allowed.has(asked));
          break;
        }
        default:
          pick(readers).read((shown) => {
            expect(
              [...shown].filter((one) => !allowed.has(one) && one !== ""),
              `seed ${seed}: forbidden`,
            ).toEqual([]);
          });
      }
    }
    for (const reader of readers) {
      reader.read(() => undefined);
      const topic = cache.topic(TYPE, { name: reader.name });
      const exact = !["*", GLOB].includes(reader.name);
      const want = topic
        .members()
        .filter(
          ({ name, resource }) =>
            resource !== undefined && allowed.has(name) && (!exact || allowed.has(reader.name)),
        );
      expect(reader.held(), `seed ${seed}: ${reader.name}`).toEqual(
        want.map(({ name, resource }) => `${name}=${resource?.version ?? ""}`).toSorted(),
      );
      expect(reader.faults, `seed ${seed}: ${reader.name}`).toEqual([]);
      expect(reader.topic.hash).toBe(
        want.reduce((sum, { resource }) => (sum + (resource?.hash ?? 0)) % 2 ** 52, 0),
      );
    }
  }
});

interface Reader {
  readonly name: string;
  readonly topic: Topic;
  readonly faults: readonly string[];
  held(): readonly string[];
  /** Reads what is new. `check` is called with the names that have a resource. */
  read(check: (shown: ReadonlySet<string>) => void): void;
}

/**
 * Follows a topic as a stream does: it reads after each wake, from the revision up to which it has
 * read.
 */
function createReader(source: ResourceSource, name: string): Reader {
  const topic = source.topic(TYPE, { name });
  const state = new Map<string, string>();
  const faults: string[] = [];
  let woken = true;
  let at = -1;
  topic.watch({
    wake: () => {
      woken = true;
    },
  });
  return {
    name,
    topic,
    faults,
    held: () => [...state].map(([key, version]) => `${key}=${version}`).toSorted(),
    read(check) {
      const entries = topic.changes(at);
      if (entries === undefined) {
        faults.push("behind");
        return;
      }
      if (!woken && entries.length > 0) faults.push(`not woken for ${namesOf(entries).join(" ")}`);
      if (entries.some(({ revision }) => revision <= at)) faults.push("not newer");
      if (entries.some(({ revision }, index) => revision < (entries[index - 1]?.revision ?? 0)))
        faults.push("out of order");
      if (new Set(entries.map((entry) => entry.name)).size < entries.length) faults.push("twice");
      check(
        new Set(
          entries.filter(({ resource }) => resource !== undefined).map((entry) => entry.name),
        ),
      );
      for (const { name: key, resource } of entries) {
        if (resource === undefined && key === name) state.clear();
        else if (resource === undefined) state.delete(key);
        else {
          if (![GLOB, "*"].includes(name)) state.clear();
          state.set(key, resource.version);
        }
      }
      at = source.revision;
      woken = false;
    },
  };
}

describe("a name with variants", () => {
  const limitedTo = (value: string): { readonly constraints: Uint8Array } => ({
    constraints: encodeConstraints({ kind: "equals", key: "env", value }),
  });
  const member = "xdstp://a/test.Thing/p/x";
  const parameters = new Map([["env", "prod"]]);
  const show = (entries: readonly Entry[] | undefined): readonly string[] =>
    (entries ?? []).map(
      ({ name, resource, constraints }) =>
        `${resource === undefined ? "-" : ""}${(resource?.constraints ?? constraints) === undefined ? "" : "variant of "}${name}`,
    );

  function variants(
    interest: string,
    allows?: (name: string) => boolean,
  ): Setup & { readonly topic: Topic; readonly replace: () => void } {
    const all = setup(allows);
    const { cache, filter } = all;
    for (const value of ["prod", "test"])
      cache.put({ typeUrl: TYPE, name: member, value: Buffer.from(value), ...limitedTo(value) });
    const topic = filter.topic(TYPE, { name: interest, parameters });
    topic.watch(noSubscribers);
    const next = {
      constraints: encodeConstraints({
        kind: "and",
        of: [{ kind: "equals", key: "env", value: "prod" }],
      }),
    };
    return {
      ...all,
      topic,
      replace() {
        cache.transaction((writer) => {
          writer.remove(TYPE, member, limitedTo("prod"));
          writer.put({ typeUrl: TYPE, name: member, value: Buffer.from("next"), ...next });
        });
      },
    };
  }

  it.each([member, GLOB, "*"])(
    "is allowed by its name, and its replacement is one change as without a policy, in %s [S-LIM-8] [S-DYN-5]",
    (interest) => {
      const { topic, cache, put, replace } = variants(interest);
      put("xdstp://a/test.Thing/p/secret");
      const { revision } = cache;
      expect(show(topic.members())).toEqual([`variant of ${member}`]);
      replace();
      expect(show(topic.changes(revision))).toEqual([
        `-variant of ${member}`,
        `variant of ${member}`,
      ]);
      expect([show(topic.members()), show(topic.gone?.(member))]).toEqual([
        [`variant of ${member}`],
        [`-variant of ${member}`],
      ]);
      replace();
      cache.commit({
        remove: [
          {
            typeUrl: TYPE,
            name: member,
            constraints: topic.members()[0]?.resource?.constraints ?? new Uint8Array(),
          },
        ],
      });
      expect(show(topic.members()).filter((one) => one.startsWith("variant"))).toEqual([]);
    },
  );

  it.each([member, GLOB, "*"])(
    "is missing while it is forbidden, goes with the right to it and comes with it, in %s [S-LIM-8] [S-DYN-5]",
    (interest) => {
      const { topic, policy, filter, replace } = variants(interest, () => false);
      expect(show(topic.members()).filter((one) => !one.startsWith("-"))).toEqual([]);
      replace();
      expect(topic.gone?.(member)).toEqual([]);
      let { revision } = filter;
      policy.replace(() => true);
      expect(show(topic.changes(revision)).filter((one) => !one.startsWith("-"))).toEqual([
        `variant of ${member}`,
      ]);
      ({ revision } = filter);
      policy.replace(() => false);
      expect(show(topic.changes(revision))).toContain(`-variant of ${member}`);
      expect(show(topic.members()).filter((one) => !one.startsWith("-"))).toEqual([]);
    },
  );

  it("is not found by a name that looks like an interest with parameters [S-LIM-8]", () => {
    const { filter } = variants(member, () => false);
    expect(
      filter.topic(TYPE, { name: `${member}\n[["env","prod"]]` }).interest.parameters,
    ).toBeUndefined();
  });
});
