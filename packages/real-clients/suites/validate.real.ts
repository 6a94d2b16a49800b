import type { DescMessage, Message } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import type { Violation } from "@xdstp/validate";
import { createValidator } from "@xdstp/validate";
import { expect, it } from "vitest";
import { createRandomMessages } from "../../validate/test/random-messages.ts";
import { describeProgram } from "../src/describe-program.ts";
import { goName, pgvRegistry, pgvViolations } from "../src/pgv-oracle.ts";

const total = Number(process.env.XDSTP_VALIDATE_MESSAGES ?? 100_000);
const seed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);
const batch = 5000;

describeProgram("protoc-gen-validate", "random messages of every type", (command) => {
  it(`finds what our validator finds in ${total} messages, field by field`, async () => {
    const registry = pgvRegistry(command);
    const validator = await createValidator({ registry });
    const messages = createRandomMessages(registry, seed);
    const differences: string[] = [];
    let valid = 0;
    for (let made = 0; made < total; made += batch) {
      const cases = messages.take(Math.min(batch, total - made)).map(({ desc, message }) => {
        const ours = validator.check(desc, message);
        messages.tally.add(desc, message, ours);
        if (ours.length === 0) valid++;
        return { desc, message, ours };
      });
      const encoded = cases.map(({ desc, message }) => ({
        typeUrl: `type.googleapis.com/${desc.typeName}`,
        value: toBinary(desc, message),
      }));
      const verdicts = pgvViolations(command, encoded);
      expect(verdicts).toHaveLength(cases.length);
      for (const [index, { desc, message, ours }] of cases.entries()) {
        const theirs = (verdicts[index] ?? []).map(({ path }) => path.join("."));
        const difference = differenceOf(ours.map(goPath), theirs);
        if (difference !== "")
          differences.push(`${desc.typeName}: ${difference}, ${shown(message)}`);
      }
    }
    console.log(
      `seed ${seed}: ${total} messages of ${messages.types.length} types, ${valid} valid; violated and kept, by kind of rule:\n${messages.tally.lines().join("\n")}`,
    );
    expect(differences.slice(0, 10)).toEqual([]);
    expect(valid / total).toBeGreaterThan(0.3);
    expect(valid / total).toBeLessThan(0.75);
    if (total >= 100_000) expect(messages.tally.unreached()).toEqual([]);
    // 40 s of CPU; a machine that is busy with other things takes longer.
  }, 600_000);

  it("has almost all rules of our image of the Envoy API", () => {
    const theirs = createRandomMessages(pgvRegistry(command), 0);
    const ours = createRandomMessages(envoyRegistry(), 0);
    const known = new Map(theirs.types.map((type) => [type.typeName, type]));
    const ruled = ours.types.flatMap((type) => {
      const rules = rulesOf(type, ours.reader);
      return rules.length === 0 ? [] : [{ type, rules: String(rules) }];
    });
    const same = ruled.filter(({ type, rules }) => {
      const other = known.get(type.typeName);
      return other !== undefined && String(rulesOf(other, theirs.reader)) === rules;
    });
    const absent = ruled.filter(({ type }) => !known.has(type.typeName));
    console.log(
      `of ${ruled.length} types with rules ${same.length} are the same in go-control-plane, ${absent.length} are not there`,
    );
    expect(same.length / ruled.length).toBeGreaterThan(0.85);
  });
});

type Reader = ReturnType<typeof createRandomMessages>["reader"];

/** The rules of a type, as text. */
function rulesOf(type: DescMessage, reader: Reader): readonly string[] {
  return [
    ...type.fields.flatMap((field) => {
      const rules = reader.rulesOf(field);
      return rules === undefined ? [] : [`${field.name} ${text(rules)}`];
    }),
    ...type.oneofs.filter((oneof) => reader.isRequired(oneof)).map(({ name }) => name),
  ];
}

/** The paths in which both differ: ours with a plus, theirs with a minus. */
function differenceOf(ours: readonly string[], theirs: readonly string[]): string {
  const [mine, other] = [new Set(ours), new Set(theirs)];
  return [
    ...[...mine.difference(other)].map((path) => `+${path}`),
    ...[...other.difference(mine)].map((path) => `-${path}`),
  ].join(" ");
}

/** A path as the generated code prints it: names of Go, with the index or key behind them. */
function goPath({ path }: Violation): string {
  return path
    .map((step) => {
      if (step.kind === "index") return `[${step.index}]`;
      return step.kind === "key" ? `[${step.key}]` : `.${goName(step.name)}`;
    })
    .join("")
    .slice(1);
}

function shown(message: Message): string {
  return text(message).slice(0, 1000);
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "bigint" ? String(part) : part,
  );
}
