import type { Cache } from "@xdstp/cache";
import { expect } from "vitest";
import type { Answer } from "../harness/answer.ts";
import { createWorld, type World } from "../harness/create-world.ts";
import { FULL, OTHER_FULL, OTHER_PART, PART } from "../harness/made-up-types.ts";
import { payloadOf } from "../harness/payload.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants, isDelta, sotwVariants } from "../harness/variant.ts";

const wraps = { id: "n", clientFeatures: ["xds.config.supports-resource-in-sotw"] };

/** Returns the first response to a client that subscribes to everything of a type on a new stream. */
function everything(world: World, typeUrl: string): Answer {
  const client = world.connect().of(typeUrl);
  client.subscribe("*");
  world.run();
  return client.next();
}

/** A client that comes with what it holds; what it is sent. */
function reconnect(
  world: World,
  typeUrl: string,
  held: Answer,
): readonly { readonly resources: number; readonly texts: string }[] {
  const read = (payloads: readonly Uint8Array[]): { resources: number; texts: string } => ({
    resources: payloads.length,
    texts: payloads.map((value) => Buffer.from(value).toString()).join(),
  });
  if (isDelta(world.variant)) {
    const { client } = world.openDelta(typeUrl);
    client.send({
      typeUrl,
      resourceNamesSubscribe: ["*"],
      initialResourceVersions: Object.fromEntries(
        held.resources.map(({ name, version }) => [name, version]),
      ),
    });
    world.run();
    return client
      .rest()
      .map(({ resources }) =>
        read(resources.map(({ resource }) => resource?.value ?? new Uint8Array())),
      );
  }
  const { client } = world.openSotw(typeUrl);
  client.send({ typeUrl, resourceNames: ["*"], versionInfo: held.version });
  world.run();
  return client.rest().map(({ resources }) => read(resources.map(({ value }) => value)));
}

function fill({ cache }: { readonly cache: Cache }, order: readonly string[]): void {
  for (const typeUrl of [FULL, PART])
    for (const name of order) cache.put({ typeUrl, name, value: payloadOf(name, `of ${name}`) });
}

runCases("versions", [
  {
    rules: ["B-VER-1"],
    title: "are compared for equality only: 10, then 9, then b, then 10 again are four updates",
    run(world) {
      const client = world.connect({ node: wraps }).of(FULL);
      client.subscribe("a");
      const seen: string[] = [];
      for (const version of ["10", "9", "b", "10"]) {
        world.put(FULL, "a", version, { version });
        world.run();
        const answer = client.next();
        seen.push(...answer.resources.map(({ text }) => text));
        client.ack(answer);
      }
      expect(seen).toEqual(["10", "9", "b", "10"]);
    },
  },
  ...[
    [FULL, OTHER_FULL],
    [PART, OTHER_PART],
  ].map(([typeUrl = "", other = ""]) => ({
    rules: ["S-VER-2"],
    title: `change with what the client sees and with nothing else: ${typeUrl.slice(typeUrl.indexOf("/") + 1)}`,
    variants: sotwVariants,
    run(world: World): void {
      world.put(typeUrl, "a", "1");
      world.put(typeUrl, "unseen", "1");
      world.put(other, "b", "1");
      const peer = world.connect();
      peer.of(typeUrl).subscribe("a");
      peer.of(other).subscribe("b");
      world.run();
      const first = peer.of(typeUrl).next();
      const unmoved = peer.of(other).next();
      peer.of(typeUrl).ack(first);
      peer.of(other).ack(unmoved);

      world.put(typeUrl, "a", "2");
      world.run();
      const second = peer.of(typeUrl).next();
      expect(second.version).not.toBe(first.version);
      peer.of(typeUrl).ack(second);
      world.put(typeUrl, "unseen", "2");
      world.run();
      expect(peer.answers()).toEqual([]);

      const again = world.connect();
      again.of(typeUrl).subscribe("a");
      again.of(other).subscribe("b");
      world.run();
      expect(again.of(typeUrl).next().version).toBe(second.version);
      expect(again.of(other).next().version).toBe(unmoved.version);
    },
  })),
  {
    rules: ["S-VER-2"],
    title: "change with the removal of a resource that the client sees",
    variants: sotwVariants,
    run(world) {
      for (const name of ["a", "b"]) world.put(FULL, name);
      const client = world.connect().of(FULL);
      client.subscribe("*");
      world.run();
      const first = client.next();
      client.ack(first);
      world.remove(FULL, "b");
      world.run();
      const second = client.next();
      expect(second.names).toEqual(["a"]);
      expect(second.version).not.toBe(first.version);
    },
  },
  {
    rules: ["S-VER-3"],
    title: "are the resources' own in delta: the change of one leaves that of another",
    variants: deltaVariants,
    run(world) {
      for (const name of ["a", "b"]) world.put(PART, name, "1");
      const client = world.connect().of(PART);
      client.subscribe("a", "b");
      world.run();
      const [a, b] = client.next().resources;
      world.put(PART, "b", "2");
      const again = everything(world, PART);
      expect(again.resources.find(({ name }) => name === "a")?.version).toBe(a?.version);
      expect(again.resources.find(({ name }) => name === "b")?.version).not.toBe(b?.version);
      expect(new Set(again.resources.map(({ version }) => version)).size).toBe(2);
    },
  },
  {
    rules: ["S-VER-4"],
    title: "are equal on two servers with equal data, whatever the order in which it came",
    run(world) {
      const other = createWorld({ variant: world.variant });
      fill(world, ["a", "b", "c"]);
      fill(other, ["c", "a"]);
      other.put(FULL, "d");
      fill(other, ["b"]);
      other.remove(FULL, "d");
      for (const typeUrl of [FULL, PART]) {
        const [mine, others] = [everything(world, typeUrl), everything(other, typeUrl)];
        const versions = (answer: Answer): readonly string[] =>
          answer.resources.map(({ name, version, text }) => `${name} ${version} ${text}`).sort();
        expect(versions(mine)).toEqual(versions(others));
        if (!isDelta(world.variant)) expect(mine.version).toBe(others.version);
      }
    },
  },
  {
    rules: ["S-VER-4", "S-RECON-4", "S-RECON-7"],
    title: "bring nothing to a client that reconnects to another server with equal data",
    run(world) {
      const other = createWorld({ variant: world.variant });
      fill(world, ["a", "b", "c"]);
      fill(other, ["c", "b", "a"]);
      for (const typeUrl of [FULL, PART]) {
        const sent = reconnect(other, typeUrl, everything(world, typeUrl));
        expect(sent.map(({ resources }) => resources)).toEqual(isDelta(world.variant) ? [0] : []);
      }
    },
  },
  {
    rules: ["S-VER-4"],
    title: "of an upstream are passed on as they are, in delta and where SotW is wrapped",
    run(world) {
      world.cache.put({
        typeUrl: PART,
        name: "xdstp://a/test.Part/x",
        value: payloadOf("xdstp://a/test.Part/x"),
        version: "upstream 7",
      });
      const client = world.connect({ node: wraps }).of(PART);
      client.subscribe(
        isDelta(world.variant) ? "xdstp://a/test.Part/x" : "xdstp://a/test.Part/%78",
      );
      world.run();
      expect(client.next().resources.map(({ version }) => version)).toEqual(["upstream 7"]);
    },
  },
  {
    rules: ["B-VER-5"],
    title:
      "that come again with other bytes are told apart: a client that held the first gets the second after a reconnect",
    run(world) {
      world.put(FULL, "a", "first", { version: "1" });
      const held = everything(world, FULL);
      world.put(FULL, "a", "second", { version: "1" });
      expect(world.cache.counters.reusedVersions).toBe(1);
      const [answer, ...more] = reconnect(world, FULL, held);
      expect(more).toEqual([]);
      expect(answer?.resources).toBe(1);
      expect(answer?.texts).toContain("second");
      if (isDelta(world.variant))
        expect(everything(world, FULL).resources[0]?.version).toMatch(/^1~.+/);
    },
  },
  {
    rules: ["B-VER-5"],
    title: "that come again after a removal, with other bytes, are told apart too",
    run(world) {
      world.put(FULL, "a", "first", { version: "1" });
      const held = everything(world, FULL);
      world.remove(FULL, "a");
      world.put(FULL, "a", "second", { version: "1" });
      const [answer] = reconnect(world, FULL, held);
      expect(answer?.texts).toContain("second");
    },
  },
  {
    rules: ["S-VER-7"],
    title:
      "are never empty: not of an empty state, of resources, of a removal, of a type that is not served",
    run(world) {
      const peer = world.connect();
      const unknown = "type.googleapis.com/test.Unknown";
      peer.of(FULL).subscribe();
      peer.of(PART).subscribe();
      peer.of(unknown).subscribe("x");
      world.run();
      const answers = [...peer.answers()];
      expect(answers).toHaveLength(3);
      const later = world.connect().of(FULL);
      later.subscribe();
      const steps = [
        (): void => {
          world.put(FULL, "a");
        },
        (): void => {
          world.put(FULL, "b");
        },
        (): void => {
          world.remove(FULL, "a");
        },
        (): void => {
          world.remove(FULL, "b");
        },
      ];
      for (const step of steps) {
        step();
        world.run();
        const answer = later.next();
        answers.push(answer);
        later.ack(answer);
      }
      expect(answers).toHaveLength(7);
      for (const { version, resources } of answers) {
        expect(version).not.toBe("");
        if (isDelta(world.variant))
          for (const resource of resources) expect(resource.version).not.toBe("");
      }
    },
  },
]);
