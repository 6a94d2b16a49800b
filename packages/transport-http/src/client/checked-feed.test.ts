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
const names = "the test of this feed has no interest that covers several names";

describe("createHttpFeed() with long polls, as a feed:", () => {
  it.each(checkFeed(() => makeHttpFeed()))("$title", async ({ run }) => {
    expect([undefined, names]).toContain(await run());
  });
});

describe("createHttpFeed() with requests again and again, as a feed:", () => {
  it.each(checkFeed(() => makeHttpFeed(0)))("$title", async ({ run }) => {
    expect([undefined, names]).toContain(await run());
  });
});
