import { XdsError } from "@xdstp/core";
import { expect, it } from "vitest";

import { createDemandFeed, createWatcher, put, shown, T, turn } from "../test/scene.ts";
import { createCache } from "./index.ts";

const alt = "#alt=xdstp://b/t.T/other";
const name = `xdstp://a/t.T/x${alt}`;
const member = (id: string): string => `xdstp://a/t.T/ns/${id}#alt=xdstp://b/t.T/ns/*`;

it("takes what has directives for no name [N-18, C-ALT-1]", () => {
  const cache = createCache();
  cache.commit({});
  const committed = cache.commit({ put: [put(name)] });
  expect(committed.rejected?.[0]?.error).toMatchObject({
    text: expect.stringContaining("it is not an xdstp name") as string,
    context: { rule: "N-18" },
  });
  expect(
    cache
      .topic(T, { name })
      .members()
      .map((entry) => entry.resource),
  ).toEqual([undefined]);
});

it("keeps what has directives, for a client, beside the name without them [C-ALT-6]", async () => {
  await using cache = createCache({ directives: true });
  const feed = createDemandFeed();
  cache.addFeed(feed);
  const topics = [name, "xdstp://a/t.T/x", "*"].map((one) => cache.topic(T, { name: one }));
  for (const topic of topics) topic.watch(createWatcher());
  await turn();
  void feed.sink.commit({
    put: [{ ...put("xdstp://b/t.T/other", "2"), as: name }, put("xdstp://a/t.T/x", "1")],
  });
  expect(topics.map((topic) => shown(topic.members()))).toEqual([
    [`${name}=2`],
    ["xdstp://a/t.T/x=1"],
    ["xdstp://a/t.T/x=1"],
  ]);
});

it("has members of a glob with an alternative, each with that of the glob [C-ALT-7]", async () => {
  await using cache = createCache({ directives: true });
  const feed = createDemandFeed();
  cache.addFeed(feed);
  const topics = [member("*"), "xdstp://a/t.T/ns/*"].map((one) => cache.topic(T, { name: one }));
  for (const topic of topics) topic.watch(createWatcher());
  await turn();
  void feed.sink.commit({ put: [{ ...put("xdstp://a/t.T/ns/m"), as: member("m") }] });
  expect(topics.map((topic) => shown(topic.members()))).toEqual([[`${member("m")}=1`], []]);
});

it("takes for a member only what has the alternatives of the glob, and no name with one of its own [C-ALT-7]", async () => {
  await using cache = createCache({ directives: true });
  const feed = createDemandFeed();
  cache.addFeed(feed);
  const entry = "xdstp://a/t.TCollection/ns/m#entry=one,alt=xdstp://b/t.T/ns/*";
  const others = [
    "xdstp://a/t.T/ns/m#alt=xdstp://b/t.T/ns/n",
    "xdstp://a/t.T/ns/m#alt=xdstp://b/t.T/ns/m",
    "xdstp://a/t.T/ns/m#alt=xdstp://c/t.T/ns/*",
    entry,
    member("m"),
  ];
  const topics = [member("*"), ...others].map((one) => cache.topic(T, { name: one }));
  for (const topic of topics) topic.watch(createWatcher());
  await turn();
  void feed.sink.commit({ put: others.map((one) => ({ ...put("xdstp://a/t.T/ns/m"), as: one })) });
  expect(shown(topics[0]?.members() ?? [])).toEqual([`${member("m")}=1`]);
});

it("has entries of lists under the type of their members [C-LIST-7]", async () => {
  await using cache = createCache({ directives: true });
  const feed = createDemandFeed();
  cache.addFeed(feed);
  const topic = cache.topic(T, { name: "xdstp://a/t.TCollection/all#entry=one" });
  topic.watch(createWatcher());
  await turn();
  expect(feed.told).toEqual(["T: +xdstp://a/t.TCollection/all#entry=one"]);
  feed.sink.unavailable({ authority: "a" }, new XdsError("UNAVAILABLE", "a is gone"));
  expect(topic.stale).toBeUndefined();
});
