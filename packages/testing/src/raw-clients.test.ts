import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { createRawDeltaClient, createRawSotwClient } from "./raw-clients.ts";

/**
 * Creates a wire that keeps the sent messages and returns the messages that the test puts into it.
 */
function useWire(): {
  readonly sent: Uint8Array[];
  readonly incoming: Uint8Array[];
  readonly wire: { send(message: Uint8Array): void; take(): Uint8Array | undefined };
} {
  const sent: Uint8Array[] = [];
  const incoming: Uint8Array[] = [];
  return {
    sent,
    incoming,
    wire: {
      send: (message) => {
        sent.push(message);
      },
      take: () => incoming.shift(),
    },
  };
}

describe("createRawDeltaClient()", () => {
  const response = create(DeltaDiscoveryResponseSchema, {
    typeUrl: "t",
    nonce: "7",
    systemVersionInfo: "v",
  });
  const requestOf = (
    init: Parameters<typeof create<typeof DeltaDiscoveryRequestSchema>>[1],
  ): Uint8Array => toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, init));

  it("sends a request as it is written", () => {
    const { sent, wire } = useWire();
    createRawDeltaClient(wire).send({
      typeUrl: "t",
      resourceNamesSubscribe: ["a"],
      initialResourceVersions: { a: "1" },
    });
    expect(sent).toEqual([
      requestOf({
        typeUrl: "t",
        resourceNamesSubscribe: ["a"],
        initialResourceVersions: { a: "1" },
      }),
    ]);
  });

  it("adds its node to the first request only, and leaves one that is there", () => {
    const { sent, wire } = useWire();
    const client = createRawDeltaClient(wire, { node: { id: "n" } });
    client.send({ typeUrl: "t" });
    client.send({ typeUrl: "t" });
    createRawDeltaClient(wire, { node: { id: "n" } }).send({ typeUrl: "t", node: { id: "own" } });
    expect(sent.map((bytes) => fromBinary(DeltaDiscoveryRequestSchema, bytes).node?.id)).toEqual([
      "n",
      undefined,
      "own",
    ]);
  });

  it("accepts and rejects by the nonce, and only when told to", () => {
    const { sent, incoming, wire } = useWire();
    const client = createRawDeltaClient(wire);
    incoming.push(toBinary(DeltaDiscoveryResponseSchema, response));
    expect(client.next()).toEqual(response);
    expect(sent).toEqual([]);
    client.ack(response, { resourceNamesUnsubscribe: ["a"] });
    client.nack(response, "bad");
    client.nack(response, "bad", { responseNonce: "6" });
    expect(sent).toEqual([
      requestOf({ typeUrl: "t", responseNonce: "7", resourceNamesUnsubscribe: ["a"] }),
      requestOf({ typeUrl: "t", responseNonce: "7", errorDetail: { code: 3, message: "bad" } }),
      requestOf({ typeUrl: "t", responseNonce: "6", errorDetail: { code: 3, message: "bad" } }),
    ]);
  });

  it("reads responses in order, and says when one is missing", () => {
    const { incoming, wire } = useWire();
    const client = createRawDeltaClient(wire);
    incoming.push(
      ...["1", "2", "3"].map((nonce) =>
        toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, { nonce })),
      ),
    );
    expect(client.next().nonce).toBe("1");
    expect(client.rest().map(({ nonce }) => nonce)).toEqual(["2", "3"]);
    expect(client.rest()).toEqual([]);
    expect(() => client.next()).toThrow("a message was expected, and none has come");
  });
});

describe("createRawSotwClient()", () => {
  const responseOf = (
    nonce: string,
    versionInfo: string,
    typeUrl = "t",
  ): ReturnType<typeof create<typeof DiscoveryResponseSchema>> =>
    create(DiscoveryResponseSchema, { typeUrl, nonce, versionInfo });
  const read = (sent: readonly Uint8Array[]): unknown[] =>
    sent.map((bytes) => {
      const { typeUrl, responseNonce, versionInfo, resourceNames, errorDetail } = fromBinary(
        DiscoveryRequestSchema,
        bytes,
      );
      return [typeUrl, responseNonce, versionInfo, resourceNames.join(), errorDetail?.message];
    });

  it("sends a request as it is written, its node with the first only", () => {
    const { sent, wire } = useWire();
    const client = createRawSotwClient(wire, { node: { id: "n" } });
    client.send({ typeUrl: "t", resourceNames: ["a", "b"] });
    client.send({ typeUrl: "t", versionInfo: "9" });
    expect(read(sent)).toEqual([
      ["t", "", "", "a,b", undefined],
      ["t", "", "9", "", undefined],
    ]);
    expect(sent.map((bytes) => fromBinary(DiscoveryRequestSchema, bytes).node?.id)).toEqual([
      "n",
      undefined,
    ]);
  });

  it("repeats the names of the type in its answers, and rejects with the version accepted last", () => {
    const { sent, wire } = useWire();
    const client = createRawSotwClient(wire);
    client.send({ typeUrl: "t", resourceNames: ["a"] });
    client.send({ typeUrl: "u", resourceNames: ["x"] });
    client.nack(responseOf("1", "v1"), "bad");
    client.ack(responseOf("2", "v2"));
    client.nack(responseOf("3", "v3"), "worse");
    client.ack(responseOf("4", "v4"), { resourceNames: ["a", "b"] });
    client.ack(responseOf("5", "v5"));
    client.ack(responseOf("6", "w1", "u"));
    client.ack(responseOf("7", "z1", "never asked for"));
    expect(read(sent).slice(2)).toEqual([
      ["t", "1", "", "a", "bad"],
      ["t", "2", "v2", "a", undefined],
      ["t", "3", "v2", "a", "worse"],
      ["t", "4", "v4", "a,b", undefined],
      ["t", "5", "v5", "a,b", undefined],
      ["u", "6", "w1", "x", undefined],
      ["never asked for", "7", "z1", "", undefined],
    ]);
  });

  it("reads what has come", () => {
    const { incoming, wire } = useWire();
    incoming.push(toBinary(DiscoveryResponseSchema, responseOf("1", "v")));
    expect(createRawSotwClient(wire).next()).toEqual(responseOf("1", "v"));
  });
});
