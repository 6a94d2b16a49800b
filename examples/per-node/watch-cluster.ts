import { type Client, createChannels, createClient, parseBootstrap } from "@xdstp/client";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";

/** A client of one tier that follows one cluster. */
export interface ClusterView extends AsyncDisposable {
  /** Resolves when it shows this edition. */
  shows(edition: string): Promise<void>;
}

/** Connects as a node of a tier and watches a cluster by name. */
export function watchCluster(uri: string, tier: string, name: string): ClusterView {
  const client = clientOf(uri, tier);
  const watch = client.watch(ClusterSchema, name);
  const changes = watch[Symbol.asyncIterator]();
  let shown: string | undefined;
  return {
    async shows(edition) {
      while (shown !== edition) {
        const { done, value: snapshot } = await changes.next();
        if (done === true)
          throw new Error(`the watch of tier ${tier} has ended before it showed ${edition}`);
        shown = snapshot.value?.altStatName;
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function clientOf(uri: string, tier: string): Client {
  const bootstrap = parseBootstrap({
    xds_servers: [{ server_uri: uri, channel_creds: [{ type: "insecure" }] }],
    node: { id: `${tier}-1`, metadata: { tier } },
  });
  return createClient({ bootstrap, channels: createChannels() });
}
