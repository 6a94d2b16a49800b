import {
  type Client,
  createChannels,
  createClient,
  type ListChange,
  parseBootstrap,
} from "@xdstp/client";
import { type Cluster, ClusterSchema } from "@xdstp/protos/envoy/cluster";

import type { Plane } from "./plane.ts";
import { cluster, clusterName, list, listName } from "./resources.ts";

/** Two authorities, each with a control plane of its own. */
export interface Planes {
  readonly cloud: Plane;
  readonly premises: Plane;
}

/** A program reads a list of clusters of both authorities. One control plane dies: the alternative takes its place, and gives it back. */
export async function runTour(
  { cloud, premises }: Planes,
  say: (line: string) => void,
): Promise<void> {
  await cloud.put(cluster("cloud", "checkout"));
  await premises.put(
    cluster("premises", "checkout-copy"),
    cluster("premises", "search"),
    list("premises", "shop", [
      `${clusterName("cloud", "checkout")}#alt=${clusterName("premises", "checkout-copy")}`,
      clusterName("premises", "search"),
    ]),
  );
  await using client = clientOf({ cloud, premises });
  const changes = client
    .watchList(ClusterSchema, listName("premises", "shop"))
    [Symbol.asyncIterator]();
  say(await until(changes, "checkout from cloud, search from premises"));
  say("-- the control plane of cloud dies");
  await cloud.stop();
  say(await until(changes, "checkout from premises, search from premises"));
  for (const { name, hops } of client.traces())
    say(`   ${idOf(name)} ${hops.map(({ kind, to }) => `-> ${kind} ${to}`).join(" ")}`);
  say("-- it is back");
  await cloud.start();
  say(await until(changes, "checkout from cloud, search from premises"));
}

function clientOf({ cloud, premises }: Planes): Client {
  const server = ({ uri }: Plane): object => ({
    xds_servers: [{ server_uri: uri, channel_creds: [{ type: "insecure" }] }],
  });
  return createClient({
    bootstrap: parseBootstrap({
      ...server(premises),
      node: { id: "example-federation" },
      authorities: { cloud: server(cloud), premises: server(premises) },
    }),
    channels: createChannels(),
    backoff: { initialMs: 200, maxMs: 1_000 },
    // Without this the program would keep what it has of cloud: that is the default.
    altOnUnreachable: (authority) => authority === "cloud",
  });
}

async function until(
  changes: AsyncIterator<ListChange<Cluster>, undefined>,
  wanted: string,
): Promise<string> {
  for (;;) {
    const { value } = await changes.next();
    if (value === undefined) throw new Error(`the watch has ended before it showed ${wanted}`);
    const shown = value.members
      .map(
        (member) =>
          `${idOf(member.name)} from ${member.value?.altStatName ?? `nowhere (${member.state})`}`,
      )
      .join(", ");
    if (shown === wanted) return shown;
  }
}

function idOf(name: string): string {
  return name.replace(/#.*/, "").replace(/^.*\//, "");
}
