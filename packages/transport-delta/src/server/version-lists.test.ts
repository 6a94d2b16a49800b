import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { createRequestDecoder, decodeRequest } from "./decode-request.ts";
import { createVersionLists } from "./version-lists.ts";

const versions = (count: number, text = "1"): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`cluster-${index}`, text]));
const encode = (initialResourceVersions: Record<string, string>, id = "n"): Uint8Array =>
  toBinary(
    DeltaDiscoveryRequestSchema,
    create(DeltaDiscoveryRequestSchema, {
      node: { id },
      typeUrl: "t",
      resourceNamesSubscribe: ["*"],
      initialResourceVersions,
      responseNonce: "7",
    }),
  );

describe("createVersionLists()", () => {
  it("gives equal lists as one object, whoever sends them [S-RECON-4]", () => {
    const lists = createVersionLists();
    const [one, other, newer] = [
      encode(versions(50), "one"),
      encode(versions(50), "other"),
      encode(versions(50, "2"), "one"),
    ].map((message) => lists.split(message));
    expect(one?.versions).toEqual(new Map(Object.entries(versions(50))));
    expect(other?.versions).toBe(one?.versions);
    expect(newer?.versions).toEqual(new Map(Object.entries(versions(50, "2"))));
    expect(other?.rest).toEqual(encode({}, "other"));
  });

  it("keeps a copy: the bytes of a message belong to who reads it", () => {
    const lists = createVersionLists(() => 1);
    const message = encode(versions(50));
    const first = lists.split(message)?.versions;
    message.fill(0x7f);
    expect(lists.split(encode(versions(50)))?.versions).toBe(first);
  });

  it("counts a list that comes again once", () => {
    const lists = createVersionLists();
    const other = lists.split(encode(versions(50, "other")))?.versions;
    const big = encode(versions(50_000));
    for (let n = 0; n < 5; n++) lists.split(big);
    expect(lists.split(encode(versions(50, "other")))?.versions).toBe(other);
  });

  it("does not take a list for another of the same hash", () => {
    const lists = createVersionLists(() => 1);
    const first = encode(versions(50, "1"));
    const second = encode(versions(50, "3"));
    expect(lists.split(first)?.versions.get("cluster-0")).toBe("1");
    expect(lists.split(second)?.versions.get("cluster-0")).toBe("3");
    expect(lists.split(first)?.versions.get("cluster-0")).toBe("1");
  });

  it("leaves short lists, and lists in several runs, to the decoder", () => {
    const lists = createVersionLists();
    const long = encode(versions(50));
    expect(lists.split(encode(versions(3)))).toBeUndefined();
    expect(lists.split(encode({}))).toBeUndefined();
    expect(lists.split(Buffer.concat([long, long]))).toBeUndefined();
    expect(lists.split(long.subarray(0, -1))).toBeUndefined();
  });

  it("keeps 4 MiB of them, the newest", () => {
    const lists = createVersionLists();
    const big = (text: string): Uint8Array => encode(versions(50_000, text));
    const first = lists.split(big("1"))?.versions;
    expect(lists.split(big("1"))?.versions).toBe(first);
    for (const text of ["2", "3", "4", "5", "6"]) lists.split(big(text));
    expect(lists.split(big("1"))?.versions).not.toBe(first);
    expect(lists.split(big("6"))?.versions).toBe(lists.split(big("6"))?.versions);
  });
});

describe("createRequestDecoder()", () => {
  it("decodes as decodeRequest() does, long lists too", () => {
    const decode = createRequestDecoder();
    for (const count of [0, 3, 50])
      expect(decode(encode(versions(count)))).toEqual(decodeRequest(encode(versions(count))));
    expect(
      decode(Buffer.concat([encode(versions(50)), encode(versions(50, "2"))])).initialVersions.get(
        "cluster-7",
      ),
    ).toBe("2");
  });

  it("throws on a list that is none, like decodeRequest()", () => {
    const message = encode(versions(50));
    const at = Buffer.from(message).indexOf("cluster-7");
    message[at] = 0xff;
    expect(() => decodeRequest(message)).toThrow();
    expect(() => createRequestDecoder()(message)).toThrow();
  });
});
