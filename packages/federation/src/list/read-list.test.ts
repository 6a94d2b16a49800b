import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { lengthDelimited } from "@xdstp/core/wire";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { printLocator } from "@xdstp/uri";
import { describe, expect, it } from "vitest";

import { inline, listOf, listUrl, located, locatedByText, memberUrl } from "../../test/lists.ts";
import { readList } from "./read-list.ts";

type ReadListOptions = Parameters<typeof readList>[2];

const read = (entries: readonly Uint8Array[], options?: ReadListOptions) =>
  readList({ typeUrl: listUrl, value: listOf(...entries) }, memberUrl, options);

/** Prints entries, or the fault. */
function shown(
  entries: readonly Uint8Array[],
  options?: ReadListOptions,
): readonly string[] | string {
  const list = read(entries, options);
  return "text" in list
    ? list.text
    : list.map((entry) =>
        entry.kind === "locator"
          ? printLocator(entry.locator)
          : `${entry.name}@${entry.version}=${Buffer.from(entry.payload.value).toString()}`,
      );
}

describe("readList()", () => {
  it("reads one entry, three, and none, in their order [B-LIST-1] [B-LIST-3]", () => {
    expect([
      shown([]),
      shown([inline("a", "on")]),
      shown([inline("a", "on", "2"), located("xdstp://a/acme.v1.Flag/b"), inline("", "off")]),
    ]).toEqual([[], ["a@1=on"], ["a@2=on", "xdstp://a/acme.v1.Flag/b", "@1=off"]]);
  });

  it.each([
    [
      "its fields in any order",
      [lengthDelimited(4, "acme.v1.Flag"), lengthDelimited(2, "b"), lengthDelimited(3, "a")],
      "xdstp://a/acme.v1.Flag/b",
    ],
    [
      "a field twice, of which the last counts",
      [lengthDelimited(2, "x"), lengthDelimited(4, "acme.v1.Flag"), lengthDelimited(2, "b")],
      "xdstp:///acme.v1.Flag/b",
    ],
    [
      "text beyond ASCII",
      [lengthDelimited(2, "ü"), lengthDelimited(4, "acme.v1.Flag")],
      "xdstp:///acme.v1.Flag/%C3%BC",
    ],
    [
      "a field of no use here",
      [lengthDelimited(2, "b"), lengthDelimited(4, "acme.v1.Flag"), lengthDelimited(99, "x")],
      "xdstp:///acme.v1.Flag/b",
    ],
    [
      "no type",
      [lengthDelimited(2, "b")],
      expect.stringContaining("entry 1 of the list has a locator that cannot be read") as string,
    ],
    [
      "bytes that end too early",
      [Buffer.from([0x12, 9, 0x62])],
      expect.stringContaining("entry 1 of the list has a locator that cannot be read") as string,
    ],
  ])("reads a locator with %s [N-80]", (_, fields, uri) => {
    const entry = lengthDelimited(1, lengthDelimited(1, Buffer.concat(fields)));
    expect([shown([entry])].flat()).toEqual([uri]);
  });

  it.each([
    "xdstp://a/acme.v1.Flag/b",
    "xdstp:///acme.v1.Flag/b",
    "http://a/acme.v1.Flag/b",
    "file:///b.yaml",
    "xdstp://a/acme.v1.Flag/x/b?p=1&q=2",
    "xdstp://a/acme.v1.Flag/%25#alt=xdstp://b/acme.v1.Flag/c",
    "xdstp://a/acme.v1.FlagCollection/l#entry=n",
    "xdstp://a/acme.v1.Flag/b#alt=xdstp://b/acme.v1.FlagCollection/l%23entry=n",
  ])("reads %s as a text and as a message [N-82] [B-LIST-3]", (uri) => {
    expect([shown([located(uri)]), shown([locatedByText(uri)])]).toEqual([[uri], [uri]]);
  });

  it.each(["listener.v3.Listener", "cluster.v3.Cluster", "endpoint.v3.LbEndpoint"])(
    "reads what Envoy's own message for collections of %s holds [B-LIST-1]",
    (name) => {
      const typeUrl = `type.googleapis.com/envoy.config.${name}`;
      const schema = envoyRegistry().getMessage(`envoy.config.${name}Collection`);
      if (schema === undefined) throw new Error(`no collection of ${name}`);
      const bytes = listOf(inline("a", "", "1", typeUrl));
      const list = readList(
        { typeUrl: `${typeUrl}Collection`, value: toBinary(schema, fromBinary(schema, bytes)) },
        typeUrl,
      );
      expect(list).toMatchObject([{ name: "a", payload: { typeUrl } }]);
    },
  );

  it.each([
    [
      "an empty entry [B-LIST-3]",
      lengthDelimited(1, ""),
      /^entry 2 of the list is neither a locator nor inline/,
    ],
    [
      "a second entry of the same name [B-LIST-4]",
      inline("a", "off"),
      /^entry 2 of the list has the name "a" for a second time/,
    ],
    [
      "a payload of another type [B-LIST-4]",
      inline("b", "off", "1", "type.googleapis.com/acme.v1.Other"),
      /^entry 2 of the list has a payload of type .*acme\.v1\.Other/,
    ],
    [
      "a text that is not a locator",
      locatedByText("xdstp://a"),
      /^entry 2 of the list has a locator that cannot be read: .*type/,
    ],
    [
      "a text that is not UTF-8",
      lengthDelimited(
        1,
        lengthDelimited(1, Buffer.concat([Buffer.from("xdstp:"), Uint8Array.of(255)])),
      ),
      /^entry 2 of the list has a locator that cannot be read/,
    ],
    [
      "a locator that is not a message",
      lengthDelimited(1, lengthDelimited(1, Uint8Array.of(0x12, 9))),
      /^entry 2 of the list has a locator that cannot be read/,
    ],
    [
      "a locator without a type",
      lengthDelimited(1, lengthDelimited(1, lengthDelimited(2, "x"))),
      /^entry 2 of the list has a locator that cannot be read/,
    ],
    [
      "a locator that nests without end [B-LIM-5]",
      lengthDelimited(1, lengthDelimited(1, nested(300))),
      /^entry 2 of the list has a locator that cannot be read/,
    ],
  ])("says what is wrong with %s", (_, bad, reason) => {
    expect(shown([inline("a", "on"), bad])).toMatch(reason);
  });

  it.each([
    ["a text", "xdstp://a", "N-08"],
    ["a message", lengthDelimited(2, "x"), "N-08"],
  ])("names the rule that a locator breaks, in %s", (_, locator, rule) => {
    const bytes = listOf(lengthDelimited(1, lengthDelimited(1, locator)));
    expect(readList({ typeUrl: `${memberUrl}Collection`, value: bytes }, memberUrl)).toMatchObject({
      rule,
    });
  });

  it("takes no more entries than it may [C-LIM-7]", () => {
    const entries = Array.from({ length: 4 }, (_, index) => inline(String(index), "on"));
    expect([shown(entries, { maxEntries: 4 }).length, shown(entries, { maxEntries: 3 })]).toEqual([
      4,
      "entry 4 of the list is one too many: at most 3 are accepted; list fewer, or raise maxEntries",
    ]);
  });

  it("reads what is not a list as none, a redirect too [B-LIST-1]", () => {
    expect(
      readList(
        {
          typeUrl: "type.googleapis.com/xds.core.v3.ResourceLocator",
          value: lengthDelimited(2, "id"),
        },
        memberUrl,
      ),
    ).toMatchObject({
      rule: "B-LIST-1",
      text: expect.stringContaining(
        "a list of these is a type.googleapis.com/acme.v1.FlagCollection",
      ) as string,
    });
    expect(shown([Uint8Array.of(10, 200)])).toBe("it is not a list of collection entries");
  });

  it("says of an inline entry what is wrong with its content, with its number", () => {
    expect(
      shown([inline("a", "on"), inline("b", "broken")], {
        faultOf: ({ name, payload }) =>
          Buffer.from(payload.value).toString() === "broken"
            ? { text: `is broken: ${name}` }
            : undefined,
      }),
    ).toBe("entry 2 of the list is broken: b");
  });
});

/** Returns a locator with alternatives nested to this depth. */
function nested(depth: number): Uint8Array {
  const parts = Buffer.concat([lengthDelimited(2, "x"), lengthDelimited(4, "acme.v1.Flag")]);
  return depth === 0
    ? parts
    : Buffer.concat([parts, lengthDelimited(6, lengthDelimited(1, nested(depth - 1)))]);
}
