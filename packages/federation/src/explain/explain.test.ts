import type { SourceConfig } from "@xdstp/bootstrap";
import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { serverOptions } from "../../test/server-options.ts";
import { createSources, explain, type ExplainedPlace, type FederationSource } from "../index.ts";

const server = (uri: string) =>
  ({ uri, credentials: { type: "insecure" }, features: new Set<string>() }) as const;
const from = (uris: string, ...authorities: readonly string[]): SourceConfig => ({
  servers: uris.split(" ").map(server),
  ...(authorities.length > 0 && { authorities }),
  place: uris,
});
const sourcesOf = (...configs: readonly SourceConfig[]): readonly FederationSource[] =>
  createSources(configs, serverOptions());
const named = (authority: string, rest = ""): string => `xdstp://${authority}/t.T/x${rest}`;
const inAlt = (locator: string): string => `#alt=${encodeURIComponent(locator)}`;

/** Prints a place as `by: s0 s1`, or its error. */
const shown = ({ by, servers, error }: ExplainedPlace): string =>
  error?.text ?? `${by}: ${servers.map(({ name }) => name).join(" ")}`;

const [one, two, rest] = [from("one", "a", "b"), from("two", "a"), from("rest")];
const [ownSource, ads] = [from("reference", "a"), { ...from("ads"), opaque: true }];
const unknownAuthority = (authority: string, known: string): string =>
  `no server is configured for the authority "${authority}"; ${known}; add a source for it`;

describe("explain()", () => {
  it("names the source of names of files, never the default one [C-NFILE-7]", () => {
    const files = { ...from("dir"), authorities: ["file://"] };
    const [found] = explain(sourcesOf(rest, files), "file:///dir/x.yaml");
    expect([found?.authority, found && shown(found)]).toEqual([null, "authority: dir"]);
    const [none] = explain(sourcesOf(rest), "file:///dir/x.yaml");
    expect(none?.servers).toEqual([]);
    expect(none?.error?.text).toBe(
      "names of files are not read; add a source with a directory for them",
    );
  });

  it.each<[string, string, readonly SourceConfig[], SourceConfig | undefined, string]>([
    [
      "the ConfigSource beside the reference, if it lists the authority",
      named("a"),
      [one, rest],
      ownSource,
      "reference: reference",
    ],
    [
      "not the one beside it, if that lists others only",
      named("b"),
      [one, rest],
      ownSource,
      "authority: one",
    ],
    [
      "not the one beside it, if that lists nobody",
      named("c"),
      [one],
      from("reference"),
      unknownAuthority("c", 'known: "a", "b"'),
    ],
    ["all that list it, in order", named("a"), [one, two, rest], undefined, "authority: one two"],
    ["the default last", named("c"), [one, two, rest], undefined, "default: rest"],
    [
      "nobody, where there is no default",
      named("c"),
      [one, two, ads],
      undefined,
      unknownAuthority("c", 'known: "a", "b"'),
    ],
    [
      "for an opaque name the one beside it, whatever it lists",
      "x",
      [one, rest],
      ownSource,
      "reference: reference",
    ],
    [
      "for an opaque name the source for these, not the default",
      "x",
      [one, ads, rest],
      undefined,
      "default: ads",
    ],
    [
      "for an opaque name the default where no source is for these",
      "x",
      [one, rest],
      undefined,
      "default: rest",
    ],
    [
      "an authority exactly as it is written",
      named("A"),
      [one],
      undefined,
      unknownAuthority("A", 'known: "a", "b"'),
    ],
    ["for the empty authority the default", named(""), [one, rest], undefined, "default: rest"],
    [
      "nobody at all",
      named("a"),
      [],
      undefined,
      unknownAuthority("a", "no authority is configured"),
    ],
  ])(
    "says who is asked: %s [C-AUTH-1, C-AUTH-2, C-AUTH-3, C-AUTH-5]",
    (_, name, configs, other, expected) => {
      const [source] = sourcesOf(...(other === undefined ? [] : [other]));
      expect(
        explain(sourcesOf(...configs), name, source === undefined ? {} : { ownSource: source }).map(
          shown,
        ),
      ).toEqual([expected]);
    },
  );

  it("gives the sources themselves, each server once, and how they fall back", () => {
    const sources = sourcesOf(
      from("s0 s1", "a"),
      { ...from("s1 s2", "a"), reachabilityOnly: true },
      rest,
    );
    const [place] = explain(sources, named("a"));
    expect(place?.sources).toEqual(sources.slice(0, 2));
    expect(place?.servers.map(({ name, config }) => [name, config?.variant])).toEqual([
      ["s0", "delta"],
      ["s1", "delta"],
      ["s2", "delta"],
    ]);
    expect(place?.reachabilityOnly).toBe(true);
  });

  it("follows alternatives in depth order, and sends nothing of a directive [C-ALT-1, C-ALT-5]", () => {
    const places = explain(
      sourcesOf(one, rest),
      named("a", `?k=v${inAlt(named("b", inAlt(named("c"))))}`),
    );
    expect(places.map((place) => [place.name, shown(place)])).toEqual([
      [named("a", "?k=v"), "authority: one"],
      [named("b"), "authority: one"],
      [named("c"), "default: rest"],
    ]);
    expect(places.map(({ locator }) => locator)).toEqual([
      named("a", `?k=v#alt=${"xdstp://b/t.T/x#alt=xdstp://c/t.T/x".replace("#", "%23")}`),
      named("b", "#alt=xdstp://c/t.T/x"),
      named("c"),
    ]);
  });

  it("ends where nobody answers: what comes after it is not asked", () => {
    expect(
      explain(sourcesOf(one), named("a", inAlt(named("c", inAlt(named("b")))))).map(({ by }) => by),
    ).toEqual(["authority", "none"]);
    expect(explain(sourcesOf(one), named("c", inAlt(named("b")))).map(({ by }) => by)).toEqual([
      "none",
    ]);
  });

  it("asks for a list where an entry of it is named [C-LIST-7]", () => {
    expect(explain(sourcesOf(rest), "xdstp://a/t.TCollection/all?k=v#entry=x")).toMatchObject([
      { name: "xdstp://a/t.TCollection/all?k=v", entry: "x" },
    ]);
  });

  it("adds context parameters: of a node to globs, attributes to every name, to alternatives too [C-CTX-1, C-CTX-3]", () => {
    const layers = { node: new Map([["id", "n1"]]), attributes: new Map([["host", "h"]]) };
    const sentAs = (name: string): readonly unknown[] =>
      explain(sourcesOf(rest), name, { layers }).map((place) => [
        place.name,
        Object.fromEntries(place.added),
      ]);
    expect(sentAs(named("a", "?k=v"))).toEqual([
      [named("a", "?k=v&xds.resource.host=h"), { "xds.resource.host": "h" }],
    ]);
    const added = { "xds.node.id": "n1", "xds.resource.host": "h" };
    expect(sentAs(`xdstp://a/t.T/*${inAlt("xdstp://b/t.T/*")}`)).toEqual(
      ["a", "b"].map((authority) => [
        `xdstp://${authority}/t.T/*?xds.node.id=n1&xds.resource.host=h`,
        added,
      ]),
    );
  });

  it.each([
    ["xdstp:/x", /is not an xdstp name/],
    [named("a", "?xds.node.id=x"), /reserved/],
    [named("a", inAlt("xdstp://b/t.U/x")), /C-ALT-7|has to be t\.T/],
    ["xdstp://a/t.T/*#entry=x", /has to be|no entries/],
    [named("a", "#alt=http://b/t.T/x"), /has the scheme http/],
  ])("rejects what no federation would ask for: %s", (name, text) => {
    expect(() => explain(sourcesOf(rest), name)).toThrow(text);
    expect(() => explain(sourcesOf(rest), name)).toThrow(XdsError);
  });

  it.each([
    ["xdstp:/x", "N-02"],
    [named("a", "?xds.node.id=x"), "N-60"],
    [named("a", inAlt("xdstp://b/t.T/x?xds.node.id=x")), "N-60"],
  ])("says of %s which rule it breaks", (name, rule) => {
    expect(() => explain(sourcesOf(rest), name)).toThrow(
      expect.objectContaining({ context: { resource: name, rule } }) as Error,
    );
  });
});
