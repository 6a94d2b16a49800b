import { isDeepStrictEqual } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  DynamicParameterConstraintsSchema,
  type DynamicParameterConstraints,
} from "@xdstp/protos/discovery";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  conflictOf,
  type Constraints,
  keysOfConstraints,
  matchesConstraints,
  overlapOf,
  textOfConstraints,
} from "./constraints.ts";
import { encodeConstraints, readConstraints } from "./constraints-message.ts";

const equals = (key: string, value: string): Constraints => ({ kind: "equals", key, value });
const exists = (key: string): Constraints => ({ kind: "exists", key });
const not = (of: Constraints): Constraints => ({ kind: "not", of });
const and = (...of: readonly Constraints[]): Constraints => ({ kind: "and", of });
const or = (...of: readonly Constraints[]): Constraints => ({ kind: "or", of });

const prod = equals("env", "prod");
const test = equals("env", "test");
const v1 = equals("version", "v1");

const PLAIN = { noNullPrototype: true } as const;

const { tree } = fc.letrec<{ tree: Constraints }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record(
      {
        kind: fc.constant("equals" as const),
        key: fc.constantFrom("a", "b", ""),
        value: fc.constantFrom("1", "2", "other", ""),
      },
      PLAIN,
    ),
    fc.record({ kind: fc.constant("exists" as const), key: fc.constantFrom("a", "b") }, PLAIN),
    fc.record(
      {
        kind: fc.constantFrom("and" as const, "or" as const),
        of: fc.array(tie("tree"), { maxLength: 3 }),
      },
      PLAIN,
    ),
    fc.record({ kind: fc.constant("not" as const), of: tie("tree") }, PLAIN),
  ),
}));

function message(constraints: Constraints): DynamicParameterConstraints {
  const { kind } = constraints;
  if (kind === "not")
    return create(DynamicParameterConstraintsSchema, {
      type: { case: "notConstraints", value: message(constraints.of) },
    });
  if (kind === "and" || kind === "or")
    return create(DynamicParameterConstraintsSchema, {
      type: { case: `${kind}Constraints`, value: { constraints: constraints.of.map(message) } },
    });
  const constraintType =
    kind === "exists"
      ? { case: "exists" as const, value: {} }
      : { case: "value" as const, value: constraints.value };
  return create(DynamicParameterConstraintsSchema, {
    type: { case: "constraint", value: { key: constraints.key, constraintType } },
  });
}

/** Yields every set of parameters that the constraint trees of this file can tell apart. */
function* everyone(): Generator<ReadonlyMap<string, string>> {
  const values = [undefined, "1", "2", "other", "", "else"];
  for (const a of values)
    for (const b of values)
      for (const none of [undefined, "1", "2", "other", "", "else"]) {
        yield new Map(
          [
            ["a", a],
            ["b", b],
            ["", none],
          ].filter((pair): pair is [string, string] => pair[1] !== undefined),
        );
      }
}

describe("matchesConstraints()", () => {
  it.each<readonly [Constraints, Readonly<Record<string, string>>, boolean]>([
    [prod, { env: "prod" }, true],
    [prod, { env: "test" }, false],
    [prod, {}, false],
    [prod, { env: "prod", version: "v1" }, true], // a key that no constraint mentions
    [exists("env"), { env: "" }, true],
    [exists("env"), { version: "v1" }, false],
    [not(exists("env")), {}, true],
    [not(prod), {}, true],
    [not(prod), { env: "prod" }, false],
    [and(prod, v1), { env: "prod", version: "v1" }, true],
    [and(prod, v1), { env: "prod" }, false],
    [and(), { env: "x" }, true], // `and` without constraints matches every client
    [or(prod, test), { env: "test" }, true],
    [or(prod, test), { env: "qa" }, false],
    [or(), {}, false],
    [not(or(prod, v1)), { env: "test", version: "v2" }, true],
    [not(or(prod, v1)), { env: "test", version: "v1" }, false],
    [and(or(prod, test), not(exists("version"))), { env: "test" }, true],
  ])("%j for %j: %j [B-DYN-3]", (constraints, parameters, expected) => {
    expect(matchesConstraints(constraints, new Map(Object.entries(parameters)))).toBe(expected);
    if (Object.keys(parameters).length === 0)
      expect(matchesConstraints(constraints, undefined)).toBe(expected);
  });

  it("is not changed by keys that no constraint mentions [B-DYN-3]", () => {
    fc.assert(
      fc.property(
        tree,
        fc.dictionary(fc.constantFrom("a", "b", ""), fc.constantFrom("1", "2")),
        fc.dictionary(fc.constantFrom("c", "d"), fc.string()),
        (constraints, parameters, more) => {
          const own = new Map(Object.entries(parameters));
          expect(matchesConstraints(constraints, new Map([...own, ...Object.entries(more)]))).toBe(
            matchesConstraints(constraints, own),
          );
        },
      ),
    );
  });
});

describe("readConstraints()", () => {
  it("reads what a protobuf encoder wrote [B-DYN-3]", () => {
    fc.assert(
      fc.property(tree, (constraints) => {
        expect(
          readConstraints(toBinary(DynamicParameterConstraintsSchema, message(constraints))),
        ).toEqual({ constraints });
      }),
    );
  });

  it("takes a message that says nothing as one that matches all [B-DYN-3]", () => {
    expect(readConstraints(new Uint8Array())).toEqual({ constraints: and() });
  });

  it.each<readonly [readonly number[], RegExp]>([
    [[10, 0], /neither a value nor/],
    [[255], /not DynamicParameterConstraints/],
    [[8, 1], /not DynamicParameterConstraints/],
    [[0x2a, 0], /field 5 is not known/],
    [[18, 2, 18, 0], /not DynamicParameterConstraints/],
    [
      Array.from({ length: 17 }, (_, index) => [34, 2 * (16 - index)]).flat(),
      /nested deeper than 16/,
    ],
    [[18, 0xd2, 0x0f, ...Array.from({ length: 1_001 }, () => [10, 0]).flat()], /more than 1000/],
  ])("rejects %j", (bytes, fault) => {
    expect(readConstraints(Uint8Array.from(bytes)).fault).toMatch(fault);
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        readConstraints(bytes);
      }),
    );
  });
});

describe("encodeConstraints()", () => {
  it("writes what a protobuf encoder writes", () => {
    fc.assert(
      fc.property(tree, (constraints) => {
        expect(Buffer.from(encodeConstraints(constraints))).toEqual(
          Buffer.from(toBinary(DynamicParameterConstraintsSchema, message(constraints))),
        );
      }),
    );
  });
});

describe("textOfConstraints()", () => {
  it("is for people", () => {
    expect(textOfConstraints(and(prod, not(exists("version")), or(equals("a b", ""))))).toBe(
      `and(env=prod, not(version exists), or("a b"=""))`,
    );
  });

  it("differs for different constraints", () => {
    fc.assert(
      fc.property(tree, tree, (a, b) => {
        expect(textOfConstraints(a) === textOfConstraints(b)).toBe(isDeepStrictEqual(a, b));
      }),
    );
  });
});

describe("keysOfConstraints()", () => {
  it("finds them at any depth", () => {
    expect([...keysOfConstraints(and(prod, not(or(v1, exists("x")))))]).toEqual([
      "env",
      "version",
      "x",
    ]);
  });
});

describe("conflictOf()", () => {
  it.each<readonly [Constraints, Constraints, string | undefined]>([
    [prod, not(prod), undefined],
    [
      prod,
      v1,
      'the variants env=prod and version=v1 constrain different keys; let both mention "env", "version", for instance whether it exists',
    ],
    [
      prod,
      exists("env"),
      'the variants env=prod and env exists both match {"env":"prod"}; let them exclude each other',
    ],
    [
      and(),
      prod,
      'the variants without constraints and env=prod constrain different keys; let both mention "env", for instance whether it exists',
    ],
  ])("of %j and %j: %j [S-DYN-4]", (a, b, expected) => {
    expect(conflictOf(a, b)).toBe(expected);
  });
});

describe("overlapOf()", () => {
  it.each<readonly [Constraints, Constraints, Readonly<Record<string, string>> | "none"]>([
    [prod, test, "none"],
    [prod, prod, { env: "prod" }],
    [or(prod, test), or(equals("env", "qa"), test), { env: "test" }],
    [prod, not(prod), "none"],
    [exists("env"), not(exists("env")), "none"],
    [exists("env"), prod, { env: "prod" }],
    [not(prod), not(test), {}],
    [and(exists("env"), not(prod)), and(exists("env"), not(test)), { env: "other" }],
    [and(prod, not(exists("version"))), and(prod, v1), "none"],
    [and(), prod, { env: "prod" }],
    [or(), and(), "none"],
  ])("of %j and %j: %j [S-DYN-4]", (a, b, expected) => {
    expect(overlapOf(a, b)).toEqual(
      expected === "none" ? expected : new Map(Object.entries(expected)),
    );
  });

  it("agrees with trying everyone, and its example matches both [S-DYN-4]", () => {
    fc.assert(
      fc.property(tree, tree, (a, b) => {
        const overlap = overlapOf(a, b);
        const both = everyone().some(
          (parameters) => matchesConstraints(a, parameters) && matchesConstraints(b, parameters),
        );
        expect(overlap !== "none").toBe(both);
        if (overlap instanceof Map)
          expect(
            [a, b].every((one) => matchesConstraints(one, overlap as ReadonlyMap<string, string>)),
          ).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("gives up on what would take too long", () => {
    // The pigeonhole principle: no client can match, and no short search finds that out.
    const holes = Array.from({ length: 9 }, (_, hole) => `h${hole}`);
    const pigeons = Array.from({ length: 10 }, (_, pigeon) => `p${pigeon}`);
    const housed = and(
      ...pigeons.map((pigeon) => or(...holes.map((hole) => equals(pigeon, hole)))),
    );
    const alone = and(
      ...holes.flatMap((hole) =>
        pigeons.flatMap((one, index) =>
          pigeons.slice(index + 1).map((other) => not(and(equals(one, hole), equals(other, hole)))),
        ),
      ),
    );
    expect(overlapOf(housed, alone)).toBe("unknown");
  });
});
