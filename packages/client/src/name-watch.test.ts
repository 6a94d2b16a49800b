import { type Entry, type StoredResource, XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { type NameState, nextNameState, requested } from "./name-watch.ts";

const resource = (version: string): StoredResource => ({ name: "a", version }) as StoredResource;
const [one, two] = [resource("1"), resource("2")];
const away = (): XdsError => new XdsError("UNAVAILABLE", "the server is away");
const none = (): XdsError => new XdsError("NOT_FOUND", "the server has none");
const silent = (): XdsError => new XdsError("NOT_FOUND", "nothing came", { reason: "late" });
const unfit = new XdsError("INVALID_ARGUMENT", "of no use");

interface Facts {
  readonly resource?: StoredResource;
  readonly error?: XdsError;
  readonly stale?: XdsError;
  readonly settled?: boolean;
  readonly isReport?: boolean;
  readonly faultOf?: (resource: StoredResource) => XdsError | undefined;
}

function next(before: NameState, facts: Facts): NameState {
  const { settled = true, isReport = false, faultOf = () => undefined, stale, ...entry } = facts;
  const entries =
    Object.keys(entry).length === 0 ? [] : [{ revision: 1, name: "a", ...entry } as Entry];
  const topic = { interest: { name: "a" }, settled, stale, members: () => entries };
  return nextNameState(before, topic, isReport, faultOf);
}

const after = (...all: readonly Facts[]): NameState => all.reduce(next, requested);

describe("nextNameState()", () => {
  it.each<readonly [string, Facts, object]>([
    ["requested, of nothing", { settled: false }, { kind: "requested" }],
    ["cached, of a resource", { resource: one }, { kind: "cached", resource: one }],
    [
      "cached, next to an error of its supply",
      { resource: one, stale: away() },
      { kind: "cached", error: { code: "UNAVAILABLE" } },
    ],
    [
      "rejected, of a resource that cannot be used",
      { resource: one, faultOf: () => unfit },
      { kind: "rejected", resource: one, error: unfit },
    ],
    ["missing, for the reason of the server", { error: none() }, { kind: "missing" }],
    [
      "missing, without a reason",
      {},
      { kind: "missing", error: { text: '"a" does not exist', context: { reason: "missing" } } },
    ],
    ["late, where no server can be reached", { stale: away(), settled: false }, { kind: "late" }],
    ["late, where no server has answered in time", { error: silent() }, { kind: "late" }],
  ])("is %s", (_, facts, state) => {
    expect(next(requested, facts)).toMatchObject(state);
  });

  it.each<readonly [string, readonly [Facts, Facts]]>([
    ["a resource", [{ resource: one }, { resource: one }]],
    [
      "an error that says the same",
      [
        { resource: one, stale: away() },
        { resource: one, stale: away() },
      ],
    ],
    ["an error of a missing name", [{ error: none() }, { error: none() }]],
    ["a reason that the server does not repeat", [{ error: none() }, {}]],
    ["nothing, which is not known to be all", [{ resource: one }, { settled: false }]],
    [
      "a rejected resource, whatever its supply says",
      [
        { resource: one, faultOf: () => unfit },
        { resource: one, stale: away(), isReport: true },
      ],
    ],
  ])("stays the same object with %s", (_, [first, second]) => {
    const before = after(first);
    expect(next(before, second)).toBe(before);
  });

  it.each<readonly [string, readonly [Facts, Facts]]>([
    ["another resource", [{ resource: one }, { resource: two }]],
    [
      "another error",
      [
        { resource: one, stale: away() },
        { resource: one, stale: none() },
      ],
    ],
    ["the end of an error", [{ resource: one, stale: away() }, { resource: one }]],
    [
      "an error that is reported again [C-ACK-18]",
      [
        { resource: one, stale: away() },
        { resource: one, stale: away(), isReport: true },
      ],
    ],
    ["the same error of another kind", [{ error: none() }, { stale: none() }]],
  ])("is another object with %s", (_, [first, second]) => {
    const before = after(first);
    expect(next(before, second)).not.toBe(before);
  });

  it("judges each resource once", () => {
    const judged: string[] = [];
    const faultOf = ({ version }: StoredResource): undefined => void judged.push(version);
    after(
      { resource: one, faultOf },
      { resource: one, stale: away(), faultOf },
      { resource: two, faultOf },
    );
    expect(judged).toEqual(["1", "2"]);
  });
});
