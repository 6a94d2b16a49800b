import type { Held, Interest } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import type { ClassifySource } from "./classification.ts";
import { createAbsenceClassifier } from "./classify-absence.ts";
import { classifyResponse } from "./classify-response.ts";
import { createClientContext } from "./client-context.ts";
import { allParts } from "./client-parts.ts";
import { createMemberLimit } from "./member-limit.ts";
import type { ReceivedResource, ReceivedResponse } from "./received.ts";
import { changeCollection, changeName, type Wanted } from "./wanted.ts";
import { createWantedIndex } from "./wanted-index.ts";

const T = "type.googleapis.com/t.T";

/** A client that has subscribed to `names`, and whose sink has `cached`. */
function sourceOf(names: readonly string[], cached: readonly Held[] = []): ClassifySource {
  const clock = createManualClock();
  const wants = createWantedIndex(T);
  for (const name of names) {
    const wanted = wants.add({ name });
    if (wanted?.kind === "name") changeName(wanted, { kind: "sent", first: true });
    else if (wanted !== undefined) changeCollection(wanted, { kind: "sent", first: true });
  }
  const sink = {
    held: (_: string, interest?: Interest) =>
      cached.filter(({ name }) => interest?.name === "*" || name === interest?.name),
  };
  const connect = (): never => {
    throw new Error("nobody connects");
  };
  return {
    context: createClientContext({ connect, node: Buffer.of(), clock }),
    typeUrl: T,
    sink,
    parts: allParts,
    wants,
    members: createMemberLimit({ typeUrl: T, sink }, clock, 1_000),
  };
}

function resource(name: string, more: Partial<ReceivedResource> = {}): ReceivedResource {
  const payload = { typeUrl: T, value: Buffer.of() };
  return { name, key: name, version: "1", payload, ...more };
}

function response(parts: Partial<ReceivedResponse>): ReceivedResponse {
  return {
    typeUrl: T,
    nonce: "n",
    version: "1",
    controlPlane: "",
    canary: false,
    resources: [],
    removed: [],
    errors: [],
    ...parts,
  };
}

const kindsOf = (source: ClassifySource, parts: Partial<ReceivedResponse>): readonly string[] =>
  classifyResponse(source, response(parts), () => undefined).map(({ kind }) => kind);

describe("classifyResponse()", () => {
  it("gives each resource one verdict, and answers what it covers", () => {
    const source = sourceOf(["a", "b", "c"], [{ name: "c", version: "1" }]);
    const resources = [
      resource("a"),
      resource("b", { payload: { typeUrl: "other", value: Buffer.of() } }),
      resource("c", { payload: undefined }),
      resource("nobody"),
    ];
    expect(kindsOf(source, { resources })).toEqual([
      "accepted",
      "answered",
      "rejected",
      "answered",
      "refreshed",
      "ignored",
    ]);
  });

  it("a resource does not answer an alias that the response removes, unless it lists that or has its name [C-ALIAS-3] [C-SUB-8]", () => {
    const source = sourceOf(["alias"], [{ name: "real", version: "1" }]);
    const [alias] = source.wants.ofName("alias");
    if (alias?.kind !== "name") throw new Error("an alias is a name");
    source.wants.link(alias, "real");
    const kindsOfOne = (one: ReceivedResource): readonly string[] =>
      kindsOf(source, { resources: [one], removed: [{ name: "alias" }] });
    expect(kindsOfOne(resource("real"))).toEqual(["ignored", "answered", "removed", "removed"]);
    expect(kindsOfOne(resource("real", { aliases: ["alias"] }))[0]).toBe("accepted");
    expect(kindsOfOne(resource("alias"))[0]).toBe("accepted");
  });

  it("a resource without a body that is not cached is removed, or requested again if it has a TTL [C-MISS-3] [C-TTL-3]", () => {
    const source = sourceOf(["a", "b"]);
    const resources = [
      resource("a", { payload: undefined }),
      resource("b", { payload: undefined, ttlMs: 1 }),
    ];
    expect(kindsOf(source, { resources })).toEqual(["answered", "removed", "answered", "lost"]);
  });

  it("removes the rest of a complete collection by name when not all of it is accepted [C-FULL-3]", () => {
    const source = sourceOf(["*"], [{ name: "old", version: "1" }]);
    const [all] = source.wants;
    if (all === undefined || all.kind === "name") throw new Error("it is a collection");
    const absence = { complete: [all], late: [], removed: [], missing: [], leftOut: [] };
    const classifyAbsence = createAbsenceClassifier<undefined>(() => absence);
    const verdictsOf = (...resources: readonly ReceivedResource[]): readonly string[] => {
      const full = response({ resources });
      return classifyResponse(source, full, (draft) => {
        classifyAbsence(source, draft, full, undefined);
      }).map((verdict) => (verdict.kind === "whole" ? `whole ${verdict.exact}` : verdict.kind));
    };
    expect(verdictsOf(resource("a"))).toEqual(["accepted", "whole true"]);
    expect(verdictsOf(resource("a"), resource("b", { fault: "it is bad" }))).toEqual([
      "accepted",
      "answered",
      "rejected",
      "removed",
      "whole false",
    ]);
  });

  it("changes nothing: the same response is classified the same again", () => {
    const source = sourceOf(["a", "*"], [{ name: "a", version: "1" }]);
    const states = (): readonly Wanted["state"][] => Array.from(source.wants, ({ state }) => state);
    const before = states();
    const parts = {
      resources: [resource("b"), resource("c", { payload: undefined, ttlMs: 1 })],
      removed: [{ name: "a" }],
    };
    expect(kindsOf(source, parts)).toEqual(kindsOf(source, parts));
    for (const [nth, state] of states().entries()) expect(state).toBe(before[nth]);
  });
});
