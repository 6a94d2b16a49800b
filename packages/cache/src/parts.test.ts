import { XdsError } from "@xdstp/core";
import { expect, it } from "vitest";

import { createDemandFeed, createWatcher, put, T, turn } from "../test/scene.ts";
import { createCache, type Cache } from "./index.ts";

const ns = (id: string, authority = "a"): string => `xdstp://${authority}/t.T/ns/${id}`;
const names = (held: Iterable<{ readonly name: string }>): readonly string[] =>
  Array.from(held, ({ name }) => name);

async function watching(cache: Cache, ...asked: readonly string[]): Promise<void> {
  for (const name of asked) cache.topic(T, { name }).watch(createWatcher());
  await turn();
}

it("keeps apart what the parts of a feed have given [C-RECON-3, C-ALT-8]", async () => {
  await using cache = createCache();
  const feed = createDemandFeed();
  cache.addFeed(feed);
  await watching(cache, ns("*"));
  const [one, other] = [feed.sink.part?.(), feed.sink.part?.()];
  void one?.commit({ put: [put(ns("x")), put(ns("y"))] });
  void other?.commit({ put: [put(ns("y"), "2"), put(ns("z"))] });
  expect([names(one?.held(T) ?? []), names(other?.held(T) ?? []), names(cache.held(T))]).toEqual([
    [ns("x")],
    [ns("y"), ns("z")],
    [ns("x"), ns("y"), ns("z")],
  ]);
  void one?.commit({ complete: [{ typeUrl: T, interest: { name: ns("*") } }] });
  expect(names(cache.held(T))).toEqual([ns("y"), ns("z")]);
});

it("takes what parts say of their supply as said by the feed, and forgets it with the feed [C-GRPC-4]", async () => {
  await using cache = createCache();
  const feed = createDemandFeed();
  const handle = cache.addFeed(feed);
  await watching(cache, ns("x"), ns("x", "b"), "opaque");
  const stale = (): readonly (string | undefined)[] =>
    [ns("x"), ns("x", "b"), "opaque"].map((name) => cache.topic(T, { name }).stale?.text);
  const part = feed.sink.part?.();
  part?.unavailable({ authority: "a" }, new XdsError("UNAVAILABLE", "a is gone"));
  expect(stale()).toEqual(["a is gone", undefined, undefined]);
  part?.unavailable({ authority: null }, new XdsError("UNAVAILABLE", "the default is gone"));
  expect(stale()).toEqual(["a is gone", undefined, "the default is gone"]);
  part?.unavailable({ authority: "a" }, undefined);
  expect(stale()).toEqual([undefined, undefined, "the default is gone"]);
  await handle.close();
  expect(stale()).toEqual([undefined, undefined, undefined]);
});
