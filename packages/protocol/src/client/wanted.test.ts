import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import type { NotedRejection } from "./knowledge.ts";
import {
  type CollectionEvent,
  type CollectionState,
  type NameEvent,
  type NameState,
  newName,
  nextName,
} from "./wanted.ts";
import { newCollection, nextCollection } from "./wanted-collection.ts";

const error = new XdsError("UNAVAILABLE", "it is away");
const other = new XdsError("INVALID_ARGUMENT", "it is bad");

function rejection(version: string, why: XdsError = other, moment = 0): NotedRejection {
  return { name: "a", version, error: why, moment };
}

const rejected = (version: string, why?: XdsError, moment?: number) =>
  ({
    kind: "rejected",
    rejections: [["a", rejection(version, why, moment)]],
    limit: 10,
  }) as const;

const nameAfter = (...events: readonly NameEvent[]): NameState =>
  events.reduce<NameState>((state, event) => nextName(state, "a", event), newName);

const collectionAfter = (...events: readonly CollectionEvent[]): CollectionState =>
  events.reduce<CollectionState>(nextCollection, newCollection);

const sent = { kind: "sent", first: true } as const;
const came = { kind: "came", keys: ["a"], at: 7 } as const;
const failed = { kind: "failed", error } as const;

describe("nextName()", () => {
  it.each<[events: readonly NameEvent[], request: string, known: string]>([
    [[], "unsent", "requested"],
    [[sent], "waiting", "requested"],
    [[sent, { kind: "answered" }, came], "answered", "cached"],
    [[sent, failed], "answered", "failed"],
    [[sent, { kind: "answered" }, rejected("1")], "answered", "rejected"],
    [[sent, { kind: "late", at: 7, error: undefined, others: false }], "answered", "late"],
    [[sent, { kind: "late", at: 7, error: undefined, others: true }], "answered", "cached"],
    [[sent, came, { kind: "removed", keys: ["a"], at: 8 }], "waiting", "missing"],
    [[sent, { kind: "answered" }, came, { kind: "stream-began" }], "unsent", "cached"],
    [[sent, came, { kind: "dropped" }, failed, { kind: "stream-began" }], "dropped", "cached"],
    [[sent, failed, { kind: "dropped" }], "dropped", "requested"],
  ])("after %o its request is %s and it is %s", (events, request, known) => {
    const state = nameAfter(...events);
    expect([state.request.kind, state.known.kind]).toEqual([request, known]);
  });

  it("is left out only while it waits [C-FULL-3]", () => {
    const leftOut = { kind: "left-out" } as const;
    expect(nameAfter(sent, leftOut).request).toMatchObject({ leftOut: true });
    expect(nameAfter(sent, leftOut, sent).request).toMatchObject({ leftOut: false });
    expect(nameAfter(sent, { kind: "answered" }, leftOut).request).toEqual({ kind: "answered" });
  });

  it("counts a report for another error, the same for another version, and its end, and for nothing else [C-ACK-18]", () => {
    const reports = (...events: readonly NameEvent[]): number => nameAfter(...events).known.reports;
    const again = new XdsError("INVALID_ARGUMENT", "it is bad");
    const late = { kind: "late", at: 7, error: again, others: false } as const;
    expect([reports(), reports(came), reports(rejected("1")), reports(failed)]).toEqual([
      0, 0, 1, 1,
    ]);
    expect(reports(rejected("1"), rejected("1", again))).toBe(1);
    expect(reports(rejected("1"), rejected("2", again))).toBe(2);
    expect(reports(rejected("1"), rejected("2"))).toBe(2);
    expect(reports(failed, { kind: "failed", error: new XdsError(error.code, error.text) })).toBe(
      1,
    );
    expect(reports(failed, { kind: "failed", error: again })).toBe(2);
    expect([reports(late), reports(late, late), reports(failed, late)]).toEqual([1, 1, 2]);
    const since = { kind: "confirmed", since: 5 } as const;
    expect(
      [came, since, { kind: "dropped" } as const].map((end) => reports(rejected("1"), end)),
    ).toEqual([2, 2, 2]);
    expect([reports(came, since), reports(came, { kind: "dropped" })]).toEqual([0, 0]);
  });

  it("is made good by a resource, and by its own removal", () => {
    for (const event of [came, { kind: "removed", keys: ["a"], at: 7 }] as const) {
      const { known, rejections } = nameAfter(rejected("1"), event);
      expect([known.error, known.at, rejections.size]).toEqual([undefined, 7, 0]);
    }
    const alias = nameAfter(rejected("1"), { kind: "came", keys: ["real"], at: 7 });
    expect([alias.known.kind, alias.known.error]).toEqual(["cached", other]);
  });

  it("confirmed by silence, it loses what was wrong on an earlier stream", () => {
    const confirmed = { kind: "confirmed", since: 5 } as const;
    expect(nameAfter(came, rejected("1", other, 4), confirmed).known).toEqual({
      kind: "cached",
      at: 7,
      error: undefined,
      reports: 2,
    });
    expect(nameAfter(came, rejected("1", other, 5), confirmed).known.kind).toBe("rejected");
  });
});

describe("nextCollection()", () => {
  const arrived = { kind: "arrived", keys: ["a"] } as const;
  const whole = { kind: "whole", rejected: new Set<string>() } as const;
  const unseen = [{ typeUrl: "t", name: "b" }];

  it.each<[events: readonly CollectionEvent[], request: string, known: string]>([
    [[sent], "waiting", "requested"],
    [[arrived], "unsent", "requested"],
    [[sent, arrived, came], "partial", "cached"],
    [[sent, arrived, { kind: "idle" }], "complete", "requested"],
    [[sent, { kind: "idle" }], "waiting", "requested"],
    [[sent, { kind: "overdue" }], "silent", "requested"],
    [[sent, { kind: "overdue" }, arrived], "partial", "requested"],
    [[sent, arrived, { kind: "overdue" }], "complete", "requested"],
    [[sent, whole], "complete", "cached"],
    [[sent, whole, { kind: "sent", first: false }], "complete", "cached"],
    [[sent, arrived, failed], "complete", "failed"],
    [[sent, arrived, failed, came], "partial", "cached"],
    [[sent, whole, came], "complete", "cached"],
    [[sent, whole, { kind: "stream-began" }], "unsent", "cached"],
    [[sent, { kind: "removed", keys: ["a"], at: 8 }], "waiting", "requested"],
    [[sent, { kind: "overdue" }, { kind: "removed", keys: ["a"], at: 8 }], "silent", "requested"],
    [[sent, arrived, { kind: "removed", keys: ["a"], at: 8 }], "partial", "cached"],
    [[sent, { kind: "dropped" }, arrived, came], "dropped", "requested"],
  ])("after %o its request is %s and it is %s [C-GLOB-9]", (events, request, known) => {
    const state = collectionAfter(...events);
    expect([state.request.kind, state.known.kind]).toEqual([request, known]);
  });

  it("that a full state has left members out of stays partial when it is idle [C-FULL-3]", () => {
    const left = [{ kind: "left-out", unseen }, { kind: "idle" }] as const;
    expect(collectionAfter(sent, arrived, ...left).request).toMatchObject({
      kind: "partial",
      unseen,
    });
    const again = { kind: "sent", first: false } as const;
    expect(collectionAfter(sent, arrived, ...left, again).request).toMatchObject({ unseen: [] });
  });

  it("keeps the rejected members that a whole response has, up to its limit", () => {
    const rejections = ["a", "b", "c"].map((key) => [key, rejection("1")] as const);
    const { known, rejections: kept } = collectionAfter(
      { kind: "rejected", rejections, limit: 2 },
      { kind: "whole", rejected: new Set(["b"]) },
    );
    expect([[...kept.keys()], known.error]).toEqual([["b"], other]);
  });
});
