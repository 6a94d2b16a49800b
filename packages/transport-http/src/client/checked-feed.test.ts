import { checkFeed, type TestedFeed } from "@xdstp/testing";
import { clusters } from "@xdstp/resource-types/envoy";
import { describe, expect, it } from "vitest";

import { nameOf, secondsOf, turns, useFetch, useHttp } from "../../test/use-http.ts";
import { createHttpFeed } from "./index.ts";

/** A feed over HTTP, and the server of which it requests resources. */
function makeHttpFeed(longPolls?: number): TestedFeed {
  const http = useHttp();
  const network = useFetch(http);
  const { clock } = http;
  return {
    feed: createHttpFeed({
      fetch: network.fetch,
      clock,
      random: () => 0.5,
      ...(longPolls !== undefined && { longPolls }),
    }),
    typeUrl: clusters.typeUrl,
    nameOf,
    stateOf: ({ payload }) => secondsOf(payload.value),
    put: (id, state) => {
      http.put(nameOf(id), state);
    },
    remove: (id) => {
      http.remove(nameOf(id));
    },
    cut: () => {
      network.intercept = () => new Response(null, { status: 503 });
    },
    restore: () => {
      network.intercept = undefined;
    },
    step: async () => {
      clock.advance(500);
      await turns();
    },
  };
}

/** The feed has no globs (B-HTTP-3). */
const noGlobs = {
  kind: "skipped",
  reason: "the test of this feed has no interest that covers several names",
};
const skipped: Readonly<Record<string, unknown>> = {
  "an interest that covers several names is settled with all its members": noGlobs,
  "an interest without members is settled too, and gets those that come later": noGlobs,
};

describe("createHttpFeed() with long polls, as a feed:", () => {
  it.each(checkFeed(() => makeHttpFeed()))("$title", async ({ name, check }) => {
    expect(await check()).toEqual(skipped[name] ?? { kind: "passed" });
  });
});

describe("createHttpFeed() with requests again and again, as a feed:", () => {
  it.each(checkFeed(() => makeHttpFeed(0)))("$title", async ({ name, check }) => {
    expect(await check()).toEqual(skipped[name] ?? { kind: "passed" });
  });
});
