import { copyFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { flagName, flagUrl } from "../../rollout/test/flag.ts";
import { put, stateOf, useDir, useKept } from "../test/snapshots.ts";

const [a, b, glob] = ["ns/a", "ns/b", "ns/*"].map(flagName) as [string, string, string];
const all = [{ typeUrl: flagUrl, interest: { name: glob } }];

/**
 * A directory whose database was replaced by an older copy, from before upstream replaced `a` and
 * removed `b`.
 */
async function rolledBack(): Promise<string> {
  const [dir, copy] = [useDir(), join(useDir(), "copy")];
  const relay = useKept(dir);
  await relay.watch(glob, a, b);
  await relay.upstream.sink.commit({ put: [put(a, "old"), put(b, "old")], settled: all });
  await relay.close();
  copyFileSync(join(dir, "snapshot.db"), copy);
  const later = useKept(dir);
  await later.watch(glob, a, b);
  await later.upstream.sink.commit({
    put: [put(a, "new")],
    remove: [{ typeUrl: flagUrl, name: b }],
  });
  await later.close();
  copyFileSync(copy, join(dir, "snapshot.db"));
  return dir;
}

it("an older copy is served until upstream answers, and then corrected, on disk too [B-RELAY-9]", async () => {
  const dir = await rolledBack();
  const relay = useKept(dir);
  await relay.watch(glob);
  expect(relay.members(glob)).toEqual(["a=old", "b=old"]);
  await relay.upstream.sink.commit({ put: [put(a, "new")], settled: all });
  expect([relay.members(glob), relay.shown(glob)]).toEqual([["a=new"], "new"]);
  await relay.close();
  expect(stateOf(useKept(dir).store)).toEqual([`${glob}!`, `${a}=new`]);
});

it("an older copy does not replace what upstream has said already, also of a collection that is subscribed later [B-RELAY-9]", async () => {
  const relay = useKept(await rolledBack());
  await relay.watch(a, b);
  await relay.upstream.sink.commit({
    put: [put(a, "new")],
    remove: [{ typeUrl: flagUrl, name: b }],
  });
  await relay.watch(glob);
  expect([relay.shown(a), relay.shown(b), relay.members(glob)]).toEqual(["new", "none", ["a=new"]]);
});
