import { expect, it } from "vitest";
import type { Action, Change } from "./action.ts";
import { runHistory } from "./run-seed.ts";

const [route, cluster] = ["type.googleapis.com/test.Route", "type.googleapis.com/test.Cluster"];
const path = "xdstp://a/test.";

function commit(waitMs: number, ...changes: readonly Change[]): Action {
  return { waitMs, deed: { kind: "commit", origin: 0, changes } };
}

function watch(waitMs: number, kind: "watch" | "unwatch", typeUrl: string): Action {
  return { waitMs, deed: { kind, client: 4, typeUrl, name: "*" } };
}

// The shortest history of a seed of 800,000 steps: that would take a minute each time.
it("removes a cluster although the client rejected routes that it has unsubscribed since [S-ORD-3]", async () => {
  const history: readonly Action[] = [
    watch(258_369, "watch", route),
    watch(21_061, "watch", cluster),
    commit(107_331, { typeUrl: route, name: "n2", text: `v115294-bad>${path}Cluster/q/4` }),
    commit(511, { typeUrl: cluster, name: `${path}Cluster/p/0`, text: "v115307" }),
    commit(
      3_999,
      { typeUrl: cluster, name: `${path}Cluster/p/0` },
      { typeUrl: route, name: `${path}Route/p/0`, text: `v115357>${path}Cluster/p/4` },
      { typeUrl: cluster, name: `${path}Cluster/q/4`, text: "v115358" },
    ),
    watch(746, "unwatch", route),
    { waitMs: 53, deed: { kind: "rest" } },
  ];
  const { violation } = await runHistory({ seed: 121_531_056 }, history);
  expect(violation).toBeUndefined();
});
