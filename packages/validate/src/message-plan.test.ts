import { fromBinary } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clusterBody, packed } from "../test/example-messages.ts";
import { createPlans } from "./message-plan.ts";
import type { RuleReader } from "./rule-settings.ts";
import { createRuleReader } from "./rule-settings.ts";
import { walkMessage } from "./walk-message.ts";

/** Creates a reader that counts the descriptors whose options it reads. */
function countingReader(): RuleReader & { readonly count: () => number } {
  const reader = createRuleReader(envoyRegistry());
  let count = 0;
  return {
    count: () => count,
    rulesOf(field) {
      count++;
      return reader.rulesOf(field);
    },
    isRequired: (oneof) => reader.isRequired(oneof),
    isDisabled: (message) => reader.isDisabled(message),
  };
}

const typeName = "envoy.config.cluster.v3.Cluster";
const desc = envoyRegistry().getMessage(typeName);
if (desc === undefined) throw new Error(`${typeName} is missing`);

describe("the work of a check", () => {
  it("reads the rules of the types that the message has in it, once", () => {
    const reader = countingReader();
    const plan = createPlans(reader);
    const planned = new Set<string>();
    const check = (name: string): void => {
      const cluster = fromBinary(desc, packed(typeName, clusterBody(name)).value);
      const walk = {
        registry: envoyRegistry(),
        plan: (type: typeof desc) => {
          planned.add(type.typeName);
          return plan(type);
        },
        roots: [],
        violations: [],
      };
      walkMessage(walk, desc, cluster);
    };
    check("first");
    const read = reader.count();
    // There are 1,668 types and 5,757 fields.
    expect(planned.size).toBeLessThan(15);
    expect(read).toBeLessThan(150);
    for (let index = 0; index < 100; index++) check(`cluster-${index}`);
    expect(reader.count()).toBe(read);
  });

  it("visits a message once for each type that can violate something, and no field without rules", () => {
    const plan = createPlans(createRuleReader(envoyRegistry()));
    const names = plan(desc).fields.map(({ step }) => (step.kind === "field" ? step.name : ""));
    expect(names).toContain("connect_timeout");
    expect(names).not.toContain("alt_stat_name");
    expect(names.length).toBeLessThan(desc.fields.length);
  });

  it("loads neither protovalidate nor an engine for patterns with the package", () => {
    const files = ["create-validator", "buf-rules", "message-plan", "pattern", "walk-message"];
    for (const file of files) {
      const source = readFileSync(join(import.meta.dirname, `${file}.ts`), "utf8");
      expect(source).not.toMatch(/^import (?!type ).*@bufbuild\/(?:protovalidate|re2)/mu);
    }
  });
});
