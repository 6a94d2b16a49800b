import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { describe, expect, it, onTestFinished } from "vitest";

import { memoryStore, nameOf, type Origin, type, useOrigin } from "../test/use-origin.ts";
import {
  createWebClient,
  jsonType,
  messageType,
  type StateStore,
  type WatchState,
  type WebClient,
  type WebClientOptions,
  type WebWatch,
  type WebWatchOptions,
} from "./index.ts";

interface ClusterJson {
  readonly name: string;
  readonly connectTimeout?: string;
}

const clusterJson = jsonType<ClusterJson>(type);

interface World {
  readonly origin: Origin;
  readonly client: WebClient;
  readonly errors: string[];
  readonly watch: (
    id: string,
    options?: WebWatchOptions<ClusterJson, string | undefined>,
  ) => { readonly states: string[]; readonly watch: WebWatch<ClusterJson, string | undefined> };
}

function useClient(origin: Origin, options: WebClientOptions = {}): World {
  const errors: string[] = [];
  const client = createWebClient({
    origin: "https://acme.example",
    store: false,
    fetch: origin.fetch,
    clock: origin.clock,
    random: () => 0.5,
    onError: ({ message }) => errors.push(message),
    ...options,
  });
  onTestFinished(() => {
    client.close();
  });
  return {
    origin,
    client,
    errors,
    watch(id, watching = {}) {
      const states: string[] = [];
      const watch = client.watch(
        clusterJson,
        nameOf(id),
        (state) => {
          states.push(textOf(state));
        },
        watching,
      );
      return { states, watch };
    },
  };
}

function textOf({ phase, value, error }: WatchState<ClusterJson, string | undefined>): string {
  const shown = typeof value === "object" ? (value.connectTimeout ?? "0s") : String(value);
  return `${phase} ${shown}${error === undefined ? "" : ` !${error.code}`}`;
}

describe("createWebClient()", () => {
  it("reports the resource, each change and its end, with the default where there is none", async () => {
    const origin = useOrigin();
    origin.put("web", 1);
    const { watch } = useClient(origin);
    const { states, watch: watched } = watch("web", { default: "none" });
    expect(textOf(watched.state)).toBe("waiting none");
    await origin.pass(100);
    origin.put("web", 2);
    await origin.pass(100);
    origin.remove("web");
    await origin.pass(100);
    expect(states).toEqual(["current 1s", "current 2s", "missing none !NOT_FOUND"]);
    expect(textOf(watched.state)).toBe("missing none !NOT_FOUND");
  });

  it("reads messages of protobuf", async () => {
    const origin = useOrigin();
    origin.put("web", 7);
    const { client } = useClient(origin);
    const seen: (bigint | undefined)[] = [];
    client.watch(messageType(ClusterSchema), nameOf("web"), ({ value }) => {
      seen.push(value?.connectTimeout?.seconds);
    });
    await origin.pass(100);
    expect(seen).toEqual([7n]);
  });

  it("shows the state of an earlier client at once, then the one of the server", async () => {
    const origin = useOrigin();
    const store = memoryStore();
    await origin.pass(1_000);
    origin.put("web", 1);
    const before = useClient(origin, { store });
    before.watch("web");
    await origin.pass(100);
    before.client.close();
    const savedAt = [...store.held.values()][0]?.savedAt;
    expect(savedAt).toBe(1_000);
    origin.isUp = false;
    await origin.pass(5_000);
    const { watch } = useClient(origin, { store });
    const { states, watch: watched } = watch("web");
    await origin.pass(0);
    expect(watched.state).toMatchObject({ phase: "stored", savedAt });
    origin.put("web", 2);
    origin.isUp = true;
    for (let seconds = 0; seconds < 10; seconds++) await origin.pass(1_000);
    expect(states.filter((state) => state.includes("1s"))).toEqual(["stored 1s !UNAVAILABLE"]);
    expect(states.at(-1)).toBe("current 2s");
    expect(new TextDecoder().decode([...store.held.values()][0]?.body)).toContain("2s");
  });

  it("never goes back to the stored state once the server has answered", async () => {
    const origin = useOrigin();
    origin.put("web", 2);
    const slow: StateStore = {
      ...memoryStore(),
      load: async () => {
        await new Promise<void>((resolve) => {
          origin.clock.after(1_000, resolve);
        });
        return { version: "old", body: new TextEncoder().encode("{}"), savedAt: 1 };
      },
    };
    const { watch } = useClient(origin, { store: slow });
    const { states } = watch("web");
    await origin.pass(100);
    await origin.pass(2_000);
    expect(states).toEqual(["current 2s"]);
  });

  it("shows a state that is loaded late where the watch rejects the one of the server", async () => {
    const origin = useOrigin();
    origin.put("web", 2);
    const slow: StateStore = {
      ...memoryStore(),
      load: async () => {
        await new Promise<void>((resolve) => {
          origin.clock.after(1_000, resolve);
        });
        const body = new TextEncoder().encode('{"connectTimeout":"1s"}');
        return { version: "1", body, savedAt: 0 };
      },
    };
    const { watch, errors } = useClient(origin, { store: slow });
    const validate = ({ connectTimeout }: ClusterJson): string | undefined =>
      connectTimeout === "2s" ? "no twos" : undefined;
    const { states } = watch("web", { validate });
    await origin.pass(100);
    await origin.pass(1_000);
    expect(states).toEqual(["waiting undefined !INVALID_ARGUMENT", "stored 1s !INVALID_ARGUMENT"]);
    // A later watch of the same name begins with it.
    expect(textOf(watch("web", { validate }).watch.state)).toBe("stored 1s !INVALID_ARGUMENT");
    expect(errors).toHaveLength(2);
  });

  it("stops showing a stored state when its TTL expires, also if the wall clock was set back [C-HTTP-7]", async () => {
    const origin = useOrigin();
    origin.isUp = false;
    await origin.pass(10_000);
    const load =
      (savedAt: number): StateStore["load"] =>
      async () =>
        Promise.resolve({
          version: "1",
          body: new TextEncoder().encode('{"connectTimeout":"1s"}'),
          savedAt,
          ttlMs: 9_000,
        });
    const old = useClient(origin, { store: { ...memoryStore(), load: load(5_000) } });
    const future = useClient(origin, { store: { ...memoryStore(), load: load(1e9) } });
    const [short, whole] = [old.watch("web"), future.watch("web")];
    await origin.pass(0);
    const phases = (): string[] => [short.watch.state.phase, whole.watch.state.phase];
    expect(phases()).toEqual(["stored", "stored"]);
    await origin.pass(3_999);
    expect(phases()).toEqual(["stored", "stored"]);
    await origin.pass(1);
    expect(phases()).toEqual(["waiting", "stored"]);
    await origin.pass(5_000);
    expect(phases()).toEqual(["waiting", "waiting"]);
  });

  it("leaves the newest state in a store that is slow", async () => {
    const origin = useOrigin();
    const store = memoryStore();
    const saves: (() => void)[] = [];
    const slow: StateStore = {
      ...store,
      save: async (key, resource) => {
        await new Promise<void>((resolve) => saves.push(resolve));
        await store.save(key, resource);
      },
    };
    origin.put("web", 1);
    useClient(origin, { store: slow }).watch("web");
    await origin.pass(100);
    for (const seconds of [2, 3]) {
      origin.put("web", seconds);
      await origin.pass(100);
    }
    // One save at a time, and the state in between is not saved any more.
    expect(saves).toHaveLength(1);
    saves[0]?.();
    await origin.pass(0);
    expect(saves).toHaveLength(2);
    origin.remove("web");
    await origin.pass(100);
    saves[1]?.();
    await origin.pass(0);
    expect(store.held.size).toBe(0);
  });

  it.each([
    ["long polls", true, 25_000],
    ["requests every 20 s", false, 20_000],
  ])(
    "renews the time of what is stored when %s confirm it, once a minute at most",
    async (_, longPoll, everyMs) => {
      const origin = useOrigin();
      const store = memoryStore();
      const saves: number[] = [];
      const removed: string[] = [];
      const counting: StateStore = {
        ...store,
        save: async (key, resource) => {
          saves.push(resource.savedAt);
          return store.save(key, resource);
        },
        remove: async (key) => {
          removed.push(key);
          return store.remove(key);
        },
      };
      origin.put("web", 1);
      origin.put("secret", 1, { noStore: true });
      const { client, watch } = useClient(origin, {
        store: counting,
        longPoll,
        refreshMs: everyMs,
        random: () => 0,
      });
      watch("web");
      watch("secret");
      for (let seconds = 0; seconds < 300; seconds++) await origin.pass(1_000);
      expect(origin.requested.length).toBeGreaterThan(20);
      expect(saves.slice(1).every((at, index) => at - (saves[index] ?? 0) >= 60_000)).toBe(true);
      expect(saves.length).toBeGreaterThan(3);
      expect(removed).toEqual([expect.stringContaining("secret")]);
      const last = saves.at(-1);
      // An outage confirms nothing.
      origin.isUp = false;
      for (let seconds = 0; seconds < 200; seconds++) await origin.pass(1_000);
      expect(saves.at(-1)).toBe(last);
      client.close();
      const { watch: restored } = useClient(origin, { store }).watch("web");
      await origin.pass(0);
      expect(restored.state).toMatchObject({ phase: "stored", savedAt: last });
    },
  );

  it("does not renew the time of what is stored while a newer state is rejected [C-ACK-5]", async () => {
    const origin = useOrigin();
    const store = memoryStore();
    origin.put("web", 1);
    useClient(origin, { store }).watch("web", {
      validate: ({ connectTimeout }) => (connectTimeout === "2s" ? "no twos" : undefined),
    });
    await origin.pass(100);
    const savedAt = (): unknown => [...store.held.values()][0]?.savedAt;
    const before = savedAt();
    origin.put("web", 2);
    for (let seconds = 0; seconds < 200; seconds++) await origin.pass(1_000);
    expect(savedAt()).toBe(before);
  });

  it("does not call the listener of a watch that another listener has just closed", async () => {
    const origin = useOrigin();
    origin.put("web", 1);
    const { client, watch } = useClient(origin);
    const first = client.watch(clusterJson, nameOf("web"), () => {
      first.close();
      other.watch.close();
    });
    const other = watch("web");
    await origin.pass(100);
    expect(other.states).toEqual([]);
    expect(origin.handler.waiting).toBe(0);
  });

  it("keeps the value while the server is away, with the reason", async () => {
    const origin = useOrigin();
    origin.put("web", 1);
    const { watch } = useClient(origin);
    const { states } = watch("web");
    await origin.pass(100);
    origin.isUp = false;
    for (let seconds = 0; seconds < 60; seconds++) await origin.pass(1_000);
    origin.isUp = true;
    for (let seconds = 0; seconds < 300; seconds++) await origin.pass(1_000);
    expect(states).toEqual(["current 1s", "current 1s !UNAVAILABLE", "current 1s"]);
  });

  it.each([
    ["a text", () => "no twos"],
    ["an error", () => new Error("no twos")],
    [
      "an exception",
      () => {
        throw new Error("no twos");
      },
    ],
  ])(
    "keeps the value before one that the watch rejects by %s, and does not store it [C-ACK-5]",
    async (_, refuse) => {
      const origin = useOrigin();
      const store = memoryStore();
      origin.put("web", 1);
      const { watch, errors } = useClient(origin, { store });
      const { states } = watch("web", {
        validate: ({ connectTimeout }) => (connectTimeout === "2s" ? refuse() : undefined),
      });
      await origin.pass(100);
      origin.put("web", 2);
      await origin.pass(100);
      expect(states).toEqual(["current 1s", "current 1s !INVALID_ARGUMENT"]);
      expect(errors).toEqual([
        `[INVALID_ARGUMENT] https://acme.example/${type}/web is rejected: no twos`,
      ]);
      expect(new TextDecoder().decode([...store.held.values()][0]?.body)).toContain("1s");
      // The outage that follows neither reads the body again nor hides the reason.
      origin.isUp = false;
      for (let seconds = 0; seconds < 60; seconds++) await origin.pass(1_000);
      origin.isUp = true;
      for (let seconds = 0; seconds < 300; seconds++) await origin.pass(1_000);
      expect([states.length, errors.length]).toEqual([2, 1]);
      origin.put("web", 3);
      await origin.pass(100);
      expect(states.at(-1)).toBe("current 3s");
    },
  );

  it("keeps the default while the first value is rejected", async () => {
    const origin = useOrigin();
    origin.put("web", 1);
    const { watch } = useClient(origin);
    const { states } = watch("web", { default: "none", validate: () => "never" });
    await origin.pass(100);
    expect(states).toEqual(["waiting none !INVALID_ARGUMENT"]);
  });

  it("begins again for a watch after the last one has ended", async () => {
    const origin = useOrigin();
    origin.put("web", 1);
    const { watch } = useClient(origin);
    watch("web").watch.close();
    const { states } = watch("web");
    await origin.pass(100);
    expect(states).toEqual(["current 1s"]);
  });

  it("shares the requests of watches of one name, and ends them with the last", async () => {
    const origin = useOrigin();
    origin.put("web", 1);
    const { watch, client } = useClient(origin);
    const [one, other] = [watch("web"), watch("web")];
    await origin.pass(100);
    expect([one.states, other.states]).toEqual([["current 1s"], ["current 1s"]]);
    expect(origin.requested).toHaveLength(2);
    expect(textOf(watch("web").watch.state)).toBe("current 1s");
    one.watch.close();
    origin.put("web", 2);
    await origin.pass(100);
    expect([one.states, other.states]).toEqual([["current 1s"], ["current 1s", "current 2s"]]);
    client.close();
    await origin.pass(0);
    expect(origin.handler.waiting).toBe(0);
    expect(() => watch("web")).toThrow("[FAILED_PRECONDITION] the client is closed");
  });

  it("goes on when a listener throws, and when the store fails", async () => {
    const origin = useOrigin();
    origin.put("web", 1);
    const broken: StateStore = {
      load: async () => Promise.reject(new Error("no load")),
      save: async () => Promise.reject(new Error("no save")),
      remove: async () => Promise.reject(new Error("no remove")),
    };
    const { client, errors } = useClient(origin, { store: broken });
    const values: unknown[] = [];
    client.watch(clusterJson, nameOf("web"), ({ value }) => {
      values.push(value?.connectTimeout);
      throw new Error("listener");
    });
    await origin.pass(100);
    origin.put("web", 2);
    await origin.pass(100);
    origin.remove("web");
    await origin.pass(100);
    expect(values).toEqual(["1s", "2s", undefined]);
    expect(new Set(errors)).toEqual(
      new Set(["listener", "no load", "no save", "no remove"].map((text) => `[INTERNAL] ${text}`)),
    );
  });

  it("does not use a stored state whose TTL has expired, and stores nothing that must not be stored [C-HTTP-7]", async () => {
    const origin = useOrigin();
    const store = memoryStore();
    origin.put("short", 1, { ttlMs: 9_000 });
    origin.put("secret", 1, { noStore: true });
    const before = useClient(origin, { store });
    before.watch("short");
    before.watch("secret");
    await origin.pass(100);
    before.client.close();
    expect([...store.held.keys()]).toEqual([`json https://acme.example/${type}/short`]);
    origin.isUp = false;
    await origin.pass(9_000);
    const after = useClient(origin, { store }).watch("short");
    await origin.pass(0);
    expect(after.watch.state.phase).toBe("waiting");
  });

  it("forgets a resource that the server no longer has", async () => {
    const origin = useOrigin();
    const store = memoryStore();
    origin.put("web", 1);
    useClient(origin, { store }).watch("web");
    await origin.pass(100);
    expect(store.held.size).toBe(1);
    origin.remove("web");
    await origin.pass(100);
    expect(store.held.size).toBe(0);
  });

  it.each([
    [`xdstp://acme.example/${type}/*`, "[UNIMPLEMENTED]"],
    ["xdstp://acme.example/", "[INVALID_ARGUMENT]"],
    [`xdstp://acme.example/${type}/web#alt=x`, "[INVALID_ARGUMENT]"],
  ])("throws for the name %s [B-HTTP-3]", (name, code) => {
    const { client } = useClient(useOrigin());
    expect(() => client.watch(clusterJson, name, () => undefined)).toThrow(code);
  });

  it("requests each authority from its own host, without an origin", async () => {
    const origin = useOrigin();
    const client = createWebClient({ fetch: origin.fetch, clock: origin.clock, store: false });
    onTestFinished(() => {
      client.close();
    });
    client.watch(clusterJson, nameOf("web"), () => undefined);
    await origin.pass(0);
    expect(origin.requested[0]).toMatch(`https://acme.example/${type}/web`);
    expect(() => client.watch(clusterJson, "web", () => undefined)).toThrow("no origin");
  });
});
