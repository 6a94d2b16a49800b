import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { wireOf } from "./poll-wire.ts";
import { readHttpAnswer } from "./read-http-answer.ts";

const response = create(DiscoveryResponseSchema, { versionInfo: "v1", nonce: "1", typeUrl: "t" });

function answerWith(head: string, body: Uint8Array | string): Buffer {
  const bytes = Buffer.from(body);
  const first = `HTTP/1.1 200 OK\r\n${head}content-length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(first), bytes]);
}

describe("wireOf()", () => {
  it.each([
    ["native", "xds-version: v1\r\nxds-position: a.1\r\n", "", "GET /.*[?]after=v1&at=a.1&"],
    ["rest-json", "", toJsonString(DiscoveryResponseSchema, response), '"versionInfo":"v1"'],
    ["rest-protobuf", "", toBinary(DiscoveryResponseSchema, response), "\\n\u0002v1"],
  ] as const)("asks with the version that a client has (%s)", (protocol, head, body, text) => {
    const { request, stateOf } = wireOf({ protocol, ending: "change" });
    const answer = readHttpAnswer(answerWith(head, body));
    if (answer === undefined) throw new Error("the answer is not complete");
    expect(request(0, stateOf(answer)).toString("latin1")).toMatch(new RegExp(text));
    expect(request(0, "").toString("latin1")).not.toMatch(new RegExp(text));
  });

  it("asks a server to wait only where polls wait", () => {
    const textOf = (ending: "change" | "change-while-waiting"): string =>
      wireOf({ protocol: "rest-json", ending }).request(0, "").toString();
    expect(textOf("change")).not.toContain("prefer");
    expect(textOf("change-while-waiting")).toContain("\r\nprefer: wait=600\r\n");
  });
});
