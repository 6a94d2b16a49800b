import { envoyTypes, virtualHost } from "@xdstp/resource-types";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { adsVariants, deltaVariants as variants, isDelta } from "../harness/variant.ts";

const removalsWait = {
  types: [
    { typeUrl: FULL, refersTo: [PART] },
    { typeUrl: PART, follows: [{ typeUrl: FULL, when: "accepted" as const }] },
  ],
};

runCases("aliases", [
  {
    rules: ["S-ALIAS-1", "S-ALIAS-2"],
    title:
      "answers an alias with the resource under its own name, and with its aliases, and says under both that it is gone",
    variants,
    run(world) {
      world.put(PART, "real", "1", { aliases: ["other", "alias"] });
      const client = world.connect().of(PART);
      expect(begin(world, client, "alias")).toMatchObject([
        { resources: [{ name: "real", text: "1", aliases: ["other", "alias"] }], removed: [] },
      ]);
      world.put(PART, "real", "2", { aliases: ["other", "alias"] });
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ name: "real", text: "2", aliases: ["other", "alias"] }] },
      ]);
      world.remove(PART, "real");
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: ["real", "alias"] }]);
      world.put(PART, "real", "3", { aliases: ["alias"] });
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ name: "real", text: "3" }] },
      ]);
    },
  },
  {
    rules: ["S-ALIAS-1", "S-DUP-1"],
    title: "sends a resource once that is asked for by name and by aliases",
    variants,
    run(world) {
      world.put(PART, "real", "1", { aliases: ["one", "two"] });
      const client = world.connect().of(PART);
      expect(begin(world, client, "one", "real", "two")).toMatchObject([
        { names: ["real"], removed: [] },
      ]);
      world.put(PART, "real", "2", { aliases: ["one", "two"] });
      expect(acceptAll(world, client)).toMatchObject([{ names: ["real"], removed: [] }]);
      world.remove(PART, "real");
      const [gone, ...more] = acceptAll(world, client);
      expect(gone?.removed.filter((name) => name === "real")).toEqual(["real"]);
      expect(more).toEqual([]);
    },
  },
  {
    rules: ["S-ALIAS-2"],
    title: "reports a missing alias under the alias, and sends the resource when it comes",
    variants,
    run(world) {
      const client = world.connect().of(PART);
      expect(begin(world, client, "alias")).toMatchObject([{ names: [], removed: ["alias"] }]);
      world.put(PART, "real", "1", { aliases: ["alias"] });
      expect(acceptAll(world, client)).toMatchObject([{ names: ["real"], removed: [] }]);
    },
  },
  {
    rules: ["S-ALIAS-2"],
    title: "sends no more after an unsubscribe by the alias",
    variants,
    run(world) {
      world.put(PART, "real", "1", { aliases: ["alias"] });
      const client = world.connect().of(PART);
      begin(world, client, "alias");
      client.unsubscribe("alias");
      world.run();
      world.put(PART, "real", "2", { aliases: ["alias"] });
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
  {
    rules: ["S-ALIAS-2"],
    title: "sends no more after an unsubscribe by the name, of what was asked for by alias",
    variants,
    run(world) {
      world.put(PART, "real", "1", { aliases: ["alias", "second"] });
      const client = world.connect().of(PART);
      begin(world, client, "alias");
      client.unsubscribe("real");
      world.run();
      world.put(PART, "real", "2", { aliases: ["alias"] });
      expect(acceptAll(world, client)).toEqual([]);
      expect(world.status()[0]?.types[0]?.subscriptions).toBe(0);
    },
  },
  {
    rules: ["S-ALIAS-2"],
    title: "sends no more after an unsubscribe by an alias, of what was asked for by name",
    variants,
    run(world) {
      world.put(PART, "real", "1", { aliases: ["alias"] });
      const client = world.connect().of(PART);
      begin(world, client, "real");
      client.unsubscribe("alias");
      world.run();
      world.put(PART, "real", "2", { aliases: ["alias"] });
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
  {
    rules: ["S-ALIAS-2", "S-DSUB-5"],
    title: "goes on sending by the name after an unsubscribe by the alias, if both were asked for",
    variants,
    run(world) {
      world.put(PART, "real", "1", { aliases: ["alias"] });
      const client = world.connect().of(PART);
      begin(world, client, "alias", "real");
      client.unsubscribe("alias");
      acceptAll(world, client);
      world.put(PART, "real", "2", { aliases: ["alias"] });
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ name: "real", text: "2" }] },
      ]);
    },
  },
  {
    rules: ["S-ALIAS-1", "S-ORD-3"],
    title: "holds the removal of a resource that is known by alias back, and then says it",
    variants: adsVariants.filter(isDelta),
    world: removalsWait,
    run(world) {
      world.put(FULL, "real", "1", { aliases: ["alias"] });
      world.put(PART, "r", "real");
      const peer = world.connect();
      const [parts, referrers] = [peer.of(FULL), peer.of(PART)];
      begin(world, parts, "alias");
      begin(world, referrers, "r");
      world.cache.transaction((writer) => {
        writer.remove(FULL, "real");
        writer.put({ typeUrl: PART, name: "r", value: new Uint8Array() });
      });
      world.run();
      expect(parts.rest()).toEqual([]);
      for (const answer of referrers.rest()) referrers.ack(answer);
      expect(acceptAll(world, parts)).toMatchObject([{ removed: ["real", "alias"] }]);
    },
  },
  {
    rules: ["S-ALIAS-1", "S-ACK-8"],
    title: "sends what was rejected again when it is mended, to one who knows it by alias",
    variants,
    run(world) {
      world.put(PART, "real", "bad", { aliases: ["alias"] });
      const client = world.connect().of(PART);
      client.subscribe("alias");
      world.run();
      client.nack(client.next(), "bad");
      world.put(PART, "real", "good", { aliases: ["alias"] });
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ name: "real", text: "good" }] },
      ]);
    },
  },
  {
    rules: ["S-ALIAS-1", "S-RECON-4"],
    title: "does not send again to one who asks by alias what he lists under the name",
    variants,
    run(world) {
      world.put(PART, "real", "1", { aliases: ["alias"], version: "v1" });
      const { client } = world.openDelta(PART);
      client.send({
        typeUrl: PART,
        resourceNamesSubscribe: ["alias"],
        initialResourceVersions: { real: "v1" },
      });
      world.run();
      expect(client.rest()).toMatchObject([{ resources: [], removedResources: [] }]);
    },
  },
  {
    rules: ["S-ALIAS-1", "S-TTL-2"],
    title: "keeps what is known by alias alive under its name",
    variants,
    run(world) {
      world.put(PART, "real", "1", { aliases: ["alias"], ttlMs: 900 });
      const client = world
        .connect({ node: { id: "n", clientFeatures: ["xds.config.supports-resource-ttl"] } })
        .of(PART);
      begin(world, client, "alias", "other");
      client.unsubscribe("other");
      world.run();
      world.clock.advance(300);
      world.run();
      expect(client.rest()).toMatchObject([
        { resources: [{ name: "real", hasBody: false, ttlMs: 900 }] },
      ]);
    },
  },
  {
    rules: ["B-ALIAS-4"],
    title: "ignores the aliases of an xdstp resource, and warns",
    variants,
    run(world) {
      const name = "xdstp://a/test.Part/real";
      const before = world.cache.counters.ignoredAliases;
      world.put(PART, name, "1", { aliases: ["alias", "xdstp://a/test.Part/alias"] });
      expect(world.cache.counters.ignoredAliases).toBe(before + 1);
      const client = world.connect().of(PART);
      const [answer] = begin(world, client, name, "alias", "xdstp://a/test.Part/alias");
      expect(answer).toMatchObject({ resources: [{ name, aliases: [] }] });
      expect([...(answer?.removed ?? [])].sort()).toEqual(["alias", "xdstp://a/test.Part/alias"]);
    },
  },
  {
    rules: ["S-ALIAS-5", "S-ALIAS-1"],
    title: "takes the name of a virtual host on demand for one opaque name, whatever its parts",
    variants,
    world: { types: envoyTypes },
    run(world) {
      world.put(virtualHost.typeUrl, "routes/one.example", "1", {
        aliases: ["routes/one.example:8080"],
      });
      world.put(virtualHost.typeUrl, "other/one.example");
      const client = world.connect().of(virtualHost.typeUrl);
      expect(begin(world, client, "routes/one.example:8080")).toMatchObject([
        { resources: [{ name: "routes/one.example", aliases: ["routes/one.example:8080"] }] },
      ]);
      client.subscribe("routes/two.example");
      expect(acceptAll(world, client)).toMatchObject([
        {
          resources: [
            { name: "routes/two.example", aliases: ["routes/two.example"], hasBody: false },
          ],
        },
      ]);
      world.put(virtualHost.typeUrl, "routes/two.example", "2");
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ name: "routes/two.example", text: "2" }] },
      ]);
    },
  },
  {
    rules: ["S-ALIAS-1", "S-WARM-1"],
    title: "sends endpoints again that are known by alias, when their cluster changes",
    variants: adsVariants.filter(isDelta),
    world: {
      types: [
        { typeUrl: FULL, warms: [{ typeUrl: PART, names: () => ["alias"] }] },
        { typeUrl: PART, follows: [{ typeUrl: FULL, when: "sent" }] },
      ],
    },
    run(world) {
      world.put(FULL, "c", "1");
      world.put(PART, "real", "1", { aliases: ["alias"] });
      const peer = world.connect();
      const [clusters, endpoints] = [peer.of(FULL), peer.of(PART)];
      begin(world, clusters, "c");
      begin(world, endpoints, "alias");
      world.put(FULL, "c", "2");
      acceptAll(world, clusters);
      expect(acceptAll(world, endpoints)).toMatchObject([{ names: ["real"] }]);
    },
  },
]);
