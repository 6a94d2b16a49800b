import type { Entry, Interest, Topic } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";
import { describe, expect, it } from "vitest";
import {
  addTopic,
  coveringTopic,
  coveringTopics,
  isSubscribed,
  mergeEntries,
  removeTopic,
  replaceTopic,
  type Subscriptions,
  topicsOf,
} from "./subscriptions.ts";

const glob = "xdstp://a/test.Type/x/*";
const member = "xdstp://a/test.Type/x/1";
const plain = "xdstp://a/test.Type/~x";
const asked = "xdstp://a/test.Type/%7Ex";
const prod = new Map([["env", "prod"]]);

const at = (name: string, revision: number): Entry => ({
  name,
  revision,
  since: 0,
  superseded: false,
});

/** A topic with this entry. */
function topicOf(interest: Interest, entry?: Entry): Topic {
  return {
    interest,
    get: (name: string) => (entry?.name === name ? entry : undefined),
  } as unknown as Topic;
}

function subscribed(...topics: readonly Topic[]): Subscriptions {
  const state: Subscriptions = { topics: new Map(), located: undefined, nameLength: 0 };
  for (const topic of topics) addTopic(state, topic.interest, topic);
  return state;
}

describe("subscriptions", () => {
  it("find what covers a name: its own, then its glob, then the wildcard", () => {
    const [own, all, wild] = [member, glob, "*"].map((name) => topicOf({ name }));
    if (own === undefined || all === undefined || wild === undefined)
      throw new Error("unreachable");
    const state = subscribed(wild, all, own);
    expect(coveringTopics(state, member)).toEqual([own, all, wild]);
    expect(coveringTopic(state, member)).toBe(own);
    removeTopic(state, nameKey(member));
    expect(coveringTopic(state, member)).toBe(all);
    removeTopic(state, nameKey(glob));
    expect(coveringTopic(state, member)).toBe(wild);
    removeTopic(state, "*");
    expect(coveringTopic(state, member)).toBeUndefined();
    expect(state).toEqual({ topics: new Map(), located: undefined, nameLength: 0 });
  });

  it("are several for a name with other dynamic parameters, of which one that has the name covers it [S-DYN-2]", () => {
    const without = topicOf({ name: "n" });
    const located = topicOf({ name: "n", parameters: prod }, at("n", 1));
    const state = subscribed(without, located);
    expect(topicsOf(state, "n")).toEqual([without, located]);
    expect(coveringTopic(state, "n")).toBe(located);
    const newer = topicOf({ name: "n", parameters: prod });
    replaceTopic(state, located, newer);
    expect([located, newer].map((topic) => isSubscribed(state, topic))).toEqual([false, true]);
    expect(topicsOf(state, "n")).toEqual([without, newer]);
    for (const key of [...state.topics.keys()]) removeTopic(state, key);
    expect(state).toEqual({ topics: new Map(), located: undefined, nameLength: 0 });
  });
});

describe("mergeEntries()", () => {
  const asks = (...names: readonly string[]): Subscriptions =>
    subscribed(...names.map((name) => topicOf({ name })));

  it("takes each name once, in order of its first appearance [S-DUP-1]", () => {
    const [a, b, c] = [at("a", 1), at("b", 2), at("c", 3)];
    expect(mergeEntries(asks(), [[a, b], [b, c], [a]])).toEqual([a, b, c]);
    expect(mergeEntries(asks(), [])).toEqual([]);
  });

  it("takes the newest entry of a name, whichever comes first and however it is spelled [S-DUP-1]", () => {
    const [older, newer] = [at(plain, 1), at(asked, 2)];
    expect(mergeEntries(asks(plain), [[older], [newer]])).toEqual([newer]);
    expect(mergeEntries(asks(plain), [[newer], [older]])).toEqual([newer]);
  });

  it("takes of equal ones that in the spelling that was asked [N-42]", () => {
    const [stored, spelled] = [at(plain, 1), at(asked, 1)];
    expect(mergeEntries(asks(asked), [[stored], [spelled]])).toEqual([spelled]);
    expect(mergeEntries(asks(asked), [[spelled], [stored]])).toEqual([spelled]);
    expect(mergeEntries(asks("*"), [[stored], [spelled]])).toEqual([stored]);
  });
});
