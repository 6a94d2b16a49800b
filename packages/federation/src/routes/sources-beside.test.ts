import { describe, expect, it } from "vitest";

import type { FederationSource } from "../federation-source.ts";
import { serversOf, sourcesFor } from "./routes.ts";
import { sourcesBeside } from "./sources-beside.ts";

const source = (
  server: string,
  authorities?: readonly string[],
  more: Partial<FederationSource> = {},
): FederationSource => ({
  servers: server.split(" ").map((id) => ({
    id,
    name: id,
    open: () => {
      throw new Error("nobody is asked here");
    },
  })),
  ...(authorities !== undefined && { authorities }),
  ...more,
});
const sources = [
  source("a", ["a", "x"]),
  source("b", ["b"]),
  source("ads", undefined, { opaque: true }),
  source("rest"),
];
const named = (authority: string): string => `xdstp://${authority}/acme.v1.Flag/x`;

/**
 * Returns the servers that names of these authorities are requested from, with a ConfigSource that
 * applies to `name`.
 */
function askedBeside(
  name: string,
  ownSource: FederationSource,
  authorities: readonly (string | null)[],
): string | undefined {
  const found = sourcesBeside(sources, name, ownSource);
  return (
    found &&
    authorities
      .map((authority) =>
        serversOf(sourcesFor(found.sources, authority))
          .map(({ id }) => id)
          .join("+"),
      )
      .join(" ")
  );
}

describe("the ConfigSource beside a reference", () => {
  it.each([
    ["is asked for opaque names, whatever it lists", "opaque", source("s", ["a"]), "s s b rest"],
    [
      "is asked for names of an authority that it lists, and no other source is",
      named("a"),
      source("s", ["a"]),
      "s s b rest",
    ],
    ["leaves other authorities to the bootstrap", named("b"), source("s", ["a"]), undefined],
    ["is asked for opaque names only where it lists none", named("a"), source("s", []), undefined],
    [
      "is nothing of its own where the bootstrap asks the same servers for opaque names",
      "opaque",
      source("ads"),
      undefined,
    ],
    [
      "is nothing of its own where the bootstrap asks the same servers for the authority",
      named("a"),
      source("a", ["a"]),
      undefined,
    ],
    [
      "is one of its own where the bootstrap asks the same servers in another order",
      "opaque",
      source("ads rest"),
      "ads+rest a b rest",
    ],
    ["is for nobody where the name is broken", "xdstp:broken", source("s"), undefined],
    [
      "counts for the alternatives of a name too",
      `${named("b")}#alt=xdstp%3A//c/acme.v1.Flag/x%23alt=xdstp%253A//a/acme.v1.Flag/x`,
      source("s", ["a"]),
      "s s b rest",
    ],
    [
      "leaves a name and its alternative to the bootstrap, where it lists neither",
      `${named("b")}#alt=xdstp%3A//c/acme.v1.Flag/x`,
      source("s", ["a"]),
      undefined,
    ],
    [
      "counts for a name with directives",
      `${named("a")}#alt=xdstp%3A//b/acme.v1.Flag/x`,
      source("s", ["a"]),
      "s s b rest",
    ],
  ])("%s [C-AUTH-1, C-AUTH-4, C-AUTH-6, C-AGG-1]", (_, name, ownSource, expected) => {
    expect(askedBeside(name, ownSource, [null, "a", "b", "c"])).toBe(expected);
  });

  it("has one id where it is one, however it is written [C-AGG-1]", () => {
    const [one, same, other] = [["a", "c"], ["c", "a"], ["a"]].map(
      (authorities) => sourcesBeside(sources, "opaque", source("s", authorities))?.id,
    );
    expect([one === same, one === other, one === undefined]).toEqual([true, false, false]);
  });
});
