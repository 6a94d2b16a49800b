import { type ByteStreamHandler, StatusCode, type Interest, type ResourceSink } from "@xdstp/core";
import { createClientContext } from "@xdstp/protocol/client";
import { describe, expect, it, onTestFinished } from "vitest";

import { createDeltaClient, createDeltaNameClient } from "./delta-client.ts";

const typeUrl = "type.googleapis.com/acme.v1.Flag";

/** Runs a client whose stream a test plays, and notes the errors that its sink is given. */
function useClient(create: typeof createDeltaClient): {
  readonly errors: readonly string[];
  readonly handlers: readonly ByteStreamHandler[];
  readonly want: (interest: Interest) => void;
} {
  const errors: string[] = [];
  const handlers: ByteStreamHandler[] = [];
  const sink: ResourceSink = {
    commit: () => ({ revision: 1 }),
    held: () => [],
    unavailable: (_scope, error) => errors.push(error?.text ?? "none"),
  };
  const feed = create(
    createClientContext({
      connect: (handler) => {
        handlers.push(handler);
        return { opening: true, send: () => true, close: () => undefined };
      },
      node: new Uint8Array(),
    }),
  );
  const ended = new AbortController();
  void feed.run(sink, ended.signal);
  onTestFinished(() => {
    ended.abort();
  });
  return {
    errors,
    handlers,
    want: (interest) => {
      feed.want(typeUrl, [interest], []);
    },
  };
}

describe("createDeltaNameClient()", () => {
  it.each<Interest>([
    { name: "*" },
    { name: "xdstp://acme.example/acme.v1.Flag/*" },
    { name: "dark", parameters: new Map([["env", "prod"]]) },
  ])("reports that it does not request %j", (interest) => {
    const { errors, handlers, want } = useClient(createDeltaNameClient);
    want(interest);
    expect(errors).toEqual([
      `${JSON.stringify(interest.name)}: this client requests single names without parameters only`,
    ]);
    expect(handlers).toEqual([]);
  });

  it("opens a stream for a single name", () => {
    const { errors, handlers, want } = useClient(createDeltaNameClient);
    want({ name: "dark" });
    expect([errors, handlers.length]).toEqual([[], 1]);
  });
});

describe.each([
  ["createDeltaClient()", createDeltaClient, "redacts", 'password: "[redacted]"'],
  ["createDeltaNameClient()", createDeltaNameClient, "keeps", "password: hunter2"],
] as const)("%s", (_name, create, does, expected) => {
  it(`${does} secrets in the error texts of the server`, () => {
    const { errors, handlers, want } = useClient(create);
    want({ name: "dark" });
    handlers[0]?.onClosed({ code: StatusCode.UNKNOWN, message: "password: hunter2" });
    expect(errors).toEqual([expect.stringContaining(expected)]);
  });
});
