import { create, toBinary } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import { ListenerSchema } from "@xdstp/protos/envoy/listener";
import { envoyTypes, listener } from "@xdstp/resource-types";
import { createServer, type XdsServer } from "@xdstp/server";

/** The canonical server of an authority, which can be gone and come back on its port. */
export interface Origin extends AsyncDisposable {
  readonly uri: string;
  /** The names that were requested from it, in order. */
  readonly asked: readonly string[];
  /** Puts a listener that says which edition it is. */
  publish(id: string, edition: string): void;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** The name, or the glob, of listeners of the one authority of this example. */
export function listenerName(path: string): string {
  return `xdstp://some-authority/envoy.config.listener.v3.Listener/${path}`;
}

/** Starts the origin on a free port of loopback. */
export async function startOrigin(): Promise<Origin> {
  const cache = createCache({ types: envoyTypes, authorities: ["some-authority"] });
  cache.commit({});
  const asked: string[] = [];
  let server: XdsServer | undefined;
  const listen = async (port: number): Promise<number> => {
    server = createServer({
      source: cache,
      controlPlane: "origin",
      onEvent: (event) => {
        if (event.kind === "subscribe") asked.push(...event.added);
      },
    });
    return (await server.listen({ host: "127.0.0.1", port })).port;
  };
  const stop = async (): Promise<void> => {
    await server?.close({ graceMs: 0 });
  };
  const port = await listen(0);
  return {
    uri: `127.0.0.1:${String(port)}`,
    asked,
    stop,
    publish(id, statPrefix) {
      const name = listenerName(id);
      cache.put({
        typeUrl: listener.typeUrl,
        name,
        value: toBinary(ListenerSchema, create(ListenerSchema, { name, statPrefix })),
      });
    },
    start: async () => {
      await listen(port);
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await cache.close();
    },
  };
}
