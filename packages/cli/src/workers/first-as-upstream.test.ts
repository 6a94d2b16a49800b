import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRelay, type Relay, type RelayOptions } from "@xdstp/relay";
import { createServer } from "@xdstp/server";
import { createFakeClock } from "@xdstp/testing";
import { defaultNamedLimits, groupLimits } from "../named-limits.ts";
import { firstAsUpstream, workerLimits } from "./first-as-upstream.ts";
import { useFolder } from "../../test/use-folder.ts";
import { clusterUrl } from "../../test/use-origin.ts";

/** The limits that apply to workers like to every client, each with its reason. Add a new limit here or to `workerLimits`. It belongs into `workerLimits` if it limits a number that grows with clients or names. */
const stays: Readonly<Record<string, string>> = {
  responseBytes: "a larger state is sent in parts, and an operator sets it for all processes",
  fullStateBytes: "workers use delta, which has no full state",
  repairMs: "does not end a stream",
  orderMs: "does not end a stream",
  stuckMs: "does not end a stream",
  endStuckMs: "does not end a stream by default",
  settleMs: "concerns SotW",
  errorText: "the text of one NACK, which is shortened",
  nackCost: "is paid from `changeBurst`, which is lifted",
  firstSyncMs: "no first sync waits, since `firstSyncs` is lifted",
  waitingSyncs: "no first sync waits, since `firstSyncs` is lifted",
  admissionMs: "no first sync waits, since `firstSyncs` is lifted",
  authorizeMs: "the first process does not authorize",
  waitingMessages: "the first process does not authorize",
  waitingBytes: "the first process does not authorize",
  statusAnswers: "workers do not request client status over the socket",
  fetchAnswers: "workers do not use Fetch",
  waitingAnswers: "workers do not use Fetch or client status",
  maxConnections: "a worker has one connection",
  maxConnectionsPerPeer: "a worker has one connection",
  maxCallsPerConnection: "workers do not use Fetch or client status",
  headerListBytes: "the headers of a worker are always the same",
  firstMessageMs: "a time, and the processes are on one machine",
  messageMs: "a time, and the processes are on one machine",
  httpIdleMs: "concerns HTTP/1.1, and workers use HTTP/2",
  stalledMs: "a time, and the processes are on one machine",
  minBytesPerSecond: "a rate, and the processes are on one machine",
  pingMs: "a time, and the processes are on one machine",
  pingTimeoutMs: "a time, and the processes are on one machine",
  minPingIntervalMs: "a time, and a worker pings every 30 s",
  goawayGraceMs: "a time, and concerns connections without calls",
  emptyBytes: "grows back with the bytes of messages",
  rejectedCalls: "a worker does not send messages that are malformed or too large",
};

describe("workerLimits()", () => {
  it("lifts every limit that counts what grows with clients or names [S-LIM-1] [S-LIM-4]", () => {
    const lifted = Object.entries(workerLimits({}))
      .filter(([, value]) => value === 0x7fff_ffff)
      .map(([name]) => name);
    expect([...lifted, ...Object.keys(stays)].sort()).toEqual(
      Object.keys(defaultNamedLimits).sort(),
    );
  });

  it("sends responses to workers as large as the operator allows for clients [S-SIZE-1]", () => {
    expect(workerLimits({ responseBytes: 9_000_000, subscriptions: 5 })).toMatchObject({
      responseBytes: 9_000_000,
      subscriptions: 0x7fff_ffff,
    });
    expect(workerLimits({})).not.toHaveProperty("responseBytes");
  });
});

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
  // The stream is open and the subscriptions are sent; an answer may or may not have arrived.
  await expect
    .poll(() => {
      clock.advance(60_000);
      return topics.map(({ stale }) => stale?.code);
    })
    .toEqual(["UNAVAILABLE", "UNAVAILABLE"]);
  expect(topics.map(({ settled }) => settled)).toEqual([false, false]);
});
