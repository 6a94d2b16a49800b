import { createCache } from "@xdstp/cache";
import type { Reference, ResourceType, Transaction } from "@xdstp/core";
import { createScheduler, createServerContext, type OrderedStream } from "@xdstp/core/server";
import { createFakeClock, createManualScheduler, createMemoryStream } from "@xdstp/testing";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwServer } from "@xdstp/transport-sotw/server";
import { describe, expect, it } from "vitest";
import type { ModelClientOptions } from "../random/model-client.ts";
import { createModelDeltaClient } from "../random/model-delta-client.ts";
import { createModelSotwClient } from "../random/model-sotw-client.ts";
import { explore, type Run } from "./explore.ts";

const CLUSTERS = "type.googleapis.com/test.Cluster";
const ROUTES = "type.googleapis.com/test.Route";

interface Body { readonly name: string; readonly version: string }
const bodyOf = (body: Body): Uint8Array => new TextEncoder().encode(JSON.stringify(body));
const readBody = (value: Uint8Array): Body => JSON.parse(new TextDecoder().decode(value)) as Body;
const targetOf = (version: string): string => version.split(">")[1] ?? "";
const references = (payload: Uint8Array): readonly Reference[] => [{ typeUrl: CLUSTERS, name: targetOf(readBody(payload).version) }];
const types: readonly ResourceType[] = [
  { typeUrl: CLUSTERS, fullStateInSotw: true, refersTo: [ROUTES] },
  { typeUrl: ROUTES, fullStateInSotw: true, follows: [{ typeUrl: CLUSTERS, when: "accepted" }], references },
];

/** What one transaction says: clusters as `X=v1`, routes as `r=v1>X`; without a version they go. */
type Step = readonly string[];

interface Scenario {
  readonly title: string;
  /** In force before the client has come. */
  readonly first: Step;
  readonly then: readonly Step[];
  /** Changes of the routes asked for, by the client: `+s`, `-s`. */
  readonly changes?: readonly string[];
  /** How often 5 s may pass, so that an unanswered response is repaired; together less than a wait may last. */
  readonly pauses?: number;
  readonly options?: ModelClientOptions;
}

function transactionOf(step: Step): Transaction {
  const parts = step.map((part) => { const [name = "", version = ""] = part.split("="); return { name, version, typeUrl: name === name.toUpperCase() ? CLUSTERS : ROUTES }; });
  return {
    put: parts.filter(({ version }) => version !== "").map(({ name, version, typeUrl }) => ({ typeUrl, resource: { name, version, payload: { typeUrl, value: bodyOf({ name, version }) } } })),
    remove: parts.filter(({ version }) => version === "").map(({ name, typeUrl }) => ({ typeUrl, name })),
  };
}

/** One stream of a client that starts with everything accepted. */
function startOf(variant: "delta" | "sotw", { first, then, changes = [], pauses = 0, options = {} }: Scenario): () => Run {
  return () => {
    const turns = createManualScheduler();
    const clock = createFakeClock();
    const cache = createCache({ types, clock });
    const context = createServerContext({ source: cache, clock, scheduler: createScheduler({ later: turns.later }) });
    let server: OrderedStream | undefined;
    const open = (call: Parameters<typeof createMemoryStream>[0]): ReturnType<typeof createMemoryStream> => createMemoryStream((out) => {
      const handler = call(out);
      server = handler as unknown as OrderedStream;
      return handler;
    });
    const client = variant === "delta"
      ? createModelDeltaClient(open((out) => createDeltaServer(context).open({ peer: "model" }, out)), options)
      : createModelSotwClient(open((out) => createSotwServer(context).open({ peer: "model" }, out)), { isFullState: () => true, readPayload: readBody }, options);
    cache.commit(transactionOf(first));
    client.change(CLUSTERS, ["*"], []);
    client.change(ROUTES, ["r", "s"], []);
    for (let n = 0; n < 5; n++) { turns.run(); while (client.receive()); client.answer(); }
    const left = { steps: [...then], changes: [...changes], pauses };
    const held = (typeUrl: string): string => [...client.held(typeUrl)].sort().join();

    return {
      actions: () => [
        ...left.steps.length > 0 ? ["commit"] : [],
        ...left.changes.length > 0 ? [`change ${String(left.changes[0])}`] : [],
        ...left.pauses > 0 && client.unanswered > 0 ? ["pause"] : [],
        ...turns.pending > 0 ? ["turn"] : [],
        ...client.stream.unread > 0 ? ["receive"] : [],
        ...client.unansweredTypes.map((typeUrl) => `answer ${typeUrl}`),
      ],
      do(action) {
        const [verb, what = ""] = action.split(" ");
        if (verb === "commit") cache.commit(transactionOf(left.steps.shift() ?? []));
        else if (verb === "turn") turns.turn();
        else if (verb === "receive") client.receive();
        else if (verb === "answer") client.answer(what);
        else if (verb === "pause") { left.pauses--; clock.advance(5_000); }
        else {
          left.changes.shift();
          client.change(ROUTES, what.startsWith("+") ? [what.slice(1)] : [], what.startsWith("-") ? [what.slice(1)] : []);
        }
        for (const [name, version] of client.held(ROUTES)) if (!client.held(CLUSTERS).has(targetOf(version))) throw new Error(`${name} ${version} points at nothing`);
      },
      state: () => JSON.stringify([
        left, turns.pending, client.stream.unread, client.unansweredTypes, held(CLUSTERS), held(ROUTES), clock.now(), cache.revision,
        server?.types.map((type) => [type.inFlight, type.overdue, type.pending, type.taken, type.refusing, ...[type.answeredUpTo, type.unsentFrom, type.refusedFrom, type.heldFrom].map(String), [...type.heldBack.keys()]]),
      ]),
      end() {
        expect(client.faults).toEqual([]);
        if (options.refuses !== undefined) return;
        const wanted = (typeUrl: string): string => [...new Map([first, ...then].flat().map((part) => { const [name = "", version = ""] = part.split("="); return [name, version] as const; }))].filter(([name, version]) => version !== "" && (name === name.toUpperCase() ? CLUSTERS : ROUTES) === typeUrl && client.covers(typeUrl, name)).sort().join();
        expect([held(CLUSTERS), held(ROUTES)]).toEqual([wanted(CLUSTERS), wanted(ROUTES)]);
      },
    };
  };
}

const refuses = (version: string): boolean => version.includes("bad");
const scenarios: readonly Scenario[] = [
  { title: "a route moves to a new cluster, and the old one goes", first: ["X=v1", "r=v1>X"], then: [["Y=v1", "r=v2>Y", "X"]] },
  { title: "two routes swap their clusters", first: ["X=v1", "Y=v1", "r=v1>X", "s=v1>Y"], then: [["r=v2>Y", "s=v2>X"]] },
  { title: "there and back again", first: ["X=v1", "r=v1>X"], then: [["Y=v1", "r=v2>Y", "X"], ["X=v2", "r=v3>X", "Y"]] },
  { title: "a cluster is replaced twice under two routes", first: ["X=v1", "r=v1>X", "s=v1>X"], then: [["Y=v1", "r=v2>Y"], ["Z=v1", "s=v2>Z", "X"], ["r=v3>Z", "Y"]] },
  { title: "a client that leaves its answers for 5 s, twice", first: ["X=v1", "r=v1>X"], then: [["Y=v1", "r=v2>Y", "X"], ["Z=v1", "r=v3>Z", "Y"]], pauses: 2 },
  { title: "a client that drops a route and asks for it again", first: ["X=v1", "r=v1>X", "s=v1>X"], then: [["Y=v1", "r=v2>Y", "s=v2>Y", "X"]], changes: ["-s", "+s"] },
  { title: "a new cluster is refused, and mended", first: ["X=v1", "r=v1>X"], then: [["Y=bad", "r=v2>Y", "X"], ["Y=v2"]], options: { refuses } },
  { title: "one of two new clusters is refused, and mended", first: ["X=v1", "r=v1>X", "s=v1>X"], then: [["Y=bad", "Z=v1", "r=v2>Y", "s=v2>Z", "X"], ["Y=v2"]], options: { refuses, wholeResponses: true } },
  { title: "a change of a cluster is refused while its route moves away", first: ["X=v1", "Y=v1", "r=v1>X"], then: [["Y=bad", "r=v2>Y"], ["r=v3>X", "Y"]], options: { refuses } },
];

describe.each(["delta", "sotw"] as const)("every order of events (%s/ads)", (variant) => {
  it.each(scenarios)("shows no route to a cluster that the client has not: $title [S-ORD-2] [S-ORD-3] [S-ORD-4]", (scenario) => {
    const { states, ends } = explore(startOf(variant, scenario), 60_000);
    expect(states).toBeGreaterThan(4);
    expect(ends).toBeGreaterThan(0);
  });
});
