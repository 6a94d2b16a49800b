import { create } from "@bufbuild/protobuf";
import { createNodeCaches } from "@xdstp/cache";
import { type Put, type Removal, type ResourceType, type Transaction, XdsError } from "@xdstp/core";
import type { Policy } from "@xdstp/policy";
import { createScheduler, type Scheduler } from "@xdstp/protocol/server";
import { NodeSchema, type Node } from "@xdstp/protos/discovery";
import { SERVICES } from "@xdstp/protos/services";
import {
  createServer,
  defaultServerLimits,
  type ServerOptions,
  type XdsServer,
} from "@xdstp/server";
import { isGlob } from "@xdstp/uri";

import { type AcceptingClient, createAcceptingClient } from "./accepting-client.ts";
import type { Comparison } from "./compare.ts";
import type { ClientGroup, PlannedHold, PlannedResource, PlannedResponse } from "./plan.ts";
import { createPlanClock, type PlanClock } from "./plan-clock.ts";

/** The responses to a group of clients in a simulation. */
export interface SimulatedGroup {
  readonly responses: readonly PlannedResponse[];
  readonly holds: readonly PlannedHold[];
  readonly follows: readonly string[];
  /** The server ended the stream. */
  readonly problem: string | undefined;
}

/** Time between the state before and the change: what depends on something having been accepted lately is over then. */
const calmMs = 60_000;
/** A change that needs longer is not followed to its end. */
const longestMs = 120_000;

/** Names that the clients of one simulation may have together. Each takes about 1 KB of memory. */
const namesAtOnce = 400_000;

/**
 * Simulates a change for all groups. Clients do not influence each other, so groups that have many names are simulated one after another, which bounds the memory.
 * `atOnce`: the number of names that the clients of one simulation have at most, but for a group with more.
 * Rejects with an XdsError, INVALID_ARGUMENT, where the cache rejects the change.
 */
export async function simulate(
  comparison: Comparison,
  groups: readonly ClientGroup[],
  types: readonly ResourceType[],
  {
    authorities,
    atOnce = namesAtOnce,
  }: {
    readonly authorities?: readonly string[] | undefined;
    readonly atOnce?: number;
  } = {},
): Promise<readonly SimulatedGroup[]> {
  const simulated: SimulatedGroup[] = [];
  for (const batch of batchesOf(groups, namesByType(comparison), atOnce))
    simulated.push(...(await simulateAtOnce(comparison, batch, types, authorities)));
  return simulated;
}

function namesByType({ pairs, unchanged }: Comparison): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of [...unchanged, ...pairs.flatMap(({ before, after }) => before ?? after ?? [])])
    counts.set(one.typeUrl, (counts.get(one.typeUrl) ?? 0) + 1);
  return counts;
}

/** Splits groups into runs that have this number of names at most; at least one group is in each. */
function batchesOf(
  groups: readonly ClientGroup[],
  names: ReadonlyMap<string, number>,
  atOnce: number,
): readonly (readonly ClientGroup[])[] {
  const batches: ClientGroup[][] = [[]];
  let left = atOnce;
  for (const group of groups) {
    const count = mostNames(group, names);
    if (count > left && batches.at(-1)?.length !== 0) {
      batches.push([]);
      left = atOnce;
    }
    batches.at(-1)?.push(group);
    left -= count;
  }
  return batches;
}

/** The names that a client may have: its exact subscriptions, and all of a type of which it subscribes to a collection. */
function mostNames({ subscriptions }: ClientGroup, names: ReadonlyMap<string, number>): number {
  let count = 0;
  for (const [typeUrl, list] of subscriptions) {
    const isCollection = list.some(({ name }) => name === "*" || isGlob(name));
    count += isCollection ? Math.max(names.get(typeUrl) ?? 0, list.length) : list.length;
  }
  return count;
}

/**
 * Serves the state before in this process to one accepting client of each group, then commits the change, and notes what each is sent.
 * It is the server and the cache of `xdstp serve`; only the clock stands still until all is accepted.
 * Rejects with an XdsError, INVALID_ARGUMENT, where the cache rejects the change.
 */
async function simulateAtOnce(
  { pairs, unchanged }: Comparison,
  groups: readonly ClientGroup[],
  types: readonly ResourceType[],
  authorities?: readonly string[],
): Promise<readonly SimulatedGroup[]> {
  const clock = createPlanClock();
  const turns = createTurns();
  const views = new Map(groups.map(({ view }, at) => [nodeId(at), view]));
  const nodes = createNodeCaches({
    keyOf: ({ id }) => views.get(id),
    types,
    clock,
    replacedBytes: 0,
    ...(authorities && { authorities }),
  });
  const before = [...unchanged, ...pairs.flatMap((pair) => pair.before ?? [])];
  nodes.commit(transactions(before.map((resource) => ({ put: resource }))));
  const server = createServer({
    source: nodes.serving.source,
    sourceFor: nodes.serving.sourceFor,
    ...(groups.some(({ sees }) => sees !== undefined) && {
      authorize: policiesOf(groups, addedNames(pairs)),
    }),
    clock,
    scheduler: turns.scheduler,
    clientStatus: false,
    limits: withoutBounds,
  });
  const byUrl = new Map(types.map((type) => [type.typeUrl, type]));
  const followers = groups.map((group, at) => createFollower(group, at, byUrl));
  const run: Run = { server, clock, turns, followers };
  for (const { client, path } of followers) client.open((out) => server.accept(path, "plan", out));
  await untilAccepted(run);
  // Moves the clock of the simulation: the change comes when nothing of the start waits any more.
  clock.skip(calmMs);
  for (const follower of followers) {
    follower.client.follow();
    follower.responses.length = 0;
    follower.holds.clear();
  }
  const [fault] = nodes.commit(changeOf(pairs)).rejected ?? [];
  if (fault !== undefined)
    throw new XdsError("INVALID_ARGUMENT", `cannot serve ${fault.name}: ${fault.error.text}`);
  await untilAccepted(run);
  const simulated = followers.map(({ client, responses, holds }): SimulatedGroup => ({
    responses: responses.filter(
      ({ added, changed, removed }) => added.length + changed.length + removed.length > 0,
    ),
    holds: [...holds.values()],
    follows: client.follows,
    problem: client.closed?.message,
  }));
  turns.release();
  await Promise.all([server.close({ graceMs: 0 }), nodes.close()]);
  return simulated;
}

interface Follower {
  readonly client: AcceptingClient;
  readonly path: string;
  readonly id: string;
  readonly responses: PlannedResponse[];
  readonly holds: Map<string, PlannedHold>;
}

interface Run {
  readonly server: XdsServer;
  readonly clock: PlanClock;
  readonly turns: Turns;
  readonly followers: readonly Follower[];
}

/** Lets the server send and the clients accept until nothing happens any more, also not later. */
async function untilAccepted({ server, clock, turns, followers }: Run): Promise<void> {
  const began = clock.now();
  for (;;) {
    await turns.run();
    noteHolds(server, followers);
    let isIdle = true;
    for (const follower of followers) {
      const waited = clock.now() - began;
      for (const response of follower.client.receive()) {
        isIdle = false;
        follower.responses.push(waited > 0 ? { ...response, afterMs: waited } : response);
      }
    }
    if (!isIdle || turns.isPending()) continue;
    const left = began + longestMs - clock.now();
    const isWaiting = server
      .status()
      .some(({ types }) => types.some(({ heldBack = [] }) => heldBack.length > 0));
    if (!isWaiting || !clock.toNextTimer(left)) return;
  }
}

function noteHolds(server: XdsServer, followers: readonly Follower[]): void {
  const byId = new Map(followers.map((follower) => [follower.id, follower]));
  for (const { node, types } of server.status()) {
    const follower = byId.get(node?.id ?? "");
    if (follower === undefined) continue;
    for (const { typeUrl, heldBack = [] } of types)
      for (const { name, for: lacking, forType } of heldBack) {
        const key = JSON.stringify([typeUrl, name, forType, lacking]);
        if (!follower.holds.has(key))
          follower.holds.set(key, { typeUrl, name, forType, for: lacking });
      }
  }
}

function createFollower(
  group: ClientGroup,
  at: number,
  types: ReadonlyMap<string, ResourceType>,
): Follower {
  const id = nodeId(at);
  return {
    id,
    path: pathOf(group),
    client: createAcceptingClient({ group, node: nodeOf(group.node, id), types }),
    responses: [],
    holds: new Map(),
  };
}

function nodeId(at: number): string {
  return `group-${at}`;
}

/** The fields of a node that the server uses, with an id of the simulation. */
function nodeOf(node: Node | undefined, id: string): Node {
  const { userAgentName = "", userAgentVersionType, clientFeatures = [] } = node ?? {};
  return create(NodeSchema, {
    id,
    userAgentName,
    clientFeatures,
    ...(userAgentVersionType && { userAgentVersionType }),
  });
}

function pathOf({ variant, service }: ClientGroup): string {
  const row = SERVICES.find(({ typeUrl }) => typeUrl === service) ?? SERVICES[0];
  return `/${row?.service ?? ""}/${row?.[variant] ?? ""}`;
}

/** A scheduler whose turns are counted. */
interface Turns {
  readonly scheduler: Scheduler;
  /** Runs what is queued, and what promises of the server wait for. */
  run(): Promise<void>;
  isPending(): boolean;
  /** From now on turns run without `run`. */
  release(): void;
}

function createTurns(): Turns {
  let pending: (() => void)[] = [];
  let later = (callback: () => void): void => {
    pending.push(callback);
  };
  const turn = async (): Promise<void> =>
    new Promise((resolve) => {
      setImmediate(resolve);
    });
  return {
    scheduler: createScheduler({
      later: (callback) => {
        later(callback);
      },
    }),
    isPending: () => pending.length > 0,
    release() {
      later = (callback) => {
        setImmediate(callback);
      };
    },
    async run() {
      do {
        const callbacks = pending;
        pending = [];
        for (const callback of callbacks) callback();
        await turn();
      } while (pending.length > 0);
    },
  };
}

/** The part of each view, by its key. */
function transactions(
  changes: readonly { readonly put?: PlannedResource; readonly remove?: PlannedResource }[],
): ReadonlyMap<string | undefined, Transaction> {
  const parts = new Map<string | undefined, { put: Put[]; remove: Removal[] }>([
    [undefined, { put: [], remove: [] }],
  ]);
  for (const { put, remove } of changes) {
    const view = (put ?? remove)?.view;
    const part = parts.get(view) ?? { put: [], remove: [] };
    parts.set(view, part);
    if (put !== undefined) part.put.push({ typeUrl: put.typeUrl, resource: put.resource });
    if (remove !== undefined) {
      const { name, constraints } = remove.resource;
      part.remove.push({ typeUrl: remove.typeUrl, name, ...(constraints && { constraints }) });
    }
  }
  return parts;
}

function changeOf(pairs: Comparison["pairs"]): ReadonlyMap<string | undefined, Transaction> {
  return transactions(
    pairs.map(({ before, after }) =>
      after !== undefined ? { put: after } : before !== undefined ? { remove: before } : {},
    ),
  );
}

function addedNames(pairs: Comparison["pairs"]): ReadonlySet<string> {
  return new Set(
    pairs.flatMap(({ before, after }) =>
      before === undefined && after !== undefined
        ? [keyOf(after.typeUrl, after.resource.name)]
        : [],
    ),
  );
}

/** A policy of each group that has one: what its clients see now, and all that is new. */
function policiesOf(
  groups: readonly ClientGroup[],
  added: ReadonlySet<string>,
): NonNullable<ServerOptions["authorize"]> {
  const policies = new Map(
    groups.map(({ sees }, at): readonly [string, Policy] => {
      const seen = new Set(
        [...(sees ?? [])].flatMap(([typeUrl, names]) => names.map((name) => keyOf(typeUrl, name))),
      );
      return [
        nodeId(at),
        {
          key: nodeId(at),
          allows: (typeUrl, name) =>
            sees === undefined || seen.has(keyOf(typeUrl, name)) || added.has(keyOf(typeUrl, name)),
        },
      ];
    }),
  );
  const everything: Policy = { key: "", allows: () => true };
  return ({ node }) => policies.get(node?.id ?? "") ?? everything;
}

function keyOf(typeUrl: string, name: string): string {
  return `${typeUrl} ${name}`;
}

const most = 0x7fff_ffff;

/** A client has passed the limits of its server already. */
const withoutBounds: NonNullable<ServerOptions["limits"]> = {
  stream: {
    subscriptions: most,
    streamSubscriptions: most,
    streamNameLength: most,
    globs: most,
    heldVersions: most,
    types: most,
    changeBurst: most,
    changesPerSecond: most,
    fullStateBytes: most,
  },
  admission: { ...defaultServerLimits.admission, firstSyncs: most, waitingSyncs: most },
};
