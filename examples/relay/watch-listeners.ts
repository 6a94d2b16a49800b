import { type Client, createChannels, createClient, parseBootstrap } from "@xdstp/client";
import { ListenerSchema } from "@xdstp/protos/envoy/listener";

import { listenerName } from "./origin.ts";

/** A client of the relay that keeps all listeners of a glob. */
export interface ListenersView extends AsyncDisposable {
  /** Resolves when it shows these: `bar 1, foo 1`. */
  shows(wanted: string): Promise<void>;
}

/** Connects to a relay and watches a glob. */
export function watchListeners(relay: string, node: string, path: string): ListenersView {
  const client = clientOf(relay, node);
  const watch = client.watchAll(ListenerSchema, listenerName(path));
  const changes = watch[Symbol.asyncIterator]();
  const shown = (): string =>
    [...watch.members.values()]
      .map(({ name, value }) => `${name.replace(/^.*\//, "")} ${value.statPrefix}`)
      .sort()
      .join(", ");
  return {
    async shows(wanted) {
      while (shown() !== wanted) {
        const { done } = await changes.next();
        if (done === true)
          throw new Error(`the watch of ${node} has ended before it showed ${wanted}`);
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function clientOf(relay: string, node: string): Client {
  const bootstrap = parseBootstrap({
    xds_servers: [{ server_uri: relay, channel_creds: [{ type: "insecure" }] }],
    node: { id: node },
  });
  return createClient({
    bootstrap,
    channels: createChannels(),
    backoff: { initialMs: 100, maxMs: 500 },
  });
}
