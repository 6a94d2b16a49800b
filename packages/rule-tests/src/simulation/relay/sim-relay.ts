import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChannels, encodeNode } from "@xdstp/bootstrap";
import type { Clock } from "@xdstp/core";
import { type ClientFeed, createClientContext } from "@xdstp/protocol/client";
import type { BootstrapFacts, FederationSource, OpenServer } from "@xdstp/federation";
import type { Connection, Network, SeededRandom } from "@xdstp/testing";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createSotwClient } from "@xdstp/transport-sotw/client";

import { createHub } from "../../../../relay/src/create-hub.ts";
import { snapshotOver } from "../../../../snapshot/src/open-snapshot.ts";
import { SnapshotStore } from "../../../../snapshot/src/snapshot-store.ts";
import { directDisk } from "../../../../snapshot/test/direct-disk.ts";
import type { Defect } from "../defects/defect.ts";
import { addressOf, type RelayOf, type RelayProcess, type SimServer } from "../sim-server.ts";
import { types } from "../types.ts";
import type { HopShape } from "../world-shape.ts";

/** The options of a relay. */
export interface SimRelayOptions {
  readonly name: string;
  /** The upstream server. */
  readonly upstream: SimServer;
  readonly shape: HopShape;
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly network: Network;
  readonly defect: Defect;
}

/** A machine that runs a relay: its disk outlives the process. */
export interface SimRelay extends RelayOf {
  /** Its newest call upstream; undefined before the first. */
  readonly connection: Connection | undefined;
  /** The number of its subscriptions upstream. */
  readonly wants: number;
  /** Deletes its disk. */
  close(): void;
}

/** Short, so that it ends within a rest. */
const LINGER = 5_000;

/** A relay that does not run yet. */
export function createSimRelay(options: SimRelayOptions): SimRelay {
  const disks = createDisks();
  let connection: Connection | undefined;
  let feed: ClientFeed | undefined;
  const openServer = (): OpenServer => {
    feed = clientEnd(options, (opened) => {
      connection = opened;
    });
    return {
      feed,
      close: () => {
        feed = undefined;
      },
    };
  };
  return {
    root: options.upstream.root,
    get connection() {
      return connection;
    },
    get wants() {
      return feed?.status().types.reduce((sum, { wants }) => sum + wants.length, 0) ?? 0;
    },
    open: () => openProcess(options, disks, openServer, () => connection?.cut("both")),
    close: () => {
      disks.remove();
    },
  };
}

/** The directories of a machine, one after the other. */
interface Disks {
  readonly dir: string;
  /** Copies the files written so far to a new directory. The process still writes to the old one, which is not read any more. */
  crash(): void;
  remove(): void;
}

function createDisks(): Disks {
  const root = mkdtempSync(join(tmpdir(), "xdstp-relay-"));
  let count = 0;
  const dirOf = (nth: number): string => join(root, String(nth));
  return {
    get dir() {
      return dirOf(count);
    },
    crash() {
      cpSync(dirOf(count), dirOf(++count), { recursive: true });
    },
    remove() {
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A crash loses everything that is not on the disk, and notifies upstream only, whose machine sees it. */
function openProcess(
  {
    name,
    clock,
    random,
    defect: { lingerMs = LINGER, snapshot: kept = (store) => store },
  }: SimRelayOptions,
  disks: Disks,
  open: () => OpenServer,
  cut: () => void,
): RelayProcess {
  const snapshot = snapshotOver(kept(new SnapshotStore({ dir: disks.dir, clock }, directDisk)));
  const source: FederationSource = { servers: [{ id: name, name: `upstream of ${name}`, open }] };
  const facts: BootstrapFacts = {
    node: { id: name, cluster: "" },
    nodeContextParams: [],
    sources: () => [source],
  };
  const hub = createHub(facts.node, {
    facts,
    channels: createChannels(),
    types,
    clock,
    random: () => random.next(),
    lingerMs,
    revisions: { last: 0 },
    opaque: true,
    snapshot,
  });
  hub.start();
  return {
    cache: hub.cache,
    source: hub.source,
    end(crash) {
      if (crash) {
        disks.crash();
        cut();
      }
      void hub.close();
      void snapshot.close();
    },
  };
}

function clientEnd(
  { name, upstream, shape, clock, random, network }: SimRelayOptions,
  onConnected: (connection: Connection | undefined) => void,
): ClientFeed {
  const context = createClientContext({
    connect: (handler) => {
      const stream = network.connect(addressOf(upstream.name, shape.variant), handler);
      onConnected(network.connections.findLast(({ isDuplicate }) => !isDuplicate));
      return stream;
    },
    node: encodeNode({ id: name, cluster: "" }),
    clock,
    random: () => random.next(),
    later: (callback) => {
      clock.after(0, callback);
    },
    descriptor: (typeUrl) => types.find((type) => type.typeUrl === typeUrl),
    backoff: { maxMs: 5_000 },
    keepRemoved: false,
  });
  return shape.variant === "delta" ? createDeltaClient(context) : createSotwClient(context);
}
