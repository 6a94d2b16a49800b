import { createFakeClock } from "@xdstp/testing";
import type { Committed, ResourceSink } from "@xdstp/core";
import { expect, it } from "vitest";
import { createTaking, type Unread } from "./taking.ts";

/** A sink whose commits run a function, which acts as the readers that are notified. */
function useTaking() {
  const clock = createFakeClock();
  const taking = createTaking(clock, 30_000);
  let during: () => void = () => undefined;
  const given: ResourceSink = {
    commit() {
      during();
      return { revision: 1 };
    },
    held: () => [],
    unavailable: () => undefined,
  };
  const sink = taking.over(given);
  const commit = (run: () => void = () => undefined): Committed => {
    during = run;
    return sink.commit({});
  };
  const isTaken = async ({ taken }: Committed): Promise<boolean> =>
    Promise.race([(taken ?? Promise.resolve()).then(() => true), turns().then(() => false)]);
  return { clock, taking, commit, isTaken };
}

async function turns(): Promise<void> {
  for (let count = 0; count < 5; count++) await Promise.resolve();
}

it("waits for the readers of a commit, and not for those of another one: they may be of another server [C-ACK-13]", async () => {
  const { taking, commit, isTaken } = useTaking();
  const unread: Unread[] = [];
  const left = commit(() => unread.push(taking.begin()));
  const other = commit();
  expect([other.taken, await isTaken(left)]).toEqual([undefined, false]);
  unread[0]?.consumed();
  expect(await isTaken(left)).toBe(true);
});

it("waits in each commit that has a newer update for a reader, until the reader has consumed it [C-ACK-13]", async () => {
  const { taking, commit, isTaken } = useTaking();
  const unread: Unread[] = [];
  const first = commit(() => unread.push(taking.begin()));
  const second = commit(() => unread[0]?.renew());
  expect([await isTaken(first), await isTaken(second)]).toEqual([false, false]);
  unread[0]?.consumed();
  expect([await isTaken(first), await isTaken(second)]).toEqual([true, true]);
});

it("stops waiting for a reader after 30 s, also in later commits, until the reader has consumed its update [C-ACK-13]", async () => {
  const { clock, taking, commit, isTaken } = useTaking();
  const unread: Unread[] = [];
  const first = commit(() => unread.push(taking.begin(), taking.begin()));
  unread[1]?.consumed();
  clock.advance(29_999);
  expect(await isTaken(first)).toBe(false);
  clock.advance(1);
  expect(await isTaken(first)).toBe(true);
  expect(commit(() => unread[0]?.renew()).taken).toBeUndefined();
  unread[0]?.consumed();
  expect(await isTaken(commit(() => unread.push(taking.begin())))).toBe(false);
});
