import type { DescMessage, Message } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { createValidator } from "../src/index.ts";
import { createRandomMessages, type RandomMessages } from "./random-messages.ts";

const count = Math.max(2000, Math.round(50_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const seed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);
const registry = envoyRegistry();
const validator = await createValidator({ registry });

interface Case {
  readonly desc: DescMessage;
  readonly message: Message;
  readonly found: readonly string[];
}

function violations(desc: DescMessage, message: Message): readonly string[] {
  return validator.check(desc, message).map(({ field, rule }) => `${field} ${rule}`);
}

/** Creates random messages, valid ones and invalid ones. */
function* cases(messages: RandomMessages): Generator<Case> {
  for (let made = 0; made < count; made++)
    for (const { desc, message } of messages.take(1))
      yield { desc, message, found: violations(desc, message) };
}

describe(`random messages of seed ${seed}`, () => {
  it("have the same violations once they are encoded, and within an Any", () => {
    for (const { desc, message, found } of cases(createRandomMessages(registry, seed))) {
      const value = toBinary(desc, message);
      expect(violations(desc, fromBinary(desc, value)).toSorted()).toEqual(found.toSorted());
      const any = create(AnySchema, { typeUrl: `type.googleapis.com/${desc.typeName}`, value });
      expect(violations(AnySchema, any).toSorted()).toEqual(found.toSorted());
    }
  });

  it("that are valid stay valid without an optional field that they have", () => {
    const messages = createRandomMessages(registry, seed);
    for (const { desc, message, found } of cases(messages)) {
      if (found.length > 0) continue;
      for (const field of desc.fields) {
        if (field.oneof !== undefined || messages.reader.rulesOf(field) !== undefined) continue;
        const copy = fromBinary(desc, toBinary(desc, message));
        (copy as unknown as Record<string, unknown>)[field.localName] = (
          create(desc) as unknown as Record<string, unknown>
        )[field.localName];
        expect(violations(desc, copy)).toEqual([]);
      }
    }
  });

  it("violate and keep rules, in single fields, lists and maps", () => {
    const messages = createRandomMessages(registry, seed);
    const { tally } = messages;
    let valid = 0;
    for (const { desc, message, found } of cases(messages)) {
      tally.add(desc, message, validator.check(desc, message));
      if (found.length === 0) valid++;
    }
    expect(valid / count).toBeGreaterThan(0.2);
    expect(valid / count).toBeLessThan(0.8);
    const reached = tally.lines().length - tally.unreached().length;
    expect(reached / tally.lines().length).toBeGreaterThan(count < 50_000 ? 0.4 : 0.95);
  });
});
