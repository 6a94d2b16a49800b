import type { Topic } from "@xdstp/core";
import type { Connection } from "@xdstp/testing";
import { isGlob, nameKey } from "@xdstp/uri";

import { textIn } from "../../harness/payload.ts";
import type { SimClient, Watched } from "../sim-client.ts";
import { BAD, CLUSTERS, groupOf, isFullState } from "../types.ts";
import type { Report } from "../violation.ts";
import type { World } from "../simulated-world.ts";
import type { Invariant } from "./invariant.ts";
import { createPastValues, type PastValues } from "./past-values.ts";
import { createStanding } from "./standing.ts";

/** The time, in milliseconds, after which a client has the state of its server. A message takes at most 30, and a change waits for one answer: 500 are sixteen ways. Types that refer to each other wait for each other, up to 15 s at a time (S-ORD-3, S-ORD-4). */
const BOUND = { alone: 500, related: 60_000 };
/** The time, in milliseconds, after which a SotW client accepts a full state that may be older than its request as an answer (C-FULL-3, C-MISS-4). */
const SILENCE = 15_000;

/**
 * While a stream is undisturbed, and no response of a group of types was rejected on it since the last rest, the client has of each name that it watches
 * a state that the server has had within the bound. A client that receives it late, or never, has an older state.
 */
export function noNameIsLost(world: World, report: Report): Invariant {
  const now = (): number => world.clock.now();
  const standing = createStanding(now);
  const past = createPastValues(now, BOUND.related);
  let rejecting = new WeakMap<Connection, Set<string>>();
  const fail = (text: string): void => {
    report("no name is lost on a stream that stands", text);
  };
  return {
    onOpen: (connection) => {
      standing.open(connection);
    },
    onFault: (connection, fault) => {
      standing.disturb(connection, fault);
    },
    onCommit: (server, values) => {
      past.note(server, values);
    },
    onRequest(connection, { typeUrl, rejects }) {
      if (rejects)
        rejecting.set(connection, (rejecting.get(connection) ?? new Set()).add(groupOf(typeUrl)));
    },
    onRest() {
      rejecting = new WeakMap();
    },
    onLook() {
      for (const client of world.clients) {
        const { connection } = client ?? {};
        if (client === undefined || connection === undefined) continue;
        const since = standing.since(connection);
        for (const watched of client.watched.values()) {
          const group = groupOf(watched.typeUrl);
          const from = now() - (group === CLUSTERS ? BOUND.related : BOUND.alone);
          const isDue =
            Math.max(since, watched.since) <= from &&
            rejecting.get(connection)?.has(group) !== true;
          if (isDue) lostOf(world, past, client, watched, from).forEach(fail);
        }
      }
    },
  };
}

/** Names of which something is held that the server has not had since then. */
function lostOf(
  { servers }: World,
  past: PastValues,
  { name: who, shape }: SimClient,
  { typeUrl, name: wanted, topic, since }: Watched,
  from: number,
): readonly string[] {
  const server = servers[shape.origin];
  if (server === undefined) return [];
  // SotW does not say what has gone of a type that is not of full state, nor what went while it was asked for.
  const tellsRemovals =
    shape.variant === "delta" || (isFullState(typeUrl) && since <= from - SILENCE);
  return differencesOf(topic, server.cache.topic(typeUrl, { name: wanted })).flatMap(
    ([name, held]) => {
      const had = past.since(server.name, typeUrl, name, from);
      // It was rejected, perhaps on a stream before, and is not said again for that (S-ACK-8).
      if (shape.rejects && had.some((text) => text?.includes(BAD) === true)) return [];
      if (had.includes(held) || (!tellsRemovals && had.includes(undefined))) return [];
      return [
        `${who}, ${wanted} of ${typeUrl}: ${name} = ${held ?? "nothing"} is held; ${server.name} has ${had.map((text) => text ?? "nothing").join(", then ")}`,
      ];
    },
  );
}

/** Returns the names under which the two topics differ, with the text here: of a name, an alias, or each name of a collection. At most times the list is short. */
function differencesOf(
  here: Topic,
  there: Topic,
): readonly (readonly [name: string, held: string | undefined])[] {
  const { name } = here.interest;
  const names = name === "*" || isGlob(name) ? namesIn(here, there) : [name];
  return names.flatMap((one) => {
    const [mine, theirs] = [payloadIn(here, one), payloadIn(there, one)];
    const isEqual =
      mine === undefined || theirs === undefined
        ? mine === theirs
        : Buffer.compare(mine, theirs) === 0;
    return isEqual ? [] : [[one, mine && textIn(mine)] as const];
  });
}

function namesIn(...topics: readonly Topic[]): readonly string[] {
  return [
    ...new Map(
      topics.flatMap((topic) => topic.members()).map(({ name }) => [nameKey(name), name]),
    ).values(),
  ];
}

/** An alias is looked up like a name. */
function payloadIn(topic: Topic, name: string): Uint8Array | undefined {
  return topic.get(name)?.resource?.payload.value;
}
