import { describe, expect, it } from "vitest";
import { useMachine, type UsedMachine } from "../../test/machine.ts";

const glob = "xdstp://a/test.Type/x/*";
const member = (id: string): string => `xdstp://a/test.Type/x/${id}`;

/** A client that has two members of a glob, and these subscriptions. */
function holding(...names: readonly string[]): UsedMachine {
  const used = useMachine();
  for (const id of ["1", "2"]) used.put(member(id));
  used.request({ subscribe: names });
  used.settle();
  return used;
}

/** Returns everything that is still sent, by name, with `-` before a removal. */
function told(used: UsedMachine): readonly string[] {
  const all: string[] = [];
  for (let round = 0; used.machine.pending && round < 3; round++) {
    const answers = used.drain();
    used.ack();
    all.push(
      ...answers.flatMap(({ resources, removedResources }) => [
        ...resources.map(({ name }) => name),
        ...removedResources.map((name) => `-${name}`),
      ]),
    );
  }
  return all.sort();
}

describe("unsubscribe() of a collection whose news", () => {
  it("was rejected tells it where another covers it, the removals too [S-GLOB-6] [S-REM-1] [S-ACK-8]", () => {
    const used = holding(glob);
    used.remove(member("1"));
    used.put(member("2"), { text: "bad" });
    used.drain();
    used.nack();
    used.request({ subscribe: ["*"], unsubscribe: [glob] });
    expect(told(used)).toEqual([`-${member("1")}`, member("2")].sort());
  });

  it("was rejected as an answer tells it where another covers it [S-DSUB-3] [S-ACK-8]", () => {
    const used = holding(glob);
    used.remove(member("1"));
    used.request({ subscribe: [glob] });
    used.drain();
    used.nack();
    used.request({ subscribe: ["*"], unsubscribe: [glob] });
    expect(told(used)).toEqual([`-${member("1")}`, member("2")].sort());
  });

  it("was not sent yet is told by what covers it [S-GLOB-6]", () => {
    const used = holding(glob, member("1"));
    used.remove(member("1"));
    used.put(member("2"), { text: "2" });
    used.request({ unsubscribe: [glob] });
    expect(told(used)).toEqual([`-${member("1")}`]);
  });

  it("was told already tells nothing again [S-SUB-4]", () => {
    const used = holding(glob, "*");
    used.request({ unsubscribe: [glob] });
    expect(used.machine.pending).toBe(false);
  });

  it("is owed by a name is not told any more when that goes too [S-SUB-4]", () => {
    const used = holding(glob, member("1"));
    used.put(member("1"), { text: "2" });
    used.request({ unsubscribe: [glob] });
    used.request({ unsubscribe: [member("1")] });
    expect(used.drain()).toEqual([]);
  });

  it("gives its place back among the globs, which a name does not take [S-LIM-4]", () => {
    const used = useMachine({ limits: { globs: 1 } });
    used.request({ subscribe: ["a"] });
    used.request({ subscribe: [glob], unsubscribe: ["a"] });
    used.request({ unsubscribe: [glob] });
    used.request({ subscribe: ["xdstp://a/test.Type/y/*"] });
    expect(used.asked.filter((call) => call.startsWith("end"))).toEqual([]);
    used.request({ subscribe: [glob] });
    expect(used.asked.filter((call) => call.startsWith("end"))).toEqual([
      "end 8 more than 1 globs of one type globs",
    ]);
  });
});

describe("a subscription by alias", () => {
  it("stands for the resource under its own name, whichever of its aliases is left [S-ALIAS-1] [S-WARM-1]", () => {
    const used = useMachine();
    used.put("real", { aliases: ["one", "two"] });
    used.request({ subscribe: ["one", "two"] });
    used.settle();
    used.machine.warm("real");
    expect(used.settle()).toMatchObject([{ resources: [{ name: "real" }], removedResources: [] }]);
    used.put("real", { aliases: ["two"] });
    used.settle();
    used.machine.warm("real");
    expect(used.settle()).toMatchObject([{ resources: [{ name: "real" }], removedResources: [] }]);
    used.request({ unsubscribe: ["two"] });
    used.request({ unsubscribe: ["one"] });
    used.machine.warm("real");
    expect(used.machine.pending).toBe(false);
  });
});

it.each(["*", glob])(
  "tells anew what %s has, and what has gone, though it was listed as held, when that is asked for again before the answer [S-DSUB-3] [S-RECON-5]",
  (collection) => {
    const used = useMachine();
    used.put(member("1"));
    used.request({ subscribe: [collection] });
    const initialVersions = new Map(
      used
        .drain()
        .flatMap(({ resources }) => resources.map(({ name, version }) => [name, version] as const)),
    );
    const again = useMachine();
    again.put(member("1"));
    again.request({
      subscribe: [collection],
      initialVersions: new Map([
        ...initialVersions,
        [member("2"), "old"],
        ["xdstp://a/test.Type/other", "of another"],
      ]),
    });
    again.request({ subscribe: [collection] });
    expect(told(again)).toEqual(
      [member("1"), `-${member("2")}`, "-xdstp://a/test.Type/other"].sort(),
    );
  },
);

it.each(["*", glob])(
  "tells anew what %s has, though it was listed as held, when that is left and asked for again before the answer [S-DSUB-3] [S-DSUB-5]",
  (collection) => {
    const used = useMachine();
    for (const id of ["1", "2"]) used.put(member(id));
    used.request({ subscribe: [collection] });
    const initialVersions = new Map(
      used
        .drain()
        .flatMap(({ resources }) => resources.map(({ name, version }) => [name, version] as const)),
    );
    expect(initialVersions.size).toBe(2);
    const again = useMachine();
    for (const id of ["1", "2"]) again.put(member(id));
    again.request({ subscribe: [collection], initialVersions });
    again.request({ unsubscribe: [collection] });
    again.request({ subscribe: [collection] });
    expect(told(again)).toEqual([member("1"), member("2")]);
  },
);
