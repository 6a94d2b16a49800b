import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild, type Child } from "../run/child.ts";
import { openFilesFor } from "../run/open-files.ts";
import { percentile } from "../run/percentile.ts";
import type { RelayAnswers, RelayCommand } from "./main.ts";
import { openWatchers } from "./watchers.ts";

type Peer = Child<RelayCommand, RelayAnswers>;

function startPeer(signal: AbortSignal): Peer {
  return startChild<RelayCommand, RelayAnswers>("relay/main.ts", {
    flags: ["--expose-gc"],
    openFiles: openFilesFor(200),
    signal,
  });
}

/** The cost of a hop, with one client on either side of it. Times in milliseconds, CPU in microseconds for a change. */
export interface HopMeasurement {
  readonly direct: number;
  readonly relayed: number;
  readonly cpu: number;
}

/** 1,000 changes a second among 100 members, which one client reads from the origin and one through a relay. */
export async function measureHop(ms: number, signal: AbortSignal): Promise<HopMeasurement> {
  const members = 100;
  await using origin = startPeer(signal);
  await using relay = startPeer(signal);
  const { port } = await origin.ask({ op: "origin", members });
  const { port: hop } = await relay.ask({ op: "relay", port });
  using direct = openWatchers(port, 1, members);
  using relayed = openWatchers(hop, 1, members);
  await Promise.all([direct.ready, relayed.ready]);
  await origin.ask({ op: "change", members, perSecond: 1_000, ms: ms / 2 }); // compiled by then
  for (const one of [direct, relayed]) one.takeDelays();
  const before = await relay.ask({ op: "cpu" });
  const changes = await origin.ask({ op: "change", members, perSecond: 1_000, ms });
  const cpu = (await relay.ask({ op: "cpu" })) - before;
  return {
    direct: percentile(direct.takeDelays(), 0.5),
    relayed: percentile(relayed.takeDelays(), 0.5),
    cpu: cpu / changes,
  };
}

/** The cost of clients of equal interest. */
export interface CrowdMeasurement {
  /** Messages upstream until all have everything, and one change after it. */
  readonly upstream: number;
  /** Bytes of the relay for each client. */
  readonly heap: number;
}

/** So many clients of a relay want the same glob. */
export async function measureCrowd(
  clients: number,
  signal: AbortSignal,
): Promise<CrowdMeasurement> {
  const members = 100;
  await using origin = startPeer(signal);
  await using relay = startPeer(signal);
  const { port } = await origin.ask({ op: "origin", members });
  const { port: hop } = await relay.ask({ op: "relay", port });
  using first = openWatchers(hop, 1, members);
  await first.ready;
  const before = await relay.ask({ op: "memory" });
  using crowd = openWatchers(hop, clients, members);
  await crowd.ready;
  const upstream = await origin.ask({ op: "asked" });
  const after = await relay.ask({ op: "memory" });
  return { upstream, heap: (after.heap - before.heap) / clients };
}

/** Milliseconds from nothing until a relay listens with so many resources of its snapshot, and until a client has them all, without upstream. */
export async function measureStart(
  members: number,
  signal: AbortSignal,
): Promise<{ readonly listens: number; readonly served: number }> {
  const dir = await mkdtemp(join(tmpdir(), "xdstp-bench-"));
  try {
    const port = await fillSnapshot(members, dir, signal);
    await using relay = startPeer(signal);
    const { port: hop, ms } = await relay.ask({ op: "relay", port, snapshot: dir });
    const from = performance.now();
    using client = openWatchers(hop, 1, members);
    await client.ready;
    return { listens: ms, served: performance.now() - from };
  } finally {
    await rm(dir, { recursive: true });
  }
}

async function fillSnapshot(members: number, dir: string, signal: AbortSignal): Promise<number> {
  await using origin = startPeer(signal);
  await using relay = startPeer(signal);
  const { port } = await origin.ask({ op: "origin", members });
  const { port: hop } = await relay.ask({ op: "relay", port, snapshot: dir });
  using client = openWatchers(hop, 1, members);
  await client.ready;
  await relay.ask({ op: "close" });
  return port;
}
