import type { ByteStream } from "@xdstp/core";
import {
  createFakeClock,
  createRawDeltaServer,
  createRawSotwServer,
  type FakeClock,
  type RawServer,
} from "@xdstp/testing";
import { onTestFinished } from "vitest";

import {
  createClient,
  parseBootstrap,
  type Channels,
  type Client,
  type ClientNotice,
  type ClientOptions,
  type WatchedType,
} from "../src/index.ts";

export const flagUrl = "type.googleapis.com/acme.v1.Flag";

/** A type of one's own: text, of which `broken` is none. */
export const flag: WatchedType<string> = {
  typeUrl: flagUrl,
  decode(payload) {
    const text = Buffer.from(payload).toString();
    if (text === "broken") throw new Error("flags are not broken");
    return text;
  },
};

/** A client whose servers are in the hands of the test, by URI `s0`, `s1`... */
export interface Script<Server> {
  readonly client: Client;
  readonly clock: FakeClock;
  readonly server: Server;
  readonly servers: readonly Server[];
  readonly events: ClientNotice[];
  /** Channels that are in use, by URI. */
  readonly channels: ReadonlyMap<string, number>;
}

/** What of a bootstrap a test may want otherwise. */
export interface ScriptOptions extends ClientOptions {
  readonly features?: readonly string[];
  readonly bootstrapMore?: object;
  readonly serverFeatures?: readonly string[];
  /** What the wire answers to a probe. Absent: it cannot tell. */
  readonly probe?: NonNullable<ByteStream["probe"]>;
}

/** A client in delta. */
export function useDeltaScript(options: ScriptOptions = {}, count = 1): Script<RawServer<"delta">> {
  return useScript(createRawDeltaServer, { variant: "delta", ...options }, count);
}

/** A client in SotW. */
export function useSotwScript(options: ScriptOptions = {}, count = 1): Script<RawServer<"sotw">> {
  return useScript(createRawSotwServer, { variant: "sotw", ...options }, count);
}

function probed(out: ByteStream, probe: NonNullable<ByteStream["probe"]>): ByteStream {
  return {
    send: (message) => out.send(message),
    pause: () => out.pause?.(),
    resume: () => out.resume?.(),
    close: (status) => {
      out.close(status);
    },
    probe,
  };
}

function useScript<Server extends Pick<RawServer<"delta">, "connect">>(
  create: () => Server,
  { serverFeatures = [], bootstrapMore = {}, probe, ...options }: ScriptOptions,
  count: number,
): Script<Server> {
  const servers = Array.from({ length: count }, create);
  const [server] = servers;
  if (server === undefined) throw new Error("a script needs a server");
  const clock = createFakeClock();
  const events: ClientNotice[] = [];
  const inUse = new Map<string, number>();
  const channels: Channels = {
    acquire({ uri }) {
      inUse.set(uri, (inUse.get(uri) ?? 0) + 1);
      return {
        open(_, handler) {
          const out = (servers[Number(uri.slice(1))] ?? server).connect(handler);
          return probe === undefined ? out : probed(out, probe);
        },
        release: () => {
          inUse.set(uri, (inUse.get(uri) ?? 0) - 1);
        },
      };
    },
  };
  const client = createClient({
    bootstrap: parseBootstrap({
      xds_servers: servers.map((_, index) => ({
        server_uri: `s${index}`,
        channel_creds: [{ type: "insecure" }],
        server_features: serverFeatures,
      })),
      node: { id: "me", cluster: "west", metadata: { stage: "test" } },
      ...bootstrapMore,
    }),
    channels,
    clock,
    random: () => 0.5,
    onEvent: (event) => {
      if ("server" in event && event.kind !== "foreign") events.push(event);
    },
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, clock, server, servers, events, channels: inUse };
}

/** When what was begun in this turn is done. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
