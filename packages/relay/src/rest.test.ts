import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ServerConfig } from "@xdstp/bootstrap";
import type { Client, WatchedType } from "@xdstp/client";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { describe, expect, it } from "vitest";

import {
  type Origin,
  type TestBootstrap,
  useClient,
  useOrigin,
  useRelay,
} from "../test/use-relay.ts";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const nameOf = (id: string): string => `xdstp://a/envoy.config.cluster.v3.Cluster/${id}`;
const [web, late] = [nameOf("web"), nameOf("late")];

/** A cluster, read as the text in one of its fields. */
const text: WatchedType<string> = {
  typeUrl,
  decode: (payload) => fromBinary(ClusterSchema, payload).altStatName,
};

function put({ cache }: Origin, name: string, altStatName: string): void {
  const value = toBinary(ClusterSchema, create(ClusterSchema, { name, altStatName }));
  cache.put({ typeUrl, name, value });
}

/** Reads until the value arrives. */
async function until(client: Client, name: string, value: string): Promise<void> {
  for await (const snapshot of client.watch(text, name)) if (snapshot.value === value) return;
}

/** The bootstrap of a client that polls these servers. */
function polling(uris: readonly string[], id: string): TestBootstrap {
  const servers = uris.map((uri): ServerConfig => ({
    uri,
    credentials: { type: "insecure" },
    features: new Set(),
    rest: { refreshMs: 10 },
  }));
  return { node: { id, cluster: "" }, sources: [{ servers }] };
}

describe.each(["delta", "sotw"] as const)("a relay between REST and %s", (variant) => {
  it("polls its origin, keeps what is held while the origin is dead, and goes on when it is back [C-REST-6] [C-REST-7] [C-AGG-3]", async () => {
    const origin = await useOrigin();
    put(origin, web, "1");
    const relay = await useRelay(polling([origin.uri], "relay"));
    const first = useClient([relay.uri], { variant });
    await until(first, web, "1");
    put(origin, web, "2");
    await until(first, web, "2");
    expect([...origin.polled]).toEqual(["/v3/discovery:clusters"]);
    expect(relay.polled.size).toBe(0);
    await origin.close();
    const second = useClient([relay.uri], { variant });
    await until(second, web, "2");
    const again = await useOrigin(Number(origin.uri.split(":")[1]));
    put(again, web, "2");
    put(again, late, "new");
    await until(second, late, "new");
    put(again, web, "3");
    await Promise.all([until(first, web, "3"), until(second, web, "3")]);
  });

  it("keeps a rejection with the client that says it, and sends the origin none [B-RELAY-5]", async () => {
    const origin = await useOrigin();
    put(origin, web, "good");
    const relay = await useRelay(polling([origin.uri], "relay"));
    const easy = useClient([relay.uri], { variant });
    const strict = useClient([relay.uri], { variant });
    const strictText: WatchedType<string> = {
      ...text,
      decode: (payload) => {
        const value = text.decode(payload);
        if (value === "bad") throw new Error("no such mode");
        return value;
      },
    };
    const seen: string[] = [];
    for await (const { value, error } of strict.watch(strictText, web)) {
      seen.push(`${value ?? ""}${error === undefined ? "" : "!"}`);
      if (seen.length === 1) {
        put(origin, web, "bad");
        await until(easy, web, "bad");
      }
      if (error !== undefined && value === "good") put(origin, web, "better");
      if (value === "better" && error === undefined) break;
    }
    expect(seen).toEqual(["good", "good!", "better"]);
    expect(origin.events.filter(({ kind }) => kind === "nack")).toEqual([]);
    expect(relay.relay.rejections()).toMatchObject([{ name: web, clients: 1 }]);
  });

  it("answers clients that poll with what its origin sends on streams [S-REST-1]", async () => {
    const origin = await useOrigin();
    put(origin, web, "1");
    const relay = await useRelay([origin.uri], { variant });
    const client = useClient(polling([relay.uri], "me"));
    await until(client, web, "1");
    put(origin, web, "2");
    await until(client, web, "2");
    expect([...relay.polled]).toEqual(["/v3/discovery:clusters"]);
    expect(origin.polled.size).toBe(0);
  });
});

it("a client that polls is sent the next server when the first one is dead [C-REST-7]", async () => {
  const [dead, origin] = [await useOrigin(), await useOrigin()];
  await dead.close();
  put(origin, web, "1");
  await until(useClient(polling([dead.uri, origin.uri], "me")), web, "1");
});
