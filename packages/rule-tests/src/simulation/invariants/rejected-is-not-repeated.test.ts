import type { Connection } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import type { ResponseContent } from "../wire-view.ts";
import { rejectedIsNotRepeated } from "./rejected-is-not-repeated.ts";

const typeUrl = "t";

/** One line for each message: a response of this content, and what it refers to; what the client accepts of another type; an answer to the newest, a request for names (`crosses`: under the nonce of the response before the newest; `twin`: of one that only another call was sent), the end of a step; a window that is full, and no more; the end of the connection; and the time at which `late` can be answered. */
type Event =
  | { readonly says: number; readonly of?: string }
  | { readonly accepts: string }
  | { readonly answers: "ACK" | "NACK" }
  | {
      readonly asks: readonly string[];
      readonly drops?: readonly string[];
      readonly crosses?: true | "twin";
    }
  | "step"
  | "full"
  | "drained"
  | "closed"
  | "late is known";

function referencesTo(name: string | undefined): ResponseContent["refersTo"] {
  return name === undefined ? [] : [{ typeUrl: "other", name }];
}

function reportsOf(variant: "delta" | "sotw", events: readonly Event[]): readonly string[] {
  let [isFull, isOpen] = [false, true];
  const connection = {
    id: 1,
    address: `server 0/${variant}`,
    isOpen: () => isOpen,
    isPaused: () => isFull,
  } as unknown as Connection;
  const reports: string[] = [];
  let isKnown = false;
  const invariant = rejectedIsNotRepeated(
    (_, text) => {
      reports.push(text);
    },
    (_connection, _typeUrl, name) => name === "late" && !isKnown,
  );
  let nonce = 0;
  const respond = (of: string, hash: number, content: ResponseContent): void => {
    invariant.onResponse?.(connection, {
      typeUrl: of,
      nonce: ++nonce,
      hash,
      content: () => content,
    });
  };
  let names: readonly string[] = variant === "sotw" ? ["a"] : [];
  invariant.onRequest?.(connection, {
    typeUrl,
    nonce: Number.NaN,
    rejects: false,
    names: ["a"],
    drops: [],
  });
  for (const event of events) {
    if (event === "step") {
      invariant.onStep?.();
      continue;
    }
    if (event === "full" || event === "drained") {
      isFull = event === "full";
      continue;
    }
    if (event === "closed") {
      isOpen = false;
      continue;
    }
    if (event === "late is known") {
      isKnown = true;
      continue;
    }
    if ("says" in event)
      respond(typeUrl, event.says, { names: [], refersTo: referencesTo(event.of) });
    else if ("accepts" in event) {
      respond("other", 0, { names: [event.accepts], refersTo: [] });
      invariant.onRequest?.(connection, {
        typeUrl: "other",
        nonce,
        rejects: false,
        names: [],
        drops: [],
      });
    } else if ("answers" in event)
      invariant.onRequest?.(connection, {
        typeUrl,
        nonce,
        rejects: event.answers === "NACK",
        names,
        drops: [],
      });
    else {
      const drops = variant === "delta" ? (event.drops ?? []) : [];
      invariant.onRequest?.(connection, {
        typeUrl,
        nonce: nonce + (event.crosses === undefined ? 0 : event.crosses === true ? -1 : 0.5),
        rejects: false,
        names: [...event.asks, ...drops],
        drops,
      });
      if (variant === "sotw") names = event.asks;
    }
  }
  invariant.onStep?.();
  return reports;
}

describe.each(["delta", "sotw"] as const)("rejectedIsNotRepeated() (%s)", (variant) => {
  it.each<readonly [what: string, isRed: boolean, events: readonly Event[]]>([
    ["the same again after a rejection", true, [{ says: 1 }, { answers: "NACK" }, { says: 1 }]],
    [
      "the same again some steps later",
      true,
      [{ says: 1 }, "step", { answers: "NACK" }, "step", "step", { says: 1 }],
    ],
    [
      "the same again after something else, rejected again",
      true,
      [{ says: 2 }, { answers: "ACK" }, { says: 1 }, { answers: "NACK" }, { says: 1 }],
    ],
    ["the same again, accepted before", false, [{ says: 1 }, { answers: "ACK" }, { says: 1 }]],
    ["other content", false, [{ says: 1 }, { answers: "NACK" }, { says: 2 }]],
    [
      "a first part that was the whole before",
      false,
      [{ says: 1 }, { answers: "NACK" }, { says: 1 }, { says: 2 }],
    ],
    [
      "a first part, whose rest waits for a full window",
      false,
      [
        { says: 1 },
        { answers: "NACK" },
        "full",
        { says: 1 },
        "step",
        "step",
        "drained",
        { says: 2 },
      ],
    ],
    [
      "a first part, whose rest does not come, since the connection has ended",
      false,
      [{ says: 1 }, { answers: "NACK" }, "full", { says: 1 }, "step", "closed", "step"],
    ],
    [
      "the same again on a connection that ends in that step",
      true,
      [{ says: 1 }, { answers: "NACK" }, { says: 1 }, "closed", "step"],
    ],
    [
      "the same again, and nothing after a full window",
      true,
      [{ says: 1 }, { answers: "NACK" }, "full", { says: 1 }, "step", "drained", "step"],
    ],
    [
      "the last part of what was more before, sent after a full window",
      false,
      ["full", { says: 2 }, "step", "drained", { says: 1 }, { answers: "NACK" }, { says: 1 }],
    ],
    [
      "the last part of what was more before",
      false,
      [{ says: 2 }, { says: 1 }, { answers: "NACK" }, "step", { says: 1 }],
    ],
    [
      "the same once more after that, rejected again",
      true,
      [
        { says: 2 },
        { says: 1 },
        { answers: "NACK" },
        "step",
        { says: 1 },
        { answers: "NACK" },
        "step",
        { says: 1 },
      ],
    ],
    [
      "the same to a client that has asked for something else",
      false,
      [{ says: 1 }, { answers: "NACK" }, { asks: ["b"] }, { says: 1 }],
    ],
    [
      "the same where what was asked for before can be answered now",
      false,
      [{ asks: ["a", "late"] }, { says: 1 }, { answers: "NACK" }, "late is known", { says: 1 }],
    ],
    [
      "the same once more after that",
      true,
      [
        { asks: ["a", "late"] },
        { says: 1 },
        { answers: "NACK" },
        "late is known",
        { says: 1 },
        { answers: "NACK" },
        { says: 1 },
      ],
    ],
    [
      "the same where that has been answered already",
      true,
      [{ asks: ["a", "late"] }, "late is known", { says: 1 }, { answers: "NACK" }, { says: 1 }],
    ],
    [
      "the same where that is wanted no more",
      true,
      [
        { asks: ["a", "late"] },
        { asks: ["a"], drops: ["late"] },
        { says: 1 },
        { answers: "NACK" },
        { says: 1 },
      ],
    ],
  ])("%s: red is %s", (_, isRed, events) => {
    expect(reportsOf(variant, events)).toHaveLength(isRed ? 1 : 0);
  });

  it.each<readonly [what: string, isRed: boolean, events: readonly Event[]]>([
    [
      "the same once the client has accepted what it refers to",
      false,
      [{ says: 1, of: "c" }, { answers: "NACK" }, { accepts: "c" }, { says: 1, of: "c" }],
    ],
    [
      "the same a second time after that",
      true,
      [
        { says: 1, of: "c" },
        { answers: "NACK" },
        { accepts: "c" },
        { says: 1, of: "c" },
        { answers: "NACK" },
        { says: 1, of: "c" },
      ],
    ],
    [
      "the same once the client has accepted another name",
      true,
      [
        { accepts: "e" },
        { says: 1, of: "c" },
        { answers: "NACK" },
        { accepts: "d" },
        { says: 1, of: "c" },
      ],
    ],
    [
      "the same once the client has accepted anything of a type that it may have had before",
      false,
      [{ says: 1, of: "c" }, { answers: "NACK" }, { accepts: "d" }, { says: 1, of: "c" }],
    ],
    [
      "the same where that was accepted before",
      true,
      [{ accepts: "c" }, { says: 1, of: "c" }, { answers: "NACK" }, { says: 1, of: "c" }],
    ],
  ])("%s: red is %s [S-ACK-21]", (_, isRed, events) => {
    expect(reportsOf(variant, events)).toHaveLength(isRed ? 1 : 0);
  });
});

describe("rejectedIsNotRepeated(), a list that crossed a response", () => {
  it.each<readonly [what: string, isRed: boolean, events: readonly Event[]]>([
    [
      "is requested by the answer to that response",
      false,
      [
        { says: 1 },
        { answers: "ACK" },
        { says: 2 },
        { asks: ["a", "b"], crosses: true },
        { says: 3 },
        { answers: "NACK" },
        { says: 3 },
      ],
    ],
    [
      "is requested by the next answer, where it answers a response of a call that arrived twice",
      false,
      [
        { says: 1 },
        { answers: "ACK" },
        { asks: ["a", "b"], crosses: "twin" },
        { says: 3 },
        { answers: "NACK" },
        { says: 3 },
      ],
    ],
    [
      "changes the wanted set at once by a name that it drops",
      false,
      [
        { says: 1 },
        { asks: ["a", "b"] },
        { answers: "ACK" },
        { says: 2 },
        { asks: ["a"], crosses: true },
        { answers: "NACK" },
        { says: 2 },
      ],
    ],
    [
      "without anything new in it is not a request",
      true,
      [
        { says: 1 },
        { answers: "ACK" },
        { says: 2 },
        { asks: ["a"], crosses: true },
        { says: 3 },
        { answers: "NACK" },
        { says: 3 },
      ],
    ],
    [
      "and repeats after its answer is red again",
      true,
      [
        { says: 2 },
        { asks: ["a", "b"], crosses: true },
        { says: 3 },
        { answers: "NACK" },
        { says: 3 },
        { answers: "NACK" },
        { says: 3 },
      ],
    ],
  ])("%s [S-NONCE-6] [S-ACK-8]", (_, isRed, events) => {
    expect(reportsOf("sotw", events).length > 0).toBe(isRed);
  });
});
