import { scriptedChild } from "../../test/scripted-child.ts";
import { expect, it } from "vitest";
import { createCollector } from "./status-of-all.ts";
import type { FromChild } from "./messages.ts";

const ask = (id: number): FromChild => ({
  kind: "collect",
  id,
  request: Uint8Array.of(id),
  peer: { address: "192.0.2.1:1" },
});

it("what a process has asked before it ended is not told to the next one, which counts its requests anew", () => {
  const [one, other] = [scriptedChild(1), scriptedChild(2)];
  const collector = createCollector(
    () => [one, other],
    async () => Promise.resolve([]),
  );
  collector.observe(one, ask(0));
  collector.observe(one, { kind: "status", id: 0, answer: { bytes: Uint8Array.of(1) } });
  collector.gone(one);
  collector.observe(one, ask(0));
  collector.observe(other, { kind: "status", id: 0, answer: { bytes: Uint8Array.of(2) } });
  expect(one.heard.filter(({ kind }) => kind === "collected")).toEqual([]);
  collector.observe(one, { kind: "status", id: 1, answer: { bytes: Uint8Array.of(3) } });
  collector.observe(other, { kind: "status", id: 1, answer: { bytes: Uint8Array.of(4) } });
  expect(one.heard.filter(({ kind }) => kind === "collected")).toEqual([
    { kind: "collected", id: 0, answer: { bytes: Buffer.of(3, 4) } },
  ]);
});

it("who asks has the answer of those that are left when one ends", () => {
  const [one, other] = [scriptedChild(1), scriptedChild(2)];
  const collector = createCollector(
    () => [one, other],
    async () => Promise.resolve([]),
  );
  collector.observe(one, ask(7));
  collector.observe(one, { kind: "status", id: 0, answer: { bytes: Uint8Array.of(1) } });
  collector.gone(other);
  expect(one.heard.at(-1)).toEqual({ kind: "collected", id: 7, answer: { bytes: Buffer.of(1) } });
});
