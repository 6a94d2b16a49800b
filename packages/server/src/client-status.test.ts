import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { RawResource } from "@xdstp/cache";
import { encodeConstraints } from "@xdstp/core";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { NodeSchema } from "@xdstp/protos/discovery";
import {
  type ClientConfig,
  type ClientConfig_GenericXdsConfig,
  ConfigStatus,
} from "@xdstp/protos/status";
import { describe, expect, it } from "vitest";
import {
  adsVariants,
  type Harness,
  readyCache,
  serve,
  sourceWithTopic,
  topicWith,
  types,
  variants,
} from "../test/harness.ts";
import type { XdsServer } from "./index.ts";

type StatusRequest = NonNullable<Parameters<XdsServer["clientStatus"]>[0]>;

const registry = envoyRegistry();

function cluster(name: string, more: object = {}): Uint8Array {
  return anyFromJson({ "@type": types.cluster, name, ...more }, registry).value;
}

/** Creates a harness on a cache with these clusters. */
function withClusters(...names: readonly string[]): Harness & {
  readonly cache: ReturnType<typeof readyCache>;
  readonly rows: (request?: StatusRequest) => Promise<readonly ClientConfig_GenericXdsConfig[]>;
  readonly row: (name: string) => Promise<ClientConfig_GenericXdsConfig>;
} {
  const cache = readyCache();
  for (const name of names) cache.put({ typeUrl: types.cluster, name, value: cluster(name) });
  const harness = serve(cache);
  const rows = async (request?: StatusRequest): Promise<readonly ClientConfig_GenericXdsConfig[]> =>
    (await harness.server.clientStatus(request)).config.flatMap(
      ({ genericXdsConfigs }) => genericXdsConfigs,
    );
  const row = async (name: string): Promise<ClientConfig_GenericXdsConfig> => {
    const [found, ...more] = (await rows()).filter((one) => one.name === name);
    if (found === undefined || more.length > 0) throw new Error(`${name} has to be there once`);
    return found;
  };
  return { ...harness, cache, rows, row };
}

const msOf = (time: Timestamp | undefined): number | undefined =>
  time === undefined ? undefined : timestampMs(time);

const { NOT_SENT, STALE, SYNCED, ERROR } = ConfigStatus;

describe.each(variants)("clientStatus() (%s)", (variant) => {
  it(`goes from NOT_SENT over STALE to SYNCED, with the version accepted, the time and the content (${variant}) [S-CSDS-4] [B-CSDS-2]`, async () => {
    const { open, turn, clock, row } = withClusters("a");
    const call = open(variant);
    call.ask(types.cluster, ["a", "missing"]);
    expect(await row("a")).toMatchObject({
      typeUrl: types.cluster,
      configStatus: NOT_SENT,
      versionInfo: "",
    });
    clock.advance(1_000);
    turn();
    const response = call.next();
    const stale = await row("a");
    expect(stale).toMatchObject({ configStatus: STALE, versionInfo: "" });
    expect(stale.xdsConfig).toBeUndefined();
    expect(msOf(stale.lastUpdated)).toBe(1_000);
    clock.advance(500);
    call.ack(response);
    const synced = await row("a");
    expect(synced).toMatchObject({
      configStatus: SYNCED,
      versionInfo: response.version,
      xdsConfig: { typeUrl: types.cluster },
    });
    expect(Buffer.from(synced.xdsConfig?.value ?? [])).toEqual(Buffer.from(cluster("a")));
    expect(msOf(synced.lastUpdated)).toBe(1_500);
    expect(await row("missing")).toMatchObject({ configStatus: NOT_SENT, versionInfo: "" });
  });

  it(`shows the variant that a client was given, and what takes its place (${variant}) [B-CSDS-2] [S-DYN-2]`, async () => {
    const { open, turn, cache, row } = withClusters();
    const env = (value: string, text: string): RawResource => ({
      typeUrl: types.cluster,
      name: "v",
      value: cluster("v", { altStatName: text }),
      constraints: encodeConstraints({ kind: "not", of: { kind: "equals", key: "env", value } }),
    });
    cache.put(env("a", "1"));
    const call = open(variant);
    call.ask(types.cluster, ["v"]);
    turn();
    call.ack(call.next());
    expect(await row("v")).toMatchObject({
      configStatus: SYNCED,
      xdsConfig: { value: cluster("v", { altStatName: "1" }) },
    });
    cache.transaction((writer) => {
      writer.remove(types.cluster, "v", {
        constraints: env("a", "").constraints ?? new Uint8Array(),
      });
      writer.put(env("b", "2"));
    });
    turn();
    const next = call.next();
    expect(await row("v")).toMatchObject({ configStatus: STALE });
    call.ack(next);
    expect(await row("v")).toMatchObject({
      configStatus: SYNCED,
      xdsConfig: { value: cluster("v", { altStatName: "2" }) },
    });
  });

  it(`shows what was rejected, why, and the version still held, until a correction is accepted (${variant}) [S-CSDS-4] [B-CSDS-2]`, async () => {
    const { open, turn, clock, cache, row } = withClusters("a");
    const call = open(variant);
    call.ask(types.cluster, ["a"]);
    turn();
    const good = call.next();
    call.ack(good);
    const bad = cluster("a", { altStatName: "bad" });
    cache.put({ typeUrl: types.cluster, name: "a", value: bad });
    turn();
    const rejected = call.next();
    clock.advance(700);
    call.nack(rejected, "no such thing");
    const error = await row("a");
    expect(error).toMatchObject({
      configStatus: ERROR,
      versionInfo: good.version,
      errorState: {
        details: "no such thing",
        versionInfo: rejected.version,
        failedConfiguration: { typeUrl: types.cluster },
      },
    });
    expect(Buffer.from(error.xdsConfig?.value ?? [])).toEqual(Buffer.from(cluster("a")));
    expect(Buffer.from(error.errorState?.failedConfiguration?.value ?? [])).toEqual(
      Buffer.from(bad),
    );
    expect(msOf(error.errorState?.lastUpdateAttempt)).toBe(700);

    cache.put({ typeUrl: types.cluster, name: "a", value: cluster("a", { altStatName: "good" }) });
    turn();
    const corrected = call.next();
    const stale = await row("a");
    expect(stale).toMatchObject({
      configStatus: STALE,
      versionInfo: good.version,
      errorState: { details: "no such thing" },
    });
    expect(Buffer.from(stale.xdsConfig?.value ?? [])).toEqual(Buffer.from(cluster("a")));
    call.ack(corrected);
    const accepted = await row("a");
    expect(accepted).toMatchObject({ configStatus: SYNCED, versionInfo: corrected.version });
    expect(accepted.errorState).toBeUndefined();
  });

  it(`shows what a client holds, byte for byte, while change after change is rejected and others are accepted, and not on demand (${variant}) [B-CSDS-2]`, async () => {
    const { open, turn, cache, row, rows } = withClusters("a", "b");
    const call = open(variant);
    call.ask(types.cluster, ["*"]);
    turn();
    call.ack(call.next());
    const change = (name: string, altStatName: string): void => {
      cache.put({ typeUrl: types.cluster, name, value: cluster(name, { altStatName }) });
    };
    change("b", "accepted");
    turn();
    call.ack(call.next());
    const versions: string[] = [];
    for (const text of ["bad", "worse"]) {
      change("a", text);
      turn();
      const rejected = call.next();
      versions.push(rejected.version);
      call.nack(rejected, `rejected: ${text}`);
    }
    const a = await row("a");
    expect(a).toMatchObject({
      configStatus: ERROR,
      errorState: { details: "rejected: worse", versionInfo: versions[1] },
    });
    expect(Buffer.from(a.xdsConfig?.value ?? [])).toEqual(Buffer.from(cluster("a")));
    expect(Buffer.from(a.errorState?.failedConfiguration?.value ?? [])).toEqual(
      Buffer.from(cluster("a", { altStatName: "worse" })),
    );
    const b = await row("b");
    expect(Buffer.from(b.xdsConfig?.value ?? [])).toEqual(
      Buffer.from(cluster("b", { altStatName: "accepted" })),
    );
    for (const bare of await rows({ excludeResourceContents: true })) {
      expect(bare.xdsConfig).toBeUndefined();
      expect(bare.errorState?.failedConfiguration).toBeUndefined();
    }
  });

  it(`says of a name whose first answer is rejected that the client holds nothing, and of one whose former content is not kept no more than the version (${variant}) [B-CSDS-2]`, async () => {
    const cache = readyCache({ replacedBytes: 0 });
    for (const name of ["a", "late"])
      for (const altStatName of ["1", "2"])
        cache.put({ typeUrl: types.cluster, name, value: cluster(name, { altStatName }) });
    const { open, turn, server } = serve(cache);
    const row = async (name: string): Promise<ClientConfig_GenericXdsConfig | undefined> =>
      (await server.clientStatus()).config[0]?.genericXdsConfigs.find((one) => one.name === name);
    const call = open(variant);
    call.ask(types.cluster, ["a"]);
    turn();
    call.ack(call.next());
    cache.put({ typeUrl: types.cluster, name: "a", value: cluster("a", { altStatName: "3" }) });
    turn();
    const rejected = call.next();
    call.nack(rejected, "no");
    const a = await row("a");
    expect(a).toMatchObject({ configStatus: ERROR, errorState: { versionInfo: rejected.version } });
    expect(a?.versionInfo).not.toBe("");
    expect(a?.xdsConfig).toBeUndefined();

    const kept = withClusters("a", "late");
    const other = kept.open(variant);
    other.ask(types.cluster, ["a"]);
    kept.turn();
    other.ack(other.next());
    kept.cache.put({
      typeUrl: types.cluster,
      name: "late",
      value: cluster("late", { altStatName: "2" }),
    });
    other.ask(types.cluster, variant.startsWith("sotw") ? ["a", "late"] : ["late"]);
    kept.turn();
    other.nack(other.next(), "no");
    expect((await kept.row("late")).xdsConfig).toBeUndefined();
  });

  it(`tells type by type whoever asks for that, whatever the resources are (${variant}) [S-CSDS-4]`, async () => {
    const { open, turn, clock, cache, rows } = withClusters("a", "b");
    const byType = { node: { clientFeatures: ["xdstp.status.by-type"] } };
    const call = open(variant);
    call.ask(types.cluster, ["a", "b"]);
    expect(await rows(byType)).toMatchObject([
      { typeUrl: types.cluster, name: "", configStatus: NOT_SENT, versionInfo: "" },
    ]);
    clock.advance(100);
    turn();
    expect(await rows(byType)).toMatchObject([{ configStatus: STALE }]);
    const good = call.next();
    clock.advance(100);
    call.ack(good);
    const [synced] = await rows(byType);
    expect(synced).toMatchObject({ configStatus: SYNCED, versionInfo: good.version });
    expect(msOf(synced?.lastUpdated)).toBe(200);
    cache.put({ typeUrl: types.cluster, name: "a", value: cluster("a", { altStatName: "bad" }) });
    turn();
    const bad = call.next();
    call.nack(bad, "");
    expect(await rows(byType)).toMatchObject([
      {
        configStatus: ERROR,
        versionInfo: good.version,
        errorState: { details: "code 3, without a text", versionInfo: bad.version },
      },
    ]);
  });

  it(`names the client and where it comes from, leaves contents out on demand, and forgets who has gone (${variant}) [B-CSDS-1] [B-CSDS-2]`, async () => {
    const { open, turn, server, rows } = withClusters("a");
    const node = {
      id: "n",
      cluster: "c",
      userAgentName: "test",
      userAgentVersionType: { case: "userAgentVersion", value: "1.2" },
      locality: { region: "r", zone: "z", subZone: "s" },
    } as const;
    const call = open(variant, node);
    call.ask(types.cluster, ["*"]);
    turn();
    call.ack(call.next());
    const { config } = await server.clientStatus({ excludeResourceContents: true });
    expect(config).toMatchObject([{ clientScope: "192.0.2.1:5", node: create(NodeSchema, node) }]);
    const [row] = await rows({ excludeResourceContents: true });
    expect(row).toMatchObject({ name: "a", configStatus: SYNCED });
    expect(row?.xdsConfig).toBeUndefined();
    call.cancel();
    expect((await server.clientStatus()).config).toEqual([]);
  });
});

describe.each(adsVariants)("clientStatus() on ADS (%s)", (variant) => {
  it(`hides keys and passwords in secrets and inside of clusters (${variant}) [B-CSDS-7]`, async () => {
    const { open, turn, cache, rows } = withClusters();
    const secretType = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
    const tlsCertificate = {
      certificateChain: { inlineString: "PUBLIC" },
      privateKey: { inlineString: "HIDDEN" },
      password: { inlineString: "HIDDEN" },
    };
    const transportSocket = {
      name: "tls",
      typedConfig: {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        commonTlsContext: { tlsCertificates: [tlsCertificate] },
      },
    };
    cache.put({
      typeUrl: secretType,
      name: "s",
      value: anyFromJson({ "@type": secretType, name: "s", tlsCertificate }, registry).value,
    });
    cache.put({ typeUrl: types.cluster, name: "c", value: cluster("c", { transportSocket }) });
    const call = open(variant);
    call.ask(secretType, ["s"]);
    turn();
    call.ack(call.next());
    call.ask(types.cluster, ["c"]);
    turn();
    call.nack(call.next(), "no");
    const shown = await rows();
    const bytes = shown.map(({ xdsConfig, errorState }) =>
      Buffer.from(xdsConfig?.value ?? errorState?.failedConfiguration?.value ?? []).toString(
        "latin1",
      ),
    );
    expect(shown.map(({ name }) => name).toSorted()).toEqual(["c", "s"]);
    for (const text of bytes) {
      expect(text).toContain("PUBLIC");
      expect(text).not.toContain("HIDDEN");
    }
  });

  it(`hides keys in what a client holds, in what it has rejected and in what it says of that (${variant}) [B-CSDS-7]`, async () => {
    const { open, turn, cache, row, server, events } = withClusters();
    const secretType = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
    const key = "-----BEGIN PRIVATE KEY-----\nHIDDEN\n-----END PRIVATE KEY-----";
    const put = (text: string): void => {
      const tlsCertificate = {
        certificateChain: { inlineString: text },
        privateKey: { inlineString: key },
      };
      cache.put({
        typeUrl: secretType,
        name: "s",
        value: anyFromJson({ "@type": secretType, name: "s", tlsCertificate }, registry).value,
      });
    };
    const call = open(variant);
    put("PUBLIC 1");
    call.ask(secretType, ["s"]);
    turn();
    call.ack(call.next());
    put("PUBLIC 2");
    turn();
    call.nack(call.next(), `Failed to load ${key} of private_key { inline_string: "HIDDEN" }`);
    const { xdsConfig, errorState } = await row("s");
    const texts = [xdsConfig, errorState?.failedConfiguration].map((any) =>
      Buffer.from(any?.value ?? []).toString("latin1"),
    );
    expect(texts).toEqual([
      expect.stringContaining("PUBLIC 1"),
      expect.stringContaining("PUBLIC 2"),
    ]);
    expect(errorState?.details).toBe(
      'Failed to load [redacted] of private_key { inline_string: "[redacted]" }',
    );
    const told = events.filter(({ kind }) => kind === "nack");
    expect(told).toHaveLength(1);
    for (const text of [
      ...texts,
      JSON.stringify(server.status()),
      JSON.stringify(told.map((event) => ({ ...event, stream: undefined }))),
    ])
      expect(text).not.toContain("HIDDEN");
  });

  it(`shows nothing of a type that cannot be searched for secrets (${variant}) [B-CSDS-7]`, async () => {
    const { open, turn, cache, row } = withClusters();
    cache.put({ typeUrl: types.own, name: "f", value: Buffer.from("HIDDEN") });
    const call = open(variant, { id: "n", clientFeatures: ["xds.config.resource-in-sotw"] });
    call.ask(types.own, ["f"]);
    turn();
    call.ack(call.next());
    expect(await row("f")).toMatchObject({
      configStatus: SYNCED,
      xdsConfig: { typeUrl: types.own, value: new Uint8Array() },
    });
  });

  it(`shows a removal that is not answered yet where the variant says it, and a removal not at all afterwards (${variant}) [S-CSDS-4]`, async () => {
    const { open, turn, cache, rows } = withClusters("a", "b");
    const call = open(variant);
    call.ask(types.cluster, ["*"]);
    turn();
    call.ack(call.next());
    cache.remove(types.cluster, "a");
    turn();
    const removal = call.next();
    const before = (await rows()).map(({ name, configStatus }) => [name, configStatus]);
    expect(before).toEqual(
      variant === "delta/ads"
        ? [
            ["b", SYNCED],
            ["a", STALE],
          ]
        : [["b", STALE]],
    );
    call.ack(removal);
    expect((await rows()).map(({ name, configStatus }) => [name, configStatus])).toEqual([
      ["b", SYNCED],
    ]);
  });
});

describe("clientStatus() for some clients", () => {
  async function asked(matcher: StatusRequest["nodeMatchers"]): Promise<readonly string[]> {
    const { open, server } = withClusters();
    for (const id of ["web-1", "web-2", "API"]) open("delta/ads", { id }).ask(types.cluster, ["*"]);
    open("delta/ads");
    const { config } = await server.clientStatus({ nodeMatchers: matcher ?? [] });
    return config.map(({ node }: ClientConfig) => node?.id ?? "none yet");
  }
  const text = (
    kind: "exact" | "prefix" | "suffix" | "contains",
    value: string,
    ignoreCase = false,
  ): NonNullable<StatusRequest["nodeMatchers"]>[number] => ({
    nodeId: { matchPattern: { case: kind, value }, ignoreCase },
  });

  it("applies node matchers: one of them has to hold, and without any everybody is shown [B-CSDS-5]", async () => {
    expect(await asked([])).toEqual(["web-1", "web-2", "API", "none yet"]);
    expect(await asked([text("exact", "web-1")])).toEqual(["web-1"]);
    expect(await asked([text("prefix", "web")])).toEqual(["web-1", "web-2"]);
    expect(await asked([text("suffix", "-2"), text("contains", "P")])).toEqual(["web-2", "API"]);
    expect(await asked([text("exact", "api")])).toEqual([]);
    expect(await asked([text("exact", "api", true)])).toEqual(["API"]);
    expect(await asked([{}])).toEqual(["web-1", "web-2", "API"]);
  });

  it("rejects matchers that it cannot test [B-CSDS-5]", async () => {
    await expect(asked([{ nodeMetadatas: [{}] }])).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      text: expect.stringContaining("metadata") as string,
    });
    await expect(
      asked([{ nodeId: { matchPattern: { case: "safeRegex", value: { regex: "(a+)+$" } } } }]),
    ).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(asked([{ nodeId: {} }])).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("rejects to make an answer that is too large, and names the way out", async () => {
    const cache = readyCache();
    for (let count = 0; count < 20; count++)
      cache.put({
        typeUrl: types.cluster,
        name: `c${count}`,
        value: cluster(`c${count}`, { altStatName: "x".repeat(500) }),
      });
    const { open, turn, server } = serve(cache, { limits: { stream: { fullStateBytes: 8_000 } } });
    const call = open("delta/ads");
    call.ask(types.cluster, ["*"]);
    turn();
    call.ack(call.next());
    await expect(server.clientStatus()).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      text: expect.stringContaining("exclude_resource_contents") as string,
    });
    await expect(server.clientStatus({ excludeResourceContents: true })).resolves.toMatchObject({
      config: [{ clientScope: "192.0.2.1:5" }],
    });
  });

  it("stops for a caller that has gone", async () => {
    const { open, server } = withClusters("a");
    open("delta/ads").ask(types.cluster, ["*"]);
    await expect(server.clientStatus({}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "CANCELLED",
    });
  });
});

describe("clientStatus() and fetch()", () => {
  it("answer few callers at a time, whoever asks, and turn away who is too many [S-LIM-1]", async () => {
    const { server, open, turn } = withLimits();
    const call = open("delta/ads");
    call.ask(types.cluster, ["*"]);
    turn();
    call.ack(call.next());
    const asked = [0, 1, 2, 3].map(async () => server.clientStatus());
    expect(server.stats().answers.status).toEqual({ answering: 2, waiting: 1, rejected: 1 });
    expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
    await expect(asked[3]).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      text: "too many calls wait for an answer",
    });
    const fetched = [0, 1, 2].map(async () => server.fetch(types.cluster, { node: { id: "n" } }));
    expect((await Promise.allSettled(fetched)).map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
    expect(server.stats().answers.fetch.rejected).toBe(1);
  });

  it("answer every address in turn, whatever its ports: who asks most makes room [S-LIM-1]", async () => {
    const { server } = serve(readyCache(), {
      limits: { answers: { statusAnswers: 1, fetchAnswers: 1, waitingAnswers: 2 } },
    });
    const callers = ["192.0.2.1:1", "192.0.2.1:2", "192.0.2.1:3", "192.0.2.2:1"].map((address) => ({
      peer: { address },
    }));
    const outcomes = async (
      ask: (caller: (typeof callers)[number]) => Promise<unknown>,
    ): Promise<readonly string[]> =>
      (await Promise.allSettled(callers.map(ask))).map(({ status }) => status);
    expect(await outcomes(async (caller) => server.clientStatus({}, caller))).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(
      await outcomes(async (caller) => server.fetch(types.cluster, { node: { id: "n" } }, caller)),
    ).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  });

  it("give the event loop a turn after about 1 MiB [S-LIM-1]", async () => {
    const { server, open, turn, cache } = withLimits();
    cache.put({
      typeUrl: types.cluster,
      name: "large",
      value: cluster("large", { altStatName: "x".repeat(1 << 20) }),
    });
    const calls = [open("delta/ads"), open("sotw/ads")];
    for (const call of calls) call.ask(types.cluster, ["large"]);
    turn();
    for (const call of calls) call.ack(call.next());
    await server.clientStatus();
    for (const ask of [
      async () => server.clientStatus(),
      async () => server.fetch(types.cluster, { node: { id: "n" } }),
    ]) {
      let turns = 0;
      const count = (): void => {
        turns += 1;
        pending = setImmediate(count);
      };
      let pending = setImmediate(count);
      await ask();
      clearImmediate(pending);
      expect(turns).toBeGreaterThanOrEqual(1);
    }
  });

  function withLimits(): Harness & { readonly cache: ReturnType<typeof readyCache> } {
    const cache = readyCache();
    cache.put({ typeUrl: types.cluster, name: "a", value: cluster("a") });
    return {
      cache,
      ...serve(cache, {
        limits: { answers: { statusAnswers: 2, fetchAnswers: 1, waitingAnswers: 1 } },
      }),
    };
  }
});

it("does not search the removals of an empty collection [S-CSDS-4]", async () => {
  let searches = 0;
  const removed = (): readonly never[] => {
    searches++;
    return [];
  };
  const source = sourceWithTopic(readyCache(), "*", ({ interest }) =>
    topicWith({ interest, removed }),
  );
  const { open, turn, server } = serve(source);
  open("delta/ads").ask(types.cluster, ["*"]);
  turn();
  searches = 0;
  const { config } = await server.clientStatus();
  expect(config[0]?.genericXdsConfigs).toMatchObject([{ name: "*", configStatus: NOT_SENT }]);
  expect(searches).toBe(0);
});
