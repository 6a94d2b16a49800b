import { join } from "node:path";
import { createRelay, type Relay, type RelayOptions } from "@xdstp/relay";
import { createServer } from "@xdstp/server";
import { createFakeClock } from "@xdstp/testing";
import { expect, it, onTestFinished } from "vitest";
import { useFolder } from "../../test/use-folder.ts";
import { clusterUrl } from "../../test/use-origin.ts";
import { firstAsUpstream } from "./first-as-upstream.ts";
import { groupLimits } from "../named-limits.ts";
import { workerLimits } from "./worker-limits.ts";

const node = { id: "relay", cluster: "relays" };
const name = "xdstp://x/envoy.config.cluster.v3.Cluster/a";
const glob = "xdstp://x/envoy.config.cluster.v3.Cluster/ns/*";

function useRelay(options: RelayOptions): Relay {
  const relay = createRelay(options);
  onTestFinished(() => relay.close());
  return relay;
}

it("a worker takes the silence of the first, whose servers are away, for no answer: nothing is missing, and no collection is empty [C-GRPC-10] [C-GLOB-9]", async () => {
  const path = join(useFolder().dir, "first.sock");
  const first = useRelay({
    bootstrap: {
      json: {
        xds_servers: [{ server_uri: "127.0.0.1:1", channel_creds: [{ type: "insecure" }] }],
        node,
      },
    },
  });
  const server = createServer({ ...first.serving, limits: groupLimits(workerLimits({})) });
  onTestFinished(() => server.close({ graceMs: 0 }));
  await server.listen({ path });
  const clock = createFakeClock();
  const worker = useRelay({ bootstrap: firstAsUpstream(path, node, 1), clock });
  const topics = [name, glob].map((one) => worker.cache.topic(clusterUrl, { name: one }));
  for (const topic of topics) topic.watch({ wake: () => undefined });
  await expect
    .poll(() =>
      server.status().flatMap(({ types }) => types.map(({ subscriptions }) => subscriptions)),
    )
    .toEqual([2]);
  expect(server.status().map(({ node: seen }) => seen?.id)).toEqual(["relay/worker-1"]);
  // What has been asked is on its way back or not: the stream has begun.
  await expect
    .poll(() => {
      clock.advance(60_000);
      return topics.map(({ stale }) => stale?.code);
    })
    .toEqual(["UNAVAILABLE", "UNAVAILABLE"]);
  expect(topics.map(({ settled }) => settled)).toEqual([false, false]);
});
