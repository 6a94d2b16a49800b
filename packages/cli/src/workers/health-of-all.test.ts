import { createFakeClock } from "@xdstp/testing";
import type { Health } from "@xdstp/server";
import { scriptedChild } from "../../test/scripted-child.ts";
import { expect, it } from "vitest";
import { createHealthOfAll } from "./health-of-all.ts";
import type { ToChild } from "./messages.ts";

const upstream: Health = { kind: "upstream", name: "up:1", loadedAt: 5 };
const policy = (since?: number): Health => ({
  kind: "policy",
  name: "p.yaml",
  ...(since !== undefined && { stale: { since, reason: "bad" } }),
});

it("joins the servers upstream of the first process with the files that workers follow, stale since the first worker says so", async () => {
  const children = [scriptedChild(0), scriptedChild(1), scriptedChild(2)] as const;
  const health = createHealthOfAll(() => children, createFakeClock());
  const rows = Promise.all([health.rows(), health.rows(), health.upstreams()]);
  expect(children.map(({ heard }) => heard)).toEqual(
    [0, 1, 2].map(() => [{ kind: "health" }] satisfies ToChild[]),
  );
  health.observe(children[0], { kind: "health", rows: [upstream] });
  health.observe(children[1], { kind: "health", rows: [policy(9)] });
  health.observe(children[2], { kind: "health", rows: [policy(7)] });
  expect(await rows).toEqual([[upstream, policy(7)], [upstream, policy(7)], [upstream]]);
});

it("a worker that ends takes its rows along, and the first process that ends leaves its upstreams stale", async () => {
  const clock = createFakeClock();
  const children = [scriptedChild(0), scriptedChild(1)] as const;
  const health = createHealthOfAll(() => children, clock);
  const before = health.rows();
  health.observe(children[0], { kind: "health", rows: [upstream] });
  health.observe(children[1], { kind: "health", rows: [policy(3)] });
  expect(await before).toEqual([upstream, policy(3)]);
  for (const child of children) {
    child.isUp = false;
    health.gone(child);
  }
  expect(await health.rows()).toEqual([
    { ...upstream, stale: { since: clock.wallTime(), reason: "its stream has ended" } },
  ]);
});

it("a process that does not answer within a second counts as it answered last", async () => {
  const clock = createFakeClock();
  const children = [scriptedChild(0), scriptedChild(1)] as const;
  const health = createHealthOfAll(() => children, clock);
  const first = health.rows();
  health.observe(children[0], { kind: "health", rows: [upstream] });
  health.observe(children[1], { kind: "health", rows: [policy()] });
  await first;
  const later = health.rows();
  health.observe(children[0], { kind: "health", rows: [] });
  clock.advance(1_000);
  expect(await later).toEqual([policy()]);
});
