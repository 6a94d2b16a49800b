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

/** A custom type: a text. Decoding `broken` fails. */
export const flag: WatchedType<string> = {
  typeUrl: flagUrl,
  decode(payload) {
    const text = Buffer.from(payload).toString();
    if (text === "broken") throw new Error("flags are not broken");
    return text;
  },
};

/** A client whose servers the test plays, with the URIs `s0`, `s1`... */
export interface Script<Server> {
  readonly client: Client;
  readonly clock: FakeClock;
  readonly server: Server;
  readonly servers: readonly Server[];
  readonly events: ClientNotice[];
  /** The number of uses of each channel, by URI. */
  readonly channels: ReadonlyMap<string, number>;
}

/** The parts of a bootstrap that a test may change. */
export interface ScriptOptions extends ClientOptions {
  readonly features?: readonly string[];
  readonly bootstrapMore?: object;
  readonly serverFeatures?: readonly string[];
  /** The answer of the wire to a probe. Absent: the wire cannot probe. */
  readonly probe?: NonNullable<ByteStream["probe"]>;
}

/** Creates a delta client. */
export function useDeltaScript(options: ScriptOptions = {}, count = 1): Script<RawServer<"delta">> {
  return useScript(createRawDeltaServer, { variant: "delta", ...options }, count);
}

/** Creates a SotW client. */
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

/** Resolves when the work that was begun in this turn is done. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
