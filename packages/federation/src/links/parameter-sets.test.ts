import { encodeConstraints, type Interest, type Topic, type TypedInterest } from "@xdstp/core";
import { expect, it } from "vitest";

import { of, redirect, resource, scene, T, type Scene } from "../../test/scene.ts";
import { settle } from "../../test/turn.ts";

const GLOB = `${of("a", "ns/*")}#alt=${of("b", "ns/*")}`;
const NAME = `${of("a", "ns/m")}#alt=${of("b", "ns/m")}`;

const limitedTo = (env: string): { readonly constraints: Uint8Array } => ({
  constraints: encodeConstraints({ kind: "equals", key: "env", value: env }),
});

interface Reader {
  /** Texts, by the last part of the names. */
  readonly now: string;
  readonly topic: Topic;
  close(): void;
}

/** Subscribes to a name with dynamic parameters. */
function ask({ cache }: Scene, name: string, env: string): Reader {
  const interest: Interest = { name, parameters: new Map([["env", env]]) };
  const topic = cache.topic(T, interest);
  const watcher = { wake: () => undefined };
  topic.watch(watcher);
  return {
    topic,
    get now() {
      return topic
        .members()
        .flatMap(({ name: member, resource: held }) =>
          held === undefined
            ? []
            : `${/([^/#]+)(#.*)?$/.exec(member.replace(/#.*/, ""))?.[1] ?? ""}=${new TextDecoder().decode(held.payload.value)}`,
        )
        .sort()
        .join(" ");
    },
    close: () => {
      topic.unwatch(watcher);
    },
  };
}

it.each([of("a", "ns/*"), GLOB])(
  "gives each of several parameter sets its own members of %s, which are told apart by their constraints [S-DYN-2, B-DYN-3]",
  async (name) => {
    const world = await scene(["a", "b"]);
    const { at } = world;
    const [prod, test] = [ask(world, name, "prod"), ask(world, name, "test")];
    await settle();
    expect(at("a").wanted).toEqual([of("a", "ns/*"), of("a", "ns/*")]);
    const variant = (
      env: string,
      text: string,
    ): { readonly typeUrl: string; readonly resource: ReturnType<typeof resource> } => ({
      typeUrl: T,
      resource: { ...resource(of("a", "ns/m"), text), ...limitedTo(env) },
    });
    void at("a").sink.commit({ put: [variant("prod", "P"), variant("test", "T")] });
    expect([prod.now, test.now]).toEqual(["m=P", "m=T"]);
    void at("a").sink.commit({ put: [variant("prod", "P2")] });
    expect([prod.now, test.now]).toEqual(["m=P2", "m=T"]);
    void at("a").sink.commit({
      remove: [{ typeUrl: T, name: of("a", "ns/m"), ...limitedTo("prod") }],
    });
    expect([prod.now, test.now]).toEqual(["", "m=T"]);
    const complete = (env: string): TypedInterest[] => [
      { typeUrl: T, interest: { name: of("a", "ns/*"), parameters: new Map([["env", env]]) } },
    ];
    void at("a").sink.commit({ put: [variant("prod", "P3")], complete: complete("test") });
    expect([prod.now, test.now]).toEqual(["m=P3", ""]);
    void at("a").sink.commit({ put: [variant("test", "T2")], complete: complete("test") });
    expect([prod.now, test.now]).toEqual(["m=P3", "m=T2"]);
    void at("a").sink.commit({ complete: complete("prod") });
    expect([prod.now, test.now]).toEqual(["", "m=T2"]);
    prod.close();
    test.close();
    await settle();
    expect([at("a").wanted, world.cache.counters.resources, world.federation.traces()]).toEqual([
      [],
      0,
      [],
    ]);
  },
);

it.each([
  [NAME, "m=m of a"],
  [GLOB, "m=m of a n=n of a"],
])(
  "chooses once for all parameter sets of %s: who comes later sees what the first has [C-ALT-3, C-ALT-7, C-DYN-1]",
  async (name, expected) => {
    const world = await scene(["a", "b"]);
    const { at, pass } = world;
    for (const [authority, ids] of [
      ["a", ["m", "n"]],
      ["b", ["m", "o"]],
    ] as const)
      for (const id of ids)
        at(authority).put(T, resource(of(authority, `ns/${id}`), `${id} of ${authority}`));
    const first = ask(world, name, "prod");
    await settle();
    at("a").fail("a is down");
    const second = ask(world, name, "test");
    await settle();
    await pass(6_000);
    expect([first, second].map(({ now, topic: { stale } }) => [now, stale?.text])).toEqual([
      [expected, "a is down"],
      [expected, "a is down"],
    ]);
    first.close();
    await settle();
    expect([second.now, second.topic.stale?.text, world.federation.traces().length]).toEqual([
      expected,
      "a is down",
      name === NAME ? 1 : 2,
    ]);
    at("a").fail(undefined);
    at("a").put(T, resource(of("a", "ns/m"), "new"));
    await settle();
    expect([second.now, second.topic.stale, at("a").wanted.length]).toEqual([
      expected.replace("m of a", "new"),
      undefined,
      1,
    ]);
    const third = ask(world, name, "prod");
    second.close();
    await settle();
    expect([third.now, at("a").wanted.length]).toEqual([expected.replace("m of a", "new"), 1]);
    third.close();
    await settle();
    await pass(20_000);
    expect([
      at("a").isOpen,
      at("b").isOpen,
      world.federation.traces(),
      world.cache.counters.resources,
      world.clock.pending,
    ]).toEqual([false, false, [], 0, 0]);
  },
);

it("keeps a redirect that takes the place of another variant when that goes, and lets it go by itself [S-DYN-5, C-REDIR-2]", async () => {
  const world = await scene(["a"]);
  const { at } = world;
  for (const id of ["one", "two"]) at("a").put(T, resource(of("a", id), id));
  const reader = ask(world, of("a", "x"), "prod");
  await settle();
  const [name, put] = [
    of("a", "x"),
    (to: string, env: string) => ({
      put: [
        { typeUrl: T, resource: { ...redirect(of("a", "x"), of("a", to)), ...limitedTo(env) } },
      ],
    }),
  ];
  void at("a").sink.commit(put("one", "prod"));
  await settle();
  void at("a").sink.commit({
    ...put("two", "prod2"),
    remove: [{ typeUrl: T, name, ...limitedTo("prod") }],
  });
  await settle();
  expect(reader.now).toBe("x=two");
  void at("a").sink.commit({ remove: [{ typeUrl: T, name, ...limitedTo("prod2") }] });
  await settle();
  expect(reader.now).toBe("");
});
