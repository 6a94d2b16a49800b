import { type Put, type Removal, systemClock } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import {
  createBelow,
  randomMesh,
  reachable,
  resourcesOf,
  withCluster,
} from "../test/random-mesh.ts";
import { type GotResponse, openSocketClient, type } from "../test/socket-client.ts";
import { useServer } from "../test/use-server.ts";
import type { Plan } from "./index.ts";

const scale = Number(process.env.XDSTP_SCALE ?? "0.01");
const seeds = Math.max(20, Math.round(2_000 * scale));

/** A server on a port with these resources. */
async function useListeningServer(puts: readonly Put[]): Promise<{
  readonly port: number;
  readonly plan: (next: readonly Put[]) => Promise<Plan>;
  readonly apply: (next: readonly Put[]) => void;
  /** Resolves when all is accepted, and has been for a while. */
  readonly accepted: () => Promise<void>;
}> {
  let skipped = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + skipped };
  const { server, nodes, plan } = useServer(puts, { clock });
  let last = puts;
  let { revision } = nodes;
  const { port } = await server.listen({ port: 0 });
  return {
    port,
    plan,
    apply(next) {
      const names = new Set(next.map(keyOf));
      const remove = last
        .filter((put) => !names.has(keyOf(put)))
        .map(({ typeUrl, resource: { name } }): Removal => ({ typeUrl, name }));
      ({ revision } = nodes.shared.commit({ put: next, remove }));
      last = next;
    },
    async accepted() {
      await server.waitForAck(revision);
      // Names that a client has accepted lately may wait for their endpoints (S-ORD-2).
      skipped += 60_000;
    },
  };
}

function keyOf({ typeUrl, resource }: Put): string {
  return `${typeUrl} ${resource.name}`;
}

/** The part of a response that is compared: the order of its names is not. */
function counted({ typeUrl, added, changed, removed }: GotResponse): GotResponse {
  return {
    typeUrl,
    added: [...added].sort(),
    changed: [...changed].sort(),
    removed: [...removed].sort(),
  };
}

describe.each(["delta", "sotw"] as const)("the planned order (%s)", (variant) => {
  it.each(Array.from({ length: seeds }, (_, seed) => seed + 1))(
    `is what a client over a socket then gets, seed %i (${variant})`,
    async (seed) => {
      const below = createBelow(seed);
      const [before, after] = [randomMesh(below), randomMesh(below)];
      const { port, plan, apply, accepted } = await useListeningServer(resourcesOf(before));
      const client = await openSocketClient(port, variant, "e1");
      await client.has(reachable(before));
      await accepted();
      client.take();
      const planned = await plan(resourcesOf(after));
      apply(resourcesOf(after));
      await client.has(reachable(after));
      await accepted();
      const last = withCluster(after, "last");
      apply(resourcesOf(last));
      await client.has(reachable(last));
      const responses = planned.groups[0]?.responses ?? [];
      expect(client.take().map(counted)).toEqual([
        ...responses.map(counted),
        { typeUrl: type.clusters, added: ["last"], changed: [], removed: [] },
      ]);
    },
  );
});
