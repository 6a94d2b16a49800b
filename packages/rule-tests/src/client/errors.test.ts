import { StatusCode } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { FULL, PART } from "../harness/made-up-types.ts";
import { createClientWorld, turn } from "./harness/client-world.ts";

const ns = (id: string): string => `xdstp://a/test.Part/ns/${id}`;

describe.each(["delta", "sotw"] as const)("errors of resources (%s)", (variant) => {
  it.each([
    [StatusCode.UNAVAILABLE, "UNAVAILABLE", true],
    [StatusCode.INTERNAL, "INTERNAL", true],
    [StatusCode.UNKNOWN, "UNKNOWN", true],
    [StatusCode.RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED", true],
    [0, "UNKNOWN", true],
    [4711, "UNKNOWN", true],
    [StatusCode.NOT_FOUND, "NOT_FOUND", false],
    [StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED", false],
  ])(
    "code %i stops the timer and is remembered until the resource comes; %s, what is held stays: %s [C-ERR-4]",
    async (code, name, isTransient) => {
      const { ask, server, clock, want } = createClientWorld(variant);
      const [held, none] = await ask(PART, "held", "none");
      server.reply(PART, { resources: [{ name: "held", text: "1" }] });
      server.reply(PART, {
        errors: [
          ["held", code],
          ["none", code, "on fire"],
        ],
      });
      const now = isTransient
        ? [`held=1 ~${name}`, `pending ~${name}`]
        : [`held!${name}`, `none!${name}`];
      expect([held?.now, none?.now]).toEqual(now);
      clock.advance(60_000);
      expect([held?.now, none?.now]).toEqual(now);
      const error = isTransient ? want(PART, "none").error : none?.topic.members()[0]?.error;
      expect([error?.code, error?.text]).toEqual([name, "the server says: on fire"]);
      server.reply(PART, {
        resources: [
          { name: "held", text: "2" },
          { name: "none", text: "2" },
        ],
      });
      expect([held?.now, none?.now]).toEqual(["held=2", "none=2"]);
      expect(server.rest().filter((request) => request.error !== undefined)).toEqual([]);
    },
  );

  it("another error takes the place of the one before [C-ERR-4]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.reply(PART, { errors: [["a", StatusCode.UNAVAILABLE]] });
    server.reply(PART, { errors: [["a", StatusCode.INTERNAL]] });
    expect(a?.now).toBe("pending ~INTERNAL");
    const wakes = a?.wakes;
    server.reply(PART, { errors: [["a", StatusCode.INTERNAL]] });
    expect(a?.wakes).toBe(wakes);
  });

  it("an error of what nobody asked for is ignored [C-SUB-8]", async () => {
    const { ask, server, feed } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.reply(PART, { errors: [["b", StatusCode.NOT_FOUND]] });
    expect([a?.now, feed.status().counts.ignored]).toEqual(["pending", 1]);
  });

  it("a response without errors is as it always was [B-ERR-6]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    expect(a?.now).toBe("a=1");
  });

  it("as gRPC has it, what is held stays beside the error of the data where the server has no fail_on_data_errors [C-ERR-4]", async () => {
    const { ask, server } = createClientWorld(variant, { client: { keepRemoved: true } });
    const [held, none] = await ask(PART, "held", "none");
    server.reply(PART, { resources: [{ name: "held", text: "1" }] });
    server.reply(PART, {
      errors: [
        ["held", StatusCode.PERMISSION_DENIED],
        ["none", StatusCode.PERMISSION_DENIED],
      ],
      ...(variant === "delta" ? { removed: ["held", "none"] } : {}),
    });
    expect([held?.now, none?.now]).toEqual(["held=1 ~PERMISSION_DENIED", "none!PERMISSION_DENIED"]);
  });
});

describe("errors of resources in delta", () => {
  it("a removal with an error beside it has the error as its reason [C-ERR-4]", async () => {
    const { ask, server } = createClientWorld("delta");
    const [a] = await ask(PART, "a");
    server.reply(PART, { removed: ["a"], errors: [["a", StatusCode.PERMISSION_DENIED]] });
    expect(a?.now).toBe("a!PERMISSION_DENIED");
  });

  it("of a glob: one of the data empties it, another leaves it open, and it is not concluded to be empty [C-ERR-4] [C-GLOB-9]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    const [glob] = await ask(PART, ns("*"));
    server.reply(PART, { errors: [[ns("*"), StatusCode.UNAVAILABLE]] });
    clock.advance(60_000);
    expect(glob?.now).toBe("pending ~UNAVAILABLE");
    server.reply(PART, { resources: [{ name: ns("x"), text: "1" }] });
    expect(glob?.now).toBe(`${ns("x")}=1...`);
    clock.advance(200);
    expect(glob?.now).toBe(`${ns("x")}=1`);
    server.reply(PART, { errors: [[ns("x"), StatusCode.UNAVAILABLE]] });
    expect(glob?.now).toBe(`${ns("x")}=1 ~UNAVAILABLE`);
    server.reply(PART, { errors: [[ns("*"), StatusCode.PERMISSION_DENIED]] });
    expect(glob?.now).toBe(`${ns("*")}!PERMISSION_DENIED ~PERMISSION_DENIED`);
  });
});

describe("errors of resources in SotW", () => {
  it("of full state, a name with an error that will pass is not absent [C-ERR-4] [C-FULL-3]", async () => {
    const { ask, server } = createClientWorld("sotw");
    const [all, a, b] = await ask(FULL, "*", "a", "b");
    server.reply(FULL, {
      resources: [
        { name: "a", text: "1" },
        { name: "b", text: "1" },
      ],
    });
    server.reply(FULL, { resources: [], errors: [["a", StatusCode.UNAVAILABLE]] });
    expect([all?.now, a?.now, b?.now]).toEqual(["a=1", "a=1 ~UNAVAILABLE", "b!"]);
  });

  it("of full state, a glob with an error that will pass keeps its members [C-ERR-4] [C-FULL-3]", async () => {
    const { ask, server } = createClientWorld("sotw");
    const name = "xdstp://a/test.Full/ns/x";
    const [glob] = await ask(FULL, "xdstp://a/test.Full/ns/*");
    server.reply(FULL, { resources: [{ name, text: "1" }] });
    server.reply(FULL, { errors: [["xdstp://a/test.Full/ns/*", StatusCode.UNAVAILABLE]] });
    expect(glob?.now).toBe(`${name}=1 ~UNAVAILABLE`);
    server.reply(FULL, {});
    expect(glob?.now).toBe("xdstp://a/test.Full/ns/*!");
  });
});

describe.each(["delta", "sotw"] as const)("errors of the connection (%s)", (variant) => {
  it("a stream that ends before any response is told to all; one that ends after a response is not an error [C-GRPC-4]", async () => {
    const { ask, server, clock, events, feed } = createClientWorld(variant);
    const [a, x] = [...(await ask(PART, "a")), ...(await ask(FULL, "x"))];
    server.raw.close();
    expect([a?.now, x?.now, feed.status().counts.failures]).toEqual([
      "pending ~UNAVAILABLE",
      "pending ~UNAVAILABLE",
      1,
    ]);
    clock.advance(1_000);
    await turn();
    expect(a?.now).toBe("pending ~UNAVAILABLE");
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    expect([a?.now, x?.now]).toEqual(["a=1", "pending"]);
    server.raw.close();
    expect([a?.now, x?.now, feed.status().counts.failures]).toEqual(["a=1", "pending", 1]);
    expect(events.filter(({ kind }) => kind === "closed")).toMatchObject([
      { responded: false, retryMs: 1_000 },
      { responded: true, retryMs: 1_000 },
    ]);
  });

  it("an outage that is over ends, and errors of single names are told again [C-GRPC-4]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [a] = await ask(PART, "a", "b");
    server.reply(PART, { errors: [["a", StatusCode.INTERNAL]] });
    server.raw.close();
    clock.advance(1_000);
    await turn();
    server.raw.close();
    expect(a?.now).toBe("pending ~UNAVAILABLE");
    clock.advance(2_000);
    await turn();
    server.reply(PART, { resources: [{ name: "b" }] });
    expect(a?.now).toBe("pending ~INTERNAL");
  });

  it("the code of the control plane is never handed on: it is UNAVAILABLE, with the code in its text [C-GRPC-5]", async () => {
    const { ask, server, feed } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.raw.close({ code: StatusCode.PERMISSION_DENIED, message: "no entry" });
    expect(a?.topic.stale).toMatchObject({ code: "UNAVAILABLE" });
    expect(a?.topic.stale?.text).toContain("[PERMISSION_DENIED]: no entry");
    expect(feed.status().lastEnd?.code).toBe(StatusCode.PERMISSION_DENIED);
  });
});
