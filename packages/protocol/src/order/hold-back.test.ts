import { describe, expect, it } from "vitest";
import { added, removed, storedResource } from "../../test/entries.ts";
import type { Entry, Reference, ResourceType } from "@xdstp/core";
import { holdBack } from "./hold-back.ts";
import type { TypeHost } from "../stream/type-machine.ts";

const CLUSTER: Reference["typeUrl"] = "cluster";
let reads = 0;
const type: ResourceType = {
  typeUrl: "route",
  follows: [
    { typeUrl: CLUSTER, when: "accepted" },
    { typeUrl: "listener", when: "sent" },
  ],
  references: (payload) => {
    reads++;
    return new TextDecoder()
      .decode(payload)
      .split(" ")
      .map((reference) => {
        const [typeUrl = "", name = ""] = reference.split("/");
        return { typeUrl, name };
      });
  },
};
const route = (name: string, ...references: readonly string[]): Entry => ({
  ...added(name),
  resource: storedResource(name, new TextEncoder().encode(references.join(" "))),
});

/** A stream whose client rejects clusters, and lacks some. */
function hostThat(
  lacks: readonly string[],
  rejecting: readonly string[] = [CLUSTER],
): Pick<TypeHost, "sibling"> {
  return {
    sibling: (typeUrl) => ({
      rejecting: rejecting.includes(typeUrl),
      lacks: (name) => lacks.includes(`${typeUrl}/${name}`),
      hasAccepted: () => false,
      warm: () => undefined,
      isCold: () => false,
      misses: () => false,
    }),
  };
}

describe("holdBack()", () => {
  const [one, two, gone] = [
    route("one", "cluster/good", "cluster/bad"),
    route("two", "cluster/good"),
    removed("gone"),
  ];

  it("leaves out what refers to a name that the client lacks, and says which [S-ORD-4]", () => {
    const held = holdBack(type, hostThat(["cluster/bad"]), [one, two, gone]);
    expect(held.entries).toEqual([two, gone]);
    expect(held.heldBack).toEqual(new Map([["one", { typeUrl: CLUSTER, name: "bad" }]]));
  });

  it("gives the same array where nothing is held back, so that streams share its frame", () => {
    const entries = [one, two];
    expect(holdBack(type, hostThat([]), entries)).toEqual({ entries, heldBack: new Map() });
    expect(holdBack(type, hostThat([]), entries).entries).toBe(entries);
  });

  it("reads nothing where nobody rejects, where references are not known, or where only the sending is followed", () => {
    const before = reads;
    const entries = [route("r", "cluster/bad", "listener/bad")];
    for (const [subject, host] of [
      [type, hostThat(["cluster/bad"], [])],
      [{ typeUrl: "route", follows: type.follows ?? [] }, hostThat(["cluster/bad"])],
      [undefined, hostThat(["cluster/bad"])],
      [type, hostThat(["listener/bad"], ["listener"])],
    ] as const) {
      expect(holdBack(subject, host, entries).entries).toBe(entries);
    }
    expect(reads).toBe(before);
  });

  it("minds only references to types that are followed by acceptance", () => {
    expect(
      holdBack(type, hostThat(["listener/bad"]), [route("r", "listener/bad")]).heldBack.size,
    ).toBe(0);
  });

  it("reads a payload once, however many streams ask", () => {
    const entry = route("r", "cluster/bad");
    const before = reads;
    for (let stream = 0; stream < 5; stream++)
      expect(holdBack(type, hostThat(["cluster/bad"]), [entry]).entries).toEqual([]);
    expect(reads).toBe(before + 1);
  });
});
