import {
  encodeConstraints,
  forwardSource,
  type Constraints,
  type Interest,
  type Topic,
} from "@xdstp/core";
import type { DeltaDiscoveryResponse } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { TYPE } from "../../../cache/test/kept-entries.ts";
import { useMachine, type UsedMachine } from "../../test/machine.ts";

const prod: Constraints = { kind: "equals", key: "env", value: "prod" };
const absent: Constraints = { kind: "not", of: { kind: "exists", key: "env" } };
const next: Constraints = { kind: "and", of: [prod] };
const client = new Map([["env", "prod"]]);

function put(used: UsedMachine, name: string, constraints: Constraints, text = ""): void {
  used.put(name, { text, constraints: encodeConstraints(constraints) });
}

function remove({ cache }: UsedMachine, name: string, constraints: Constraints): void {
  cache.remove(TYPE, name, { constraints: encodeConstraints(constraints) });
}

function replace({ cache }: UsedMachine, name: string, text = ""): void {
  cache.transaction((writer) => {
    writer.remove(TYPE, name, { constraints: encodeConstraints(prod) });
    writer.put({
      typeUrl: TYPE,
      name,
      value: Buffer.from(text),
      constraints: encodeConstraints(next),
    });
  });
}

/**
 * Returns the content of each response: `+name`, `-name` for a plain removal, `-{name}` for the
 * removal of a variant.
 */
function said(responses: readonly DeltaDiscoveryResponse[]): readonly string[] {
  return responses.map(({ resources, removedResources, removedResourceNames }) =>
    [
      ...resources.map(({ name, resourceName }) => `+${resourceName?.name ?? name}`),
      ...removedResources.map((name) => `-${name}`),
      ...removedResourceNames.map(({ name }) => `-{${name}}`),
    ].join(" "),
  );
}

/** A client that has a variant of each name. */
function holding(
  names: readonly string[],
  limits: NonNullable<Parameters<typeof useMachine>[0]>["limits"] = {},
): UsedMachine {
  const used = useMachine({ limits });
  for (const name of names) put(used, name, prod);
  used.request({ locate: names.map((name): Interest => ({ name, parameters: client })) });
  used.settle();
  return used;
}

describe("the removal of a variant", () => {
  it("waits for those who refer to the name, but not if another takes its place [S-DYN-5] [S-ORD-3]", () => {
    const used = holding(["a", "b"]);
    remove(used, "a", prod);
    replace(used, "b");
    expect(said(used.drain(0))).toEqual(["+b -{b}"]);
    used.ack();
    expect(said(used.drain())).toEqual(["-{a}"]);
  });

  it("goes with what takes its place while it waits [S-DYN-5] [S-ORD-3]", () => {
    const used = holding(["a"]);
    remove(used, "a", prod);
    expect(said(used.drain(0))).toEqual([]);
    put(used, "a", next);
    expect(said(used.drain(0))).toEqual(["+a -{a}"]);
    used.ack();
    expect(used.drain()).toEqual([]);
  });

  it("is dropped while it waits if the very variant comes back", () => {
    const used = holding(["a"]);
    remove(used, "a", prod);
    used.drain(0);
    put(used, "a", prod, "2");
    expect(said(used.drain())).toEqual(["+a"]);
  });

  it("is said once more when the name is sent for another reason: nobody knows what the client has [S-DYN-5] [S-DSUB-6]", () => {
    const used = useMachine();
    put(used, "a", prod);
    used.request({
      locate: [
        { name: "*", parameters: client },
        { name: "a", parameters: client },
      ],
    });
    used.settle();
    replace(used, "a");
    used.settle();
    used.request({ unlocate: [{ name: "a", parameters: client }] });
    expect(said(used.drain())).toEqual(["+a -{a}"]);
  });

  it("is in one part with what takes its place, however small the parts are [S-DYN-5] [S-SIZE-2]", () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const used = useMachine({ limits: { responseBytes: 300 } });
    for (const name of names) put(used, name, prod);
    used.request({ locate: [{ name: "*", parameters: client }] });
    used.settle();
    used.cache.transaction((writer) => {
      for (const name of names) writer.remove(TYPE, name, { constraints: encodeConstraints(prod) });
      for (const name of names)
        writer.put({
          typeUrl: TYPE,
          name,
          value: Buffer.alloc(20),
          constraints: encodeConstraints(next),
        });
    });
    const parts = used.drain();
    expect(parts.length).toBeGreaterThan(1);
    for (const { resources, removedResourceNames } of parts)
      expect(removedResourceNames.map(({ name }) => name)).toEqual(
        resources.map(({ resourceName }) => resourceName?.name),
      );
    expect(parts.flatMap(({ resources }) => resources).length).toBe(names.length);
  });

  it("is not said where what takes its place is too large to be sent [S-SIZE-4]", () => {
    const used = holding(["a", "b"], { responseBytes: 300 });
    replace(used, "a", "x".repeat(400));
    replace(used, "b");
    expect(said(used.drain())).toEqual(["+b -{b}"]);
  });
});

describe("a variant", () => {
  it("is answered under the spelling that was asked, with its constraints [S-DYN-2] [N-42]", () => {
    const used = useMachine();
    put(used, "xdstp://a/test.Type/~", prod);
    used.request({ locate: [{ name: "xdstp://a/test.Type/%7E", parameters: client }] });
    const [answer] = used.settle();
    expect(answer?.resources[0]).toMatchObject({
      name: "",
      resourceName: {
        name: "xdstp://a/test.Type/%7E",
        dynamicParameterConstraints: { type: { case: "constraint" } },
      },
    });
    remove(used, "xdstp://a/test.Type/~", prod);
    expect(said(used.drain())).toEqual(["-{xdstp://a/test.Type/%7E}"]);
  });
});

describe("a client that comes back", () => {
  it("costs no look-up of removals per member of a collection [S-DYN-5] [S-LIM-6]", () => {
    let looks = 0;
    const topics = new Map<string, Topic>();
    const counted = (topic: Topic): Topic =>
      new Proxy(topic, {
        get(target, key) {
          if (key === "gone") looks++;
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === "function" ? (value.bind(target) as unknown) : value;
        },
      });
    const used = useMachine({
      over: (cache) =>
        forwardSource(cache, {
          topic(typeUrl, interest) {
            const topic = topics.get(interest.name) ?? counted(cache.topic(typeUrl, interest));
            topics.set(interest.name, topic);
            return topic;
          },
        }),
    });
    used.cache.topic(TYPE, { name: "*" }).watch({ wake: () => undefined });
    const names = Array.from({ length: 100 }, (_, place) => `n${place}`);
    for (const name of names) used.put(name);
    put(used, "v", absent);
    remove(used, "v", absent);
    used.put("v");
    used.request({ subscribe: ["*"], initialVersions: new Map([["v", "before"]]) });
    expect(said(used.settle()).join(" / ").slice(-40)).toContain("-{v}");
    expect(looks).toBeLessThan(10);
  });
});
