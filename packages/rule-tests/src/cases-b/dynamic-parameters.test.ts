import { encodeConstraints, StatusCode, type Constraints } from "@xdstp/core";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { World } from "../harness/create-world.ts";
import { addHeldFeed } from "../harness/held-feed.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { payloadOf, textIn } from "../harness/payload.ts";
import { runCases } from "../harness/rule-case.ts";
import type { TypeClient, Wanted } from "../harness/type-client.ts";
import { adsVariants, deltaVariants, isDelta, sotwVariants } from "../harness/variant.ts";

const prod: Constraints = { kind: "equals", key: "env", value: "prod" };
const test: Constraints = { kind: "equals", key: "env", value: "test" };
const absent: Constraints = { kind: "not", of: { kind: "exists", key: "env" } };
const v1: Constraints = { kind: "equals", key: "version", value: "v1" };
const GLOB = "xdstp://a/test.Full/ns/*";
const MEMBER = "xdstp://a/test.Full/ns/x";

function asked(name: string, dynamicParameters: Readonly<Record<string, string>>): Wanted {
  return { name, dynamicParameters };
}

function both(...of: readonly Constraints[]): Constraints {
  return { kind: "and", of };
}

function put(
  world: World,
  name: string,
  text: string,
  constraints?: Constraints,
  typeUrl = FULL,
): void {
  world.put(
    typeUrl,
    name,
    text,
    constraints === undefined ? {} : { constraints: encodeConstraints(constraints) },
  );
}

/** One revision: these variants go, those come. */
function replace(
  world: World,
  name: string,
  gone: readonly Constraints[],
  come: readonly (readonly [Constraints, string])[],
  typeUrl = FULL,
): void {
  world.cache.transaction((writer) => {
    for (const one of gone) writer.remove(typeUrl, name, { constraints: encodeConstraints(one) });
    for (const [one, text] of come)
      writer.put({
        typeUrl,
        name,
        value: payloadOf(name, text),
        constraints: encodeConstraints(one),
      });
  });
}

/** Answers in short: `name{variant}=text`, then removals after a minus. */
function short(answers: ReturnType<typeof acceptAll>): readonly string[] {
  return answers.map(({ resources, removed }) =>
    [
      ...resources.map(
        ({ name, variant, text }) =>
          `${name}${variant === undefined ? "" : `{${variant}}`}=${text}`,
      ),
      ...removed.map((name) => `-${name}`),
    ].join(" "),
  );
}

runCases("dynamic parameters", [
  {
    rules: ["S-DYN-2"],
    title:
      "sends a variant under its name with its constraints, to a client with and without parameters, and another resource under its name alone",
    run(world) {
      put(world, "n", "1", prod);
      put(world, "n", "2", absent);
      put(world, "plain", "3");
      const located = world.connect().of(FULL);
      expect(
        short(
          begin(
            world,
            located,
            asked("n", { env: "prod", zone: "z" }),
            asked("plain", { env: "prod" }),
          ),
        ),
      ).toEqual(["n{env=prod}=1 plain=3"]);
      const leaf = world
        .connect({ node: { id: "n", clientFeatures: ["xds.config.resource-in-sotw"] } })
        .of(FULL);
      expect(short(begin(world, leaf, "n", "plain"))).toEqual(["n{not(env exists)}=2 plain=3"]);
    },
  },
  ...[
    ["n", "n"],
    ["*", "n"],
    [GLOB, MEMBER],
  ].map(([interest = "", name = ""]) => ({
    rules: ["B-DYN-3", "S-DYN-2"],
    title: `gives each client of ${interest} the variant that its parameters match`,
    run(world: World) {
      put(world, name, "1", prod);
      put(world, name, "2", test);
      const clients = [{ env: "prod" }, { env: "test", version: "v1" }, { env: "qa" }].map(
        (parameters) => {
          const client = world.connect().of(FULL);
          return { client, first: short(begin(world, client, asked(interest, parameters))) };
        },
      );
      const nothing = isDelta(world.variant) ? (interest === "*" ? "" : `-${interest}`) : "";
      expect(clients.map(({ first }) => first)).toEqual([
        [`${name}{env=prod}=1`],
        [`${name}{env=test}=2`],
        [nothing],
      ]);
      put(world, name, "3", test);
      expect(clients.map(({ client }) => short(acceptAll(world, client)))).toEqual([
        [],
        [`${name}{env=test}=3`],
        [],
      ]);
    },
  })),
  ...["n", "*"].map((interest) => ({
    rules: ["S-DYN-5"],
    title: `replaces one variant by another in one response, to a client of ${interest}`,
    run(world: World) {
      put(world, "n", "1", prod);
      put(world, "n", "2", test);
      const client = world.connect().of(FULL);
      begin(world, client, asked(interest, { env: "prod", version: "v1" }));
      const other = world.connect().of(FULL);
      begin(world, other, asked(interest, { env: "test", version: "v2" }));
      replace(
        world,
        "n",
        [prod, test],
        [
          [both(prod, v1), "3"],
          [both(test, { kind: "not", of: v1 }), "4"],
        ],
      );
      const removal = (text: string): string => (isDelta(world.variant) ? ` -n{${text}}` : "");
      expect(short(acceptAll(world, client))).toEqual([
        `n{and(env=prod, version=v1)}=3${removal("env=prod")}`,
      ]);
      expect(short(acceptAll(world, other))).toEqual([
        `n{and(env=test, not(version=v1))}=4${removal("env=test")}`,
      ]);
    },
  })),
  {
    rules: ["S-DYN-5"],
    title:
      "names a removed variant in removed_resource_names, and to the others nothing has happened",
    variants: deltaVariants,
    run(world) {
      put(world, "n", "1", prod);
      put(world, "n", "2", test);
      const [client, other] = [world.connect().of(FULL), world.connect().of(FULL)];
      begin(world, client, asked("n", { env: "prod" }));
      begin(world, other, asked("n", { env: "test" }));
      world.cache.remove(FULL, "n", { constraints: encodeConstraints(prod) });
      expect([client, other].map((one) => short(acceptAll(world, one)))).toEqual([
        ["-n{env=prod}"],
        [],
      ]);
      const late = world.connect().of(FULL);
      expect(short(begin(world, late, asked("n", { env: "prod" })))).toEqual(["-n"]);
    },
  },
  {
    rules: ["S-DYN-5", "S-FULL-1"],
    title: "leaves a removed variant out of the next full state",
    variants: sotwVariants,
    run(world) {
      put(world, "n", "1", prod);
      put(world, "n", "2", test);
      const client = world.connect().of(FULL);
      begin(world, client, asked("*", { env: "prod" }));
      world.cache.remove(FULL, "n", { constraints: encodeConstraints(prod) });
      expect(short(acceptAll(world, client))).toEqual([""]);
    },
  },
  {
    rules: ["S-DYN-5"],
    title:
      "sends a variant in the place of a resource without constraints, and that again in its place",
    run(world) {
      put(world, "n", "1");
      const client = world.connect().of(FULL);
      expect(short(begin(world, client, asked("n", { env: "prod" })))).toEqual(["n=1"]);
      world.cache.transaction((writer) => {
        writer.remove(FULL, "n");
        writer.put({
          typeUrl: FULL,
          name: "n",
          value: payloadOf("n", "2"),
          constraints: encodeConstraints(prod),
        });
      });
      expect(short(acceptAll(world, client))).toEqual([
        `n{env=prod}=2${isDelta(world.variant) ? " -n" : ""}`,
      ]);
      world.cache.transaction((writer) => {
        writer.remove(FULL, "n", { constraints: encodeConstraints(prod) });
        writer.put({ typeUrl: FULL, name: "n", value: payloadOf("n", "3") });
      });
      expect(short(acceptAll(world, client))).toEqual([
        `n=3${isDelta(world.variant) ? " -n{env=prod}" : ""}`,
      ]);
    },
  },
  {
    rules: ["S-DYN-5", "S-ACK-8"],
    title: "says all of it again when a response with a replacement was rejected and corrected",
    run(world) {
      put(world, "n", "1", prod);
      const client = world.connect().of(FULL);
      begin(world, client, asked("n", { env: "prod" }));
      const next: Constraints = both(prod);
      replace(world, "n", [prod], [[next, "2"]]);
      world.run();
      client.nack(client.next(), "bad");
      world.run();
      expect(client.rest()).toEqual([]);
      put(world, "n", "3", next);
      expect(short(acceptAll(world, client))).toEqual([
        `n{and(env=prod)}=3${isDelta(world.variant) ? " -n{env=prod}" : ""}`,
      ]);
    },
  },
  {
    rules: ["S-DYN-5", "S-RECON-4"],
    title:
      "says to a client that comes back which variants have gone, and sends no variant again that it holds",
    variants: deltaVariants,
    run(world) {
      put(world, "n", "1", prod);
      put(world, "m", "1", prod);
      const first = world.openDelta(FULL);
      const locators = ["n", "m"].map((name) => ({ name, dynamicParameters: { env: "prod" } }));
      first.client.send({ typeUrl: FULL, resourceLocatorsSubscribe: locators });
      world.run();
      const held = Object.fromEntries(
        first.client
          .next()
          .resources.map(({ resourceName, version }) => [resourceName?.name ?? "", version]),
      );
      first.stream.cancel();
      replace(world, "n", [prod], [[both(prod), "2"]]);
      const { client } = world.openDelta(FULL);
      client.send({
        typeUrl: FULL,
        resourceLocatorsSubscribe: locators,
        initialResourceVersions: held,
      });
      world.run();
      const answer = client.next();
      expect([
        answer.resources.map(({ resourceName }) => resourceName?.name),
        answer.removedResourceNames.map(({ name }) => name),
        answer.removedResources,
      ]).toEqual([["n"], ["n"], []]);
    },
  },
  ...["n", "*"].flatMap((name) =>
    [{ env: "prod" }, undefined].map((dynamicParameters) => ({
      rules: ["S-DYN-5", "S-RECON-4"],
      title: `says to a client of ${name} with${dynamicParameters === undefined ? "out" : ""} parameters that comes back that a resource for everyone has replaced its variant`,
      variants: deltaVariants,
      run(world: World) {
        const variant = dynamicParameters === undefined ? absent : prod;
        put(world, "n", "1", variant);
        const subscription =
          dynamicParameters === undefined
            ? { resourceNamesSubscribe: [name] }
            : { resourceLocatorsSubscribe: [{ name, dynamicParameters }] };
        const first = world.openDelta(FULL);
        first.client.send({ typeUrl: FULL, ...subscription });
        world.run();
        const [held] = first.client.next().resources;
        first.stream.cancel();
        world.cache.transaction((writer) => {
          writer.remove(FULL, "n", { constraints: encodeConstraints(variant) });
          writer.put({ typeUrl: FULL, name: "n", value: payloadOf("n", "2") });
        });
        const { client } = world.openDelta(FULL);
        client.send({
          typeUrl: FULL,
          ...subscription,
          initialResourceVersions: { n: held?.version ?? "" },
        });
        world.run();
        const { resources, removedResourceNames, removedResources } = client.next();
        expect([
          resources.map((one) => one.name),
          removedResourceNames.map((one) => one.name),
          removedResources,
        ]).toEqual([["n"], ["n"], []]);
      },
    })),
  ),
  {
    rules: ["B-DYN-3", "S-DYN-2"],
    title:
      "answers a name with two sets of parameters, as a relay asks for it, with the variant of each, and one set can go",
    run(world) {
      put(world, "n", "1", prod);
      put(world, "n", "2", test);
      const client = world.connect().of(FULL);
      const [first, second, same] = [
        asked("n", { env: "prod" }),
        asked("n", { env: "test" }),
        asked("n", { env: "test", zone: "z" }),
      ] as const;
      expect(short(begin(world, client, first, second, same))).toEqual([
        "n{env=prod}=1 n{env=test}=2",
      ]);
      put(world, "n", "3", test);
      expect(short(acceptAll(world, client)).map((one) => one.includes("n{env=test}=3"))).toEqual([
        true,
      ]);
      client.unsubscribe(second, same);
      acceptAll(world, client);
      put(world, "n", "4", test);
      expect(short(acceptAll(world, client))).toEqual([]);
      put(world, "n", "5", prod);
      expect(short(acceptAll(world, client))).toEqual(["n{env=prod}=5"]);
    },
  },
  {
    rules: ["B-DYN-3"],
    title: "ends a subscription with parameters only by the same parameters",
    variants: deltaVariants,
    run(world) {
      put(world, "n", "1", prod);
      const client = world.connect().of(FULL);
      begin(world, client, asked("n", { env: "prod" }));
      client.unsubscribe("n", asked("n", { env: "test" }));
      put(world, "n", "2", prod);
      expect(short(acceptAll(world, client))).toEqual(["n{env=prod}=2"]);
      client.unsubscribe(asked("n", { env: "prod" }));
      put(world, "n", "3", prod);
      expect(short(acceptAll(world, client))).toEqual([]);
    },
  },
  {
    rules: ["B-DYN-3", "S-SUB-1"],
    title: "takes other parameters in a list for another subscription",
    variants: sotwVariants,
    run(world) {
      put(world, "n", "1", prod, PART);
      put(world, "n", "2", test, PART);
      const client = world.connect().of(PART);
      const [first, second] = [asked("n", { env: "prod" }), asked("n", { env: "test" })];
      expect(short(begin(world, client, first))).toEqual(["n{env=prod}=1"]);
      client.change({ add: [second], drop: [first] });
      expect(short(acceptAll(world, client))).toEqual(["n{env=test}=2"]);
      put(world, "n", "3", prod, PART);
      expect(short(acceptAll(world, client))).toEqual([]);
    },
  },
  {
    rules: ["S-DYN-8"],
    title: "takes none of several variants that match, tells why, and counts the name",
    world: { ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      const client = world.connect().of(PART);
      client.subscribe(asked("n", { env: "prod", version: "v1" }));
      const other = world.connect().of(PART);
      other.subscribe(asked("n", { env: "prod" }));
      feed.put(PART, "n", "1", { constraints: encodeConstraints(prod) });
      expect([client, other].map((one) => short(acceptAll(world, one)))).toEqual([
        ["n{env=prod}=1"],
        ["n{env=prod}=1"],
      ]);
      feed.put(PART, "n", "2", { constraints: encodeConstraints(v1) });
      const [answer] = acceptAll(world, client);
      expect(answer).toMatchObject({
        names: [],
        removed: [],
        errors: [{ name: "n", code: StatusCode.FAILED_PRECONDITION }],
      });
      expect(answer?.errors[0]?.message).toMatch(/several variants match.*env=prod; version=v1/);
      expect(world.cache.counters.overlappingVariants).toBe(1);
    },
  },
  {
    rules: ["S-DYN-4"],
    title: "rejects variants that overlap or constrain other keys, and clients keep what was held",
    run(world) {
      put(world, "n", "1", prod);
      const client = world.connect().of(FULL);
      begin(world, client, asked("n", { env: "prod", version: "v1" }));
      for (const bad of [v1, { kind: "exists", key: "env" } as const, undefined]) {
        expect(() => {
          put(world, "n", "2", bad);
        }).toThrow(/"n" of type\.googleapis\.com\/test\.Full: the variants .* and .*; let /);
      }
      expect(short(acceptAll(world, client))).toEqual([]);
      expect(short(begin(world, world.connect().of(FULL), asked("n", { env: "prod" })))).toEqual([
        "n{env=prod}=1",
      ]);
    },
  },
  {
    rules: ["S-LIM-4", "B-DYN-3"],
    title: "counts names with parameters like others, and their parameters too",
    variants: ["delta/ads", "sotw/ads"],
    world: { limits: { subscriptions: 2, nameLength: 40, parameters: 2 } },
    run(world) {
      const ended = (...wanted: readonly Wanted[]): number | undefined => {
        const peer = world.connect();
        peer.of(FULL).subscribe(...wanted);
        world.run();
        return peer.streamOf(FULL).stream.closed?.code;
      };
      const parameters = { a: "1", b: "2" };
      expect(ended(asked("n", parameters), asked("n", { a: "1" }))).toBeUndefined();
      const { RESOURCE_EXHAUSTED } = StatusCode;
      expect(ended("n", asked("n", { a: "1" }), asked("n", { a: "2" }))).toBe(RESOURCE_EXHAUSTED);
      expect(ended(asked("n", { ...parameters, c: "3" }))).toBe(RESOURCE_EXHAUSTED);
      expect(ended(asked("n".repeat(41), { a: "1" }))).toBe(RESOURCE_EXHAUSTED);
      expect(ended(asked("n", { a: "x".repeat(40) }))).toBe(RESOURCE_EXHAUSTED);
    },
  },
]);

const deltaAds = adsVariants.filter(isDelta);
const notTest: Constraints = { kind: "not", of: test };
/** Routes name their cluster in their text, and listeners refer to routes. */
const ordered = {
  types: [
    { typeUrl: "t/cluster", refersTo: ["t/route"] },
    {
      typeUrl: "t/route",
      refersTo: ["t/listener"],
      follows: [{ typeUrl: "t/cluster", when: "accepted" as const }],
      references: (payload: Uint8Array) => [{ typeUrl: "t/cluster", name: textIn(payload) }],
    },
    { typeUrl: "t/listener" },
  ],
};

/** Clients of clusters, routes and listeners, of which the routes are those of `env=prod`; they have accepted all that there is. */
function orderedClients(world: World): readonly [TypeClient, TypeClient, TypeClient] {
  world.put("t/cluster", "X");
  const peer = world.connect();
  const [clusters, routes, listeners] = [
    peer.of("t/cluster"),
    peer.of("t/route"),
    peer.of("t/listener"),
  ];
  begin(world, clusters, "*");
  begin(world, routes, asked("*", { env: "prod" }));
  begin(world, listeners, "*");
  return [clusters, routes, listeners];
}

runCases("variants in the order of sending", [
  {
    rules: ["S-DYN-5", "S-ORD-2"],
    title: "replaces a variant once the cluster of the new one is accepted, in one response",
    variants: deltaAds,
    world: ordered,
    run(world) {
      put(world, "r", "X", prod, "t/route");
      const [clusters, routes] = orderedClients(world);
      world.put("t/cluster", "Y");
      replace(world, "r", [prod], [[notTest, "Y"]], "t/route");
      expect(acceptAll(world, routes)).toEqual([]);
      acceptAll(world, clusters);
      expect(short(acceptAll(world, routes))).toEqual(["r{not(env=test)}=Y -r{env=prod}"]);
    },
  },
  {
    rules: ["S-DYN-5", "S-ORD-3"],
    title: "removes the variant that a client has where the one that was to replace it is removed",
    variants: deltaAds,
    world: ordered,
    run(world) {
      put(world, "r", "X", prod, "t/route");
      const [clusters, routes] = orderedClients(world);
      world.put("t/cluster", "Y");
      replace(world, "r", [prod], [[notTest, "Y"]], "t/route");
      expect(acceptAll(world, routes)).toEqual([]);
      replace(world, "r", [notTest], [], "t/route");
      expect(acceptAll(world, routes)[0]?.removed).toContain("r{env=prod}");
      acceptAll(world, clusters);
      expect(acceptAll(world, routes)).toEqual([]);
    },
  },
  {
    rules: ["S-DYN-5", "S-ORD-3"],
    title: "removes a resource for everyone whose removal has waited, with the variant that comes",
    variants: deltaAds,
    world: ordered,
    run(world) {
      world.put("t/route", "r", "X");
      const [, routes, listeners] = orderedClients(world);
      world.put("t/listener", "l");
      world.run();
      world.cache.transaction((writer) => {
        writer.remove("t/route", "r");
        writer.put({ typeUrl: "t/route", name: "s", value: payloadOf("s", "X") });
      });
      world.run();
      const answer = routes.next();
      put(world, "r", "X", prod, "t/route");
      acceptAll(world, listeners);
      routes.ack(answer);
      expect(short(acceptAll(world, routes))).toEqual(["r{env=prod}=X -r"]);
    },
  },
  {
    rules: ["S-DYN-5", "S-ACK-8"],
    title: "says a removal that has waited again, when the variant that came with it was rejected",
    variants: deltaAds,
    world: ordered,
    run(world) {
      put(world, "r", "X", prod, "t/route");
      const [, routes] = orderedClients(world);
      world.put("t/listener", "l");
      world.run();
      replace(world, "r", [prod], [], "t/route");
      expect(acceptAll(world, routes)).toEqual([]);
      put(world, "r", "bad", notTest, "t/route");
      world.run();
      const answer = routes.next();
      expect(short([answer])).toEqual(["r{not(env=test)}=bad -r{env=prod}"]);
      routes.nack(answer, "bad");
      put(world, "r", "X", notTest, "t/route");
      expect(short(acceptAll(world, routes))).toEqual(["r{not(env=test)}=X -r{env=prod}"]);
    },
  },
  {
    rules: ["S-DYN-5", "S-ACK-8"],
    title: "says the removal of a variant again that was rejected, also where the name is removed",
    variants: deltaAds,
    world: ordered,
    run(world) {
      put(world, "r", "X", prod, "t/route");
      const [, routes, listeners] = orderedClients(world);
      const nackNext = (): readonly string[] => {
        world.run();
        const answer = routes.next();
        routes.nack(answer, "bad");
        return short([answer]);
      };
      world.put("t/listener", "l");
      world.run();
      replace(world, "r", [prod], [], "t/route");
      expect(acceptAll(world, routes)).toEqual([]);
      world.put("t/route", "r", "bad");
      expect(nackNext()).toEqual(["r=bad -r{env=prod}"]);
      world.cache.transaction((writer) => {
        writer.remove("t/route", "r");
        writer.put({ typeUrl: "t/route", name: "s", value: payloadOf("s", "bad") });
      });
      expect(nackNext()).toEqual(["s=bad -r{env=prod}"]);
      world.put("t/route", "s", "X");
      expect(short(acceptAll(world, routes))).toEqual(["s=X -r{env=prod}"]);
      acceptAll(world, listeners);
      expect(short(acceptAll(world, routes))).toEqual(["-r"]);
    },
  },
  {
    rules: ["S-DYN-5", "S-RECON-4", "S-ACK-8"],
    title:
      "says to a client that comes back what it had of a name that comes back as a variant, again after a rejection",
    variants: deltaAds,
    world: ordered,
    run(world) {
      for (const text of ["1", "2"]) world.put("t/route", "r", text);
      world.remove("t/route", "r");
      world.put("t/listener", "l", "1");
      const { client } = world.openDelta("t/route");
      const nextRoutes = (): readonly (readonly string[])[] => {
        world.run();
        return client.rest().map((response) => {
          const isBad = response.resources.some(({ resource }) =>
            textIn(resource?.value ?? new Uint8Array()).includes("bad"),
          );
          if (isBad) client.nack(response, "bad");
          else client.ack(response);
          return [
            ...response.resources.map((one) => `+${one.resourceName?.name ?? one.name}`),
            ...response.removedResources.map((name) => `-${name}`),
          ];
        });
      };
      client.send({ typeUrl: "t/listener", resourceNamesSubscribe: ["*"] });
      world.run();
      const open = client.next();
      client.send({
        typeUrl: "t/route",
        resourceLocatorsSubscribe: [{ name: "*", dynamicParameters: { env: "prod" } }],
        initialResourceVersions: { r: "1" },
      });
      expect(nextRoutes()).toEqual([[]]);
      put(world, "r", "bad", prod, "t/route");
      expect(nextRoutes()).toEqual([["+r", "-r"]]);
      put(world, "r", "X", prod, "t/route");
      expect(nextRoutes()).toEqual([["+r", "-r"]]);
      client.ack(open);
      expect(nextRoutes()).toEqual([]);
    },
  },
  {
    rules: ["S-DYN-5", "S-RECON-5"],
    title: "says to a client what has replaced its variant, also where it asks for the name twice",
    variants: deltaVariants,
    run(world) {
      put(world, "n", "1", prod);
      put(world, "n", "2", test);
      replace(world, "n", [prod], [[both(prod), "3"]]);
      const { client } = world.openDelta(FULL);
      const resourceLocatorsSubscribe = [{ name: "n", dynamicParameters: { env: "prod" } }];
      client.send({
        typeUrl: FULL,
        resourceLocatorsSubscribe,
        initialResourceVersions: { n: "1" },
      });
      client.send({ typeUrl: FULL, resourceLocatorsSubscribe });
      world.run();
      const { resources, removedResourceNames } = client.next();
      expect([
        resources.map(({ resourceName }) => resourceName?.name),
        removedResourceNames.map(({ name }) => name),
      ]).toEqual([["n"], ["n"]]);
    },
  },
]);
