import { StatusCode, XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { askFailure, streamFailure } from "./cli-error.ts";

describe("streamFailure()", () => {
  it.each([
    [
      {
        code: StatusCode.UNAVAILABLE,
        message:
          "cannot connect to a:1: nothing listens there (ECONNREFUSED); check the port, and that the server runs",
      },
      "cannot connect to a:1: nothing listens there (ECONNREFUSED); check the port, and that the server runs",
    ],
    [
      {
        code: StatusCode.UNAVAILABLE,
        message:
          "cannot connect to a:1: no HTTP/2 came of it (ECONNRESET); does it speak gRPC, and want TLS?",
      },
      "cannot connect to a:1: no HTTP/2 came of it (ECONNRESET); does it speak gRPC, and want TLS? See --tls",
    ],
    [
      {
        code: StatusCode.UNAVAILABLE,
        message: "ca_certificate_file x: the file does not exist; give a PEM file",
      },
      "ca_certificate_file x: the file does not exist; give a PEM file",
    ],
    [
      {
        code: StatusCode.UNAVAILABLE,
        message:
          "lost the connection to a:1: the server wants a client certificate that it trusts (INADEQUATE_SECURITY); give one as tls.cert and tls.key",
      },
      "lost the connection to a:1: the server wants a client certificate that it trusts (INADEQUATE_SECURITY); give one with --tls-cert and --tls-key",
    ],
    [
      { code: StatusCode.PERMISSION_DENIED, message: "not you" },
      "a:1 has ended the stream: not you [PERMISSION_DENIED]",
    ],
    [{ code: StatusCode.OK, message: "" }, "a:1 has ended the stream: OK"],
    [{ code: 99, message: "" }, "a:1 has ended the stream: code 99"],
    [
      { code: StatusCode.UNIMPLEMENTED, message: "" },
      "a:1 does not serve the delta variant (UNIMPLEMENTED); try --sotw",
    ],
  ])("says why a stream has ended, and the way out: %j", (status, said) => {
    expect(streamFailure("a:1", status, { variant: "delta" })).toBe(said);
  });
});

describe("askFailure()", () => {
  it("says why the servers cannot be had, where that is it", () => {
    expect(
      askFailure(new XdsError("UNAVAILABLE", "away"), ["a:1 is away", "b:1 too"]).message,
    ).toBe("a:1 is away; b:1 too");
  });

  it("leaves out who the client is, which people know", () => {
    expect(askFailure(new XdsError("NOT_FOUND", 'none (node "a\\"b")'), []).message).toBe("none");
  });

  it("hands on what is not an error of a client: it is a fault", () => {
    expect(() => askFailure(new RangeError("bug"), [])).toThrow(RangeError);
  });
});
