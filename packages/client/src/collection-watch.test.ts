import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";

import { flag, flagUrl, turn, useDeltaScript } from "../test/use-script.ts";
import type { CollectionWatch } from "./index.ts";

const glob = "xdstp://a/acme.v1.Flag/ns/*";
const inNs = (name: string): string => `xdstp://a/acme.v1.Flag/ns/${name}`;
const resource = (name: string, text: string) => ({
  name: inNs(name),
  version: text,
  resource: { typeUrl: flagUrl, value: Buffer.from(text) },
});

/** Collects the updates of a watch: `+` added, `~` updated, `-` removed, `.` complete. */
function listen(watch: CollectionWatch<string>): string[] {
  const said: string[] = [];
  const short = (name: string): string => name.slice(name.lastIndexOf("/") + 1);
  void (async () => {
    for await (const { added, updated, removed, complete, error } of watch) {
      said.push(
        [
          ...added.map(({ name, value }) => `+${short(name)}=${value}`),
          ...updated.map(({ name, value }) => `~${short(name)}=${value}`),
          ...removed.map((name) => `-${short(name)}`),
          ...(complete ? ["."] : []),
          ...(error === undefined ? [] : [`!${error.code}`]),
        ].join(" "),
      );
    }
  })();
  return said;
}

describe("client.watchAll()", () => {
  it("gives members as they come, and counts as complete after 200 ms without one [C-GLOB-9]", async () => {
    const { client, server, clock } = useDeltaScript();
    const said = listen(client.watchAll(flag, glob));
    await turn();
    server.send({ typeUrl: flagUrl, nonce: "1", resources: [resource("x", "1")] });
    await turn();
    clock.advance(150);
    server.send({ typeUrl: flagUrl, nonce: "2", resources: [resource("y", "1")] });
    await turn();
    clock.advance(150);
    await turn();
    expect(said).toEqual(["+x=1", "+y=1"]);
    clock.advance(50);
    await turn();
    expect(said.at(-1)).toBe(".");
  });

  it("does not count as complete while the wire says that more is on its way [C-GLOB-9]", async () => {
    const probes: ((isIdle: boolean) => void)[] = [];
    const { client, server, clock } = useDeltaScript({
      probe: (onAnswer) => probes.push(onAnswer),
    });
    const said = listen(client.watchAll(flag, glob));
    await turn();
    server.send({ typeUrl: flagUrl, nonce: "1", resources: [resource("x", "1")] });
    await turn();
    clock.advance(200);
    await turn();
    expect([said, probes.length]).toEqual([["+x=1"], 1]);
    probes[0]?.(false);
    clock.advance(199);
    server.send({ typeUrl: flagUrl, nonce: "2", resources: [resource("y", "1")] });
    await turn();
    clock.advance(200);
    await turn();
    expect([said, probes.length]).toEqual([["+x=1", "+y=1"], 2]);
    probes[1]?.(true);
    await turn();
    expect(said.at(-1)).toBe(".");
  });

  it("is not given up after 15 s while a message is on its way [C-MISS-4]", async () => {
    const answers = [false, false, true];
    const { client, server, clock } = useDeltaScript({
      probe: (onAnswer) => {
        onAnswer(answers.shift() ?? true);
      },
    });
    const said = listen(client.watchAll(flag, glob));
    await turn();
    for (let n = 0; n < 2; n += 1) {
      clock.advance(15_000);
      await turn();
    }
    expect(said).toEqual([]);
    server.send({ typeUrl: flagUrl, nonce: "1", resources: [resource("x", "1")] });
    await turn();
    expect(said).toEqual(["+x=1"]);
    clock.advance(200);
    await turn();
    expect([said, answers]).toEqual([["+x=1", "."], []]);
  });

  it("is complete and empty when the glob itself is named as removed [C-GLOB-8]", async () => {
    const { client, server } = useDeltaScript();
    const said = listen(client.watchAll(flag, glob));
    await turn();
    server.send({ typeUrl: flagUrl, nonce: "1", removedResources: [glob] });
    await turn();
    server.send({
      typeUrl: flagUrl,
      nonce: "2",
      resources: [resource("x", "1"), resource("y", "1")],
    });
    await turn();
    server.send({ typeUrl: flagUrl, nonce: "3", removedResources: [glob] });
    await turn();
    expect(said).toEqual([".", "+x=1 +y=1 .", "-x -y ."]);
  });

  it("keeps its members while the server is away, and notices what went meanwhile [C-GLOB-7, C-RECON-8]", async () => {
    const { client, server, clock } = useDeltaScript();
    const watch = client.watchAll(flag, glob);
    const said = listen(watch);
    await turn();
    server.send({
      typeUrl: flagUrl,
      nonce: "1",
      resources: [resource("x", "1"), resource("y", "1")],
    });
    await turn();
    server.close();
    clock.advance(1_000);
    await turn();
    expect(server.rest().at(-1)?.initialResourceVersions).toEqual({
      [inNs("x")]: "1",
      [inNs("y")]: "1",
    });
    expect([...watch.members.keys()]).toEqual([inNs("x"), inNs("y")]);
    server.send({
      typeUrl: flagUrl,
      nonce: "1",
      resources: [resource("x", "2")],
      removedResources: [inNs("y")],
    });
    await turn();
    expect(said.at(-1)).toBe("~x=2 -y");
  });

  it("shows the version that the server gave, and a change although a version was used again for other content [B-VER-5]", async () => {
    const { client, server } = useDeltaScript();
    const watch = client.watchAll(flag, glob);
    const said = listen(watch);
    await turn();
    for (const text of ["1", "2", "2", "3"]) {
      server.send({
        typeUrl: flagUrl,
        nonce: text,
        resources: [{ ...resource("x", text), version: "v" }],
      });
      await turn();
    }
    expect([said, watch.members.get(inNs("x"))?.version]).toEqual([["+x=1", "~x=2", "~x=3"], "v"]);
    const { genericXdsConfigs } = await client.dump();
    expect(genericXdsConfigs).toMatchObject([{ name: inNs("x"), versionInfo: "v" }]);
  });

  it("rejects one bad member and takes the others; the watch says what is wrong until it is made good [C-ACK-5]", async () => {
    const { client, server } = useDeltaScript();
    const said = listen(client.watchAll(flag, glob));
    await turn();
    server.rest();
    server.send({
      typeUrl: flagUrl,
      nonce: "1",
      resources: [resource("x", "broken"), resource("y", "1")],
    });
    await turn();
    expect([said, server.next().errorDetail?.message]).toEqual([
      ["+y=1 !INVALID_ARGUMENT"],
      `"${inNs("x")}": flags are not broken`,
    ]);
    server.send({ typeUrl: flagUrl, nonce: "2", resources: [resource("x", "2")] });
    await turn();
    expect(said.at(-1)).toBe("+x=2");
  });

  it("decodes on demand what is read and nothing else, and still rejects what is not a message", async () => {
    const { client, server } = useDeltaScript();
    let decoded = 0;
    const counting = {
      typeUrl: flagUrl,
      decode: (payload: Uint8Array) => {
        decoded++;
        return payload.length;
      },
    };
    const watch = client.watchAll(counting, glob, { decode: "on-demand" });
    const changes = watch[Symbol.asyncIterator]();
    await turn();
    const redirect = {
      name: inNs("elsewhere"),
      version: "1",
      resource: { typeUrl: "type.googleapis.com/xds.core.v3.ResourceLocator" },
    };
    server.send({
      typeUrl: flagUrl,
      nonce: "1",
      resources: [
        ...Array.from({ length: 1_000 }, (_, index) => resource(String(index), "off")),
        redirect,
      ],
    });
    await changes.next();
    expect([watch.members.size, decoded]).toEqual([1_000, 0]);
    const read = [...watch.members.values()].slice(0, 10).map(({ value }) => value);
    expect([read.length, decoded, [...watch.members.values()][0]?.value, decoded]).toEqual([
      10, 10, 3, 10,
    ]);
    expect(server.rest().at(-1)?.errorDetail?.message).toContain(
      `"${inNs("elsewhere")}": the redirect leads nowhere`,
    );
  });

  it("rejects on demand what is not a message, where a schema says that it should be one", async () => {
    const { client, server } = useDeltaScript();
    const typeUrl = "type.googleapis.com/google.protobuf.Duration";
    const watch = client.watchAll(DurationSchema, "xdstp://a/google.protobuf.Duration/*", {
      decode: "on-demand",
    });
    const changes = watch[Symbol.asyncIterator]();
    await turn();
    const named = (name: string, bytes: readonly number[]) => ({
      name: `xdstp://a/google.protobuf.Duration/${name}`,
      version: "1",
      resource: { typeUrl, value: Buffer.from(bytes) },
    });
    server.send({ typeUrl, nonce: "1", resources: [named("good", [8, 7]), named("bad", [10])] });
    const { value } = await changes.next();
    expect(value?.added.map((member) => member.value.seconds)).toEqual([7n]);
    expect(server.rest().at(-1)?.errorDetail?.message).toBe(
      '"xdstp://a/google.protobuf.Duration/bad": its payload is not a message',
    );
  });

  it("leaves out members that were taken before it began and are not what it wants, and says so until they are", async () => {
    const { client, server } = useDeltaScript();
    client.watchAll(flag, glob);
    await turn();
    server.send({
      typeUrl: flagUrl,
      nonce: "1",
      resources: [resource("x", "1"), resource("y", "2")],
    });
    await turn();
    const late = listen(
      client.watchAll(flag, glob, { validate: (value) => (value === "1" ? "not one" : undefined) }),
    );
    await turn();
    server.send({ typeUrl: flagUrl, nonce: "2", resources: [resource("y", "3")] });
    await turn();
    server.send({ typeUrl: flagUrl, nonce: "3", resources: [resource("x", "4")] });
    await turn();
    expect(late).toEqual(["+y=2 !INVALID_ARGUMENT", "~y=3 !INVALID_ARGUMENT", "+x=4"]);
  });

  it("costs a change as little among many as among few", async () => {
    const visits = async (members: number): Promise<number> => {
      const { client, server } = useDeltaScript();
      let decoded = 0;
      const watch = client.watchAll({ typeUrl: flagUrl, decode: () => ++decoded }, glob);
      const changes = watch[Symbol.asyncIterator]();
      await turn();
      server.send({
        typeUrl: flagUrl,
        nonce: "1",
        resources: Array.from({ length: members }, (_, index) => resource(String(index), "1")),
      });
      await changes.next();
      decoded = 0;
      server.send({ typeUrl: flagUrl, nonce: "2", resources: [resource("0", "2")] });
      const { value } = await changes.next();
      return decoded + (value?.added.length ?? 0) + (value?.updated.length ?? 0);
    };
    expect([await visits(10), await visits(10_000)]).toEqual([2, 2]);
  });

  it("takes only globs and *", () => {
    const { client } = useDeltaScript();
    expect(() => client.watchAll(flag, "a")).toThrow("use watch()");
    expect(() => client.watchAll(flag, "xdstp://a/acme.v1.Flag/x")).toThrow("use watch()");
  });
});
