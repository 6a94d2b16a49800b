import { create, toBinary } from "@bufbuild/protobuf";
import { ResourceSchema } from "@xdstp/protos/discovery";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import type { RawServer } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { flag, flagUrl, turn, useDeltaScript, useSotwScript } from "../test/use-script.ts";
import type { Client } from "./index.ts";

const redirectUrl = "type.googleapis.com/xds.core.v3.ResourceLocator";
const edge = "xdstp://a/acme.v1.Flag/edge";
const ofHost = (host: string): string => `${edge}?xds.resource.host=${host}`;

let nonce = 0;

function give(server: RawServer<"delta">, name: string, text: string): void {
  server.send({
    typeUrl: flagUrl,
    nonce: String(++nonce),
    resources: [{ name, version: text, resource: { typeUrl: flagUrl, value: Buffer.from(text) } }],
  });
}

function redirect(server: RawServer<"delta">, name: string, id: string): void {
  const value = toBinary(
    ResourceLocatorSchema,
    create(ResourceLocatorSchema, { id, authority: "a", resourceType: "acme.v1.Flag" }),
  );
  server.send({
    typeUrl: flagUrl,
    nonce: String(++nonce),
    resources: [{ name, version: "1", resource: { typeUrl: redirectUrl, value } }],
  });
}

/** A resource of SotW in its wrapper. */
function wrapped(host: string): { readonly typeUrl: string; readonly value: Uint8Array } {
  const resource = create(ResourceSchema, {
    name: ofHost(host),
    version: "1",
    resource: { typeUrl: flagUrl, value: Buffer.from(host) },
  });
  return {
    typeUrl: "type.googleapis.com/envoy.service.discovery.v3.Resource",
    value: toBinary(ResourceSchema, resource),
  };
}

function remove(server: RawServer<"delta">, ...removedResources: readonly string[]): void {
  server.send({
    typeUrl: flagUrl,
    nonce: String(++nonce),
    removedResources: [...removedResources],
  });
}

/** Returns the requests of this turn that add or remove names, one text each. */
async function asked(server: RawServer<"delta">): Promise<readonly string[]> {
  await turn();
  return server
    .rest()
    .flatMap(({ resourceNamesSubscribe: added, resourceNamesUnsubscribe: dropped }) =>
      added.length + dropped.length === 0
        ? []
        : [[...added, ...dropped.map((name) => `-${name}`)].join(" ")],
    );
}

/** Looks up a host, and adds the result to `released` when it arrives. */
function lookUp(client: Client, released: string[], host: string, timeoutMs?: number): void {
  void client
    .read(flag, edge, { attributes: { host }, ...(timeoutMs !== undefined && { timeoutMs }) })
    .then(
      ({ name, value }) => {
        released.push(`${name} = ${value}`);
      },
      (error: unknown) => {
        released.push(`${host}: ${String(error)}`);
      },
    );
}

describe("a look-up on demand", () => {
  it("is held until the answer to the name with its attribute has come, and asks no longer then [C-CTX-5] [N-63]", async () => {
    const { client, server } = useDeltaScript();
    const released: string[] = [];
    lookUp(client, released, "one.example");
    expect(await asked(server)).toEqual([ofHost("one.example")]);
    give(server, ofHost("other.example"), "not mine");
    await turn();
    expect(released).toEqual([]);
    give(server, ofHost("one.example"), "on");
    expect(await asked(server)).toEqual([`-${ofHost("one.example")}`]);
    expect(released).toEqual([`${ofHost("one.example")} = on`]);
  });

  it.each([
    ["vip", "96.54.3.1", "96.54.3.1"],
    ["listening_address", "10.1.1.3:8080", "10.1.1.3:8080"],
    ["host", "one.example:8443", "one.example:8443"],
    ["vip", "fd00::1", "fd00::1"],
  ])(
    "has the attribute %s = %s in its name, whatever the name has besides [C-CTX-5] [N-63]",
    async (key, value, printed) => {
      const { client, server } = useDeltaScript();
      const found = client.read(flag, `${edge}?zone=1`, { attributes: { [key]: value } });
      const name = `${edge}?xds.resource.${key}=${printed}&zone=1`;
      expect(await asked(server)).toEqual([name]);
      give(server, name, "on");
      expect(await found).toMatchObject({ name, value: "on" });
    },
  );

  it("is released by where its answer leads, and keeps its own name [C-CTX-5] [C-REDIR-1]", async () => {
    const { client, server } = useDeltaScript();
    const released: string[] = [];
    lookUp(client, released, "one.example");
    lookUp(client, released, "two.example");
    await asked(server);
    redirect(server, ofHost("one.example"), "canonical");
    redirect(server, ofHost("two.example"), "canonical");
    expect(await asked(server)).toEqual(["xdstp://a/acme.v1.Flag/canonical"]);
    expect(released).toEqual([]);
    give(server, "xdstp://a/acme.v1.Flag/canonical", "on");
    expect((await asked(server)).join(" ").split(" ").sort()).toEqual(
      [
        `-${ofHost("one.example")}`,
        `-${ofHost("two.example")}`,
        "-xdstp://a/acme.v1.Flag/canonical",
      ].sort(),
    );
    expect(released).toEqual([`${ofHost("one.example")} = on`, `${ofHost("two.example")} = on`]);
    expect(client.traces()).toEqual([]);
  });

  it("is released with NOT_FOUND where there is nothing, or nothing where it leads [C-CTX-5] [C-MISS-3]", async () => {
    const { client, server } = useDeltaScript();
    const released: string[] = [];
    lookUp(client, released, "one.example");
    lookUp(client, released, "two.example");
    await asked(server);
    remove(server, ofHost("one.example"));
    await turn();
    expect(released).toEqual([expect.stringContaining("one.example: XdsError: [NOT_FOUND]")]);
    redirect(server, ofHost("two.example"), "canonical");
    await turn();
    remove(server, "xdstp://a/acme.v1.Flag/canonical");
    await turn();
    expect(released.slice(1)).toEqual([
      expect.stringContaining("two.example: XdsError: [NOT_FOUND]"),
    ]);
  });

  it("is one of many that a turn brings: they are one request, and each is released by its own answer [C-CTX-5]", async () => {
    const { client, server } = useDeltaScript();
    const released: string[] = [];
    const hosts = ["one.example", "two.example", "three.example"];
    for (const host of [...hosts, "one.example"]) lookUp(client, released, host);
    expect(await asked(server)).toEqual([hosts.map(ofHost).join(" ")]);
    give(server, ofHost("three.example"), "on");
    remove(server, ofHost("two.example"));
    await turn();
    expect(released).toEqual([
      `${ofHost("three.example")} = on`,
      expect.stringContaining("two.example: XdsError: [NOT_FOUND]"),
    ]);
    give(server, ofHost("one.example"), "on");
    await turn();
    expect(released.slice(2)).toEqual([
      `${ofHost("one.example")} = on`,
      `${ofHost("one.example")} = on`,
    ]);
  });

  it("is, with others, one list of names over SotW [C-CTX-5]", async () => {
    const { client, server } = useSotwScript();
    const found = ["one.example", "two.example"].map((host) =>
      client.read(flag, edge, { attributes: { host } }),
    );
    await turn();
    expect(server.rest().map(({ resourceNames }) => resourceNames)).toEqual([
      ["one.example", "two.example"].map(ofHost),
    ]);
    server.send({
      typeUrl: flagUrl,
      nonce: String(++nonce),
      versionInfo: "1",
      resources: ["one.example", "two.example"].map(wrapped),
    });
    expect((await Promise.all(found)).map(({ value }) => value)).toEqual([
      "one.example",
      "two.example",
    ]);
  });

  it("asks nobody where the same name is watched and held [C-CTX-5]", async () => {
    const { client, server } = useDeltaScript();
    const watch = client.watch(flag, edge, { attributes: { host: "one.example" } });
    await asked(server);
    give(server, ofHost("one.example"), "on");
    await turn();
    expect(await client.read(flag, edge, { attributes: { host: "one.example" } })).toMatchObject({
      value: "on",
    });
    expect(await asked(server)).toEqual([]);
    watch.close();
    expect(await asked(server)).toEqual([`-${ofHost("one.example")}`]);
  });

  it("waits no longer than its deadline, and asks no longer then; another for the same name is not released by it [C-CTX-5]", async () => {
    const { client, server, clock } = useDeltaScript();
    const released: string[] = [];
    lookUp(client, released, "one.example", 500);
    lookUp(client, released, "one.example", 10_000);
    lookUp(client, released, "two.example", 500);
    await asked(server);
    clock.advance(499);
    await turn();
    expect(released).toEqual([]);
    clock.advance(1);
    expect(await asked(server)).toEqual([`-${ofHost("two.example")}`]);
    expect(released.sort()).toEqual(
      ["one.example", "two.example"].map(
        (host) => expect.stringContaining(`${host}: XdsError: [DEADLINE_EXCEEDED]`) as string,
      ),
    );
    give(server, ofHost("one.example"), "on");
    await turn();
    expect(released.slice(2)).toEqual([`${ofHost("one.example")} = on`]);
  });

  it("is released with NOT_FOUND where a server says nothing for so long that there is nothing [C-CTX-5] [C-MISS-4]", async () => {
    const { client, server, clock } = useDeltaScript();
    const released: string[] = [];
    lookUp(client, released, "one.example");
    await asked(server);
    clock.advance(14_999);
    await turn();
    expect(released).toEqual([]);
    clock.advance(1);
    await turn();
    expect(released).toEqual([expect.stringContaining("one.example: XdsError: [NOT_FOUND]")]);
  });

  it("waits on where it is not found out yet who answers for its authority: that is looked for again [C-CTX-5, C-AUTH-5]", async () => {
    let fails = true;
    const { client, clock } = useDeltaScript({
      bootstrapMore: { authorities: { b: {} } },
      resolveAuthority: () => {
        if (fails) throw new Error("no directory");
        return undefined;
      },
    });
    const released: string[] = [];
    lookUp(client, released, "one.example");
    await turn();
    expect(released).toEqual([]);
    fails = false;
    clock.advance(2_000);
    await turn();
    expect(released).toEqual([
      expect.stringContaining(
        'one.example: XdsError: [INVALID_ARGUMENT] no server is configured for the authority "a"',
      ),
    ]);
  });

  it("is given up with its signal [C-CTX-5]", async () => {
    const { client, server } = useDeltaScript();
    const abort = new AbortController();
    const found = client.read(flag, edge, {
      attributes: { host: "one.example" },
      signal: abort.signal,
    });
    await asked(server);
    abort.abort(new Error("the caller has gone"));
    await expect(found).rejects.toThrow("the caller has gone");
    expect(await asked(server)).toEqual([`-${ofHost("one.example")}`]);
  });
});
