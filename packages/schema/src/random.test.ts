import { type DescMessage, type JsonValue, toJson } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { createValidator } from "@xdstp/validate";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { createRandomMessages } from "../../validate/test/random-messages.ts";
import { createDefinitions } from "./definitions.ts";
import { dialects } from "./dialect.ts";
import { docComments } from "./doc-comments.ts";

const count = Math.max(100, Math.round(20_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const seed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);
const registry = envoyRegistry();
const validator = await createValidator({ registry });
const messages = createRandomMessages(registry, seed);

/** Rules that a schema cannot say: see the README. Numbers of 64 bits are texts in JSON, and so are NaN and Infinity; sizes in bytes are not those of texts. */
const notSaid =
  /^duration\.(?:gt|gte|lt|lte)$|64\.|^(?:double|float)\.|\.valid$|^string\.max_bytes$|^bytes\.max_len$/;

/** Checks JSON against the definition of a type. Returns what is wrong with it, and undefined for nothing. */
function createCheck(): (desc: DescMessage, json: JsonValue) => string | undefined {
  const definitions = createDefinitions(registry, {
    dialect: dialects.xds,
    comments: docComments(true),
    base: "all#/$defs/",
  });
  for (const desc of messages.types) definitions.message(desc);
  const ajv = new Ajv2020({ strict: false, logger: false });
  ajv.addSchema({ $id: "all", $defs: definitions.all() });
  return (desc, json) => {
    const check = ajv.getSchema(`all#/$defs/${desc.typeName}`);
    if (check === undefined) throw new Error(`${desc.typeName} has no definition`);
    return check(json) === true ? undefined : ajv.errorsText(check.errors);
  };
}

describe(`random messages of seed ${seed}`, () => {
  it("are valid as JSON where they keep their rules, with names in either case, and invalid where they do not", () => {
    const check = createCheck();
    const tally = { valid: 0, invalid: 0 };
    for (const [index, { desc, message }] of messages.take(count).entries()) {
      const found = validator.check(desc, message);
      const json = jsonOf(desc, message, index % 2 === 0);
      if (json === undefined) continue;
      const problem = check(desc, json);
      const shown = `${desc.typeName} ${JSON.stringify(json).slice(0, 500)}`;
      if (found.length === 0) {
        tally.valid++;
        expect(problem, shown).toBeUndefined();
      } else if (!found.every(({ rule }) => notSaid.test(rule))) {
        tally.invalid++;
        expect(problem, `${shown} violates ${JSON.stringify(found)}`).toBeDefined();
      }
    }
    expect(tally.valid).toBeGreaterThan(count / 5);
    expect(tally.invalid).toBeGreaterThan(count / 10);
  }, 120_000);
});

/** undefined: the message has no JSON, as a Duration of 300,000 years. */
function jsonOf(
  desc: DescMessage,
  message: Parameters<typeof toJson>[1],
  useProtoFieldName: boolean,
): JsonValue | undefined {
  try {
    return toJson(desc, message, { registry, useProtoFieldName });
  } catch {
    return undefined;
  }
}
