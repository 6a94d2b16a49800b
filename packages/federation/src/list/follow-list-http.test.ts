import { createCache } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { createHttpFeed } from "@xdstp/transport-http/client";
import { expect, it, onTestFinished } from "vitest";

import { listName, putList } from "../../../transport-http/test/put-list.ts";
import {
  nameOf,
  secondsOf,
  turns,
  useFetch,
  useHttp,
} from "../../../transport-http/test/use-http.ts";
import { followList } from "./follow-list.ts";

it("fetches the located members of a list over HTTP one by one, and no member again since the list changed [C-HTTP-10]", async () => {
  const http = useHttp();
  const network = useFetch(http);
  const cache = createCache({ types: envoyTypes, clock: http.clock });
  onTestFinished(() => cache.close());
  cache.addFeed(createHttpFeed({ fetch: network.fetch, clock: http.clock, random: () => 0.5 }));
  const pass = async (): Promise<void> => {
    await turns();
    http.clock.advance(100);
    await turns();
  };
  for (const id of ["a", "b", "c"]) http.put(nameOf(id), 1);
  putList(http, { located: [nameOf("a"), nameOf("b")], inline: { name: "own", seconds: 9 } });
  const list = followList(cache, clusters.typeUrl, { name: listName }, { wake: () => undefined });
  onTestFinished(() => {
    list.close();
  });
  await pass();
  await pass();
  const members = (): string[] =>
    list.members.map(({ resource }) =>
      resource === undefined ? "none" : `${secondsOf(resource.payload.value)} s`,
    );
  expect(members()).toEqual(["1 s", "1 s", "9 s"]);
  const ofMembers = (): (string | undefined)[] =>
    network.requested
      .filter((url) => !url.includes("Collection"))
      .map((url) => url.split("/").at(-1));
  // A request for each located member, and its long poll; none for the inline entry.
  expect(ofMembers()).toEqual(["a", "b", "a", "b"]);
  network.requested.length = 0;
  putList(http, { located: [nameOf("b"), nameOf("c")], inline: { name: "own", seconds: 8 } });
  await pass();
  await pass();
  expect(members()).toEqual(["1 s", "1 s", "8 s"]);
  expect(ofMembers()).toEqual(["c", "c"]);
  network.requested.length = 0;
  http.put(nameOf("b"), 2);
  await pass();
  expect(members()).toEqual(["2 s", "1 s", "8 s"]);
  expect(ofMembers()).toEqual(["b"]);
  expect(network.requested.some((url) => url.includes("Collection"))).toBe(false);
});
