import { type DescField, type DescOneof, type Registry } from "@bufbuild/protobuf";
import { createRuleReader, type RuleReader, type Settings, settingsIn } from "@xdstp/validate";

/** The rules of fields, whichever options have them, in the terms of `validate.rules`. */
export interface FieldRules {
  rulesOf(field: DescField): Settings | undefined;
  isRequired(oneof: DescOneof): boolean;
  isDisabled: RuleReader["isDisabled"];
}

/** The options of `buf/validate/validate.proto` (protovalidate). */
const ofProtovalidate = {
  field: "buf.validate.field",
  oneof: "buf.validate.oneof",
  switches: [],
} as const;

/** Reads `validate.rules` and `buf.validate` rules. Rules in CEL are passed over. */
export function createFieldRules(registry: Registry): FieldRules {
  const pgv = createRuleReader(registry);
  const buf = createRuleReader(registry, ofProtovalidate);
  return {
    rulesOf(field) {
      const rules = buf.rulesOf(field);
      return rules === undefined ? pgv.rulesOf(field) : fromProtovalidate(rules);
    },
    isRequired: (oneof) => pgv.isRequired(oneof) || buf.isRequired(oneof),
    isDisabled: (message) => pgv.isDisabled(message),
  };
}

/** The numbers of `buf.validate.Ignore`. */
const ignore = { ifZero: 1, always: 3 } as const;

/** Moves `required` and `ignore`, which stand next to the rules of a kind, to where `validate.rules` has them: into the rules of the kind. */
function fromProtovalidate(rules: Settings): Settings {
  if (rules.ignore === ignore.always) return {};
  const kinds = Object.entries(rules).filter(([, of]) => typeof of === "object");
  return {
    message: { required: rules.required === true },
    ...Object.fromEntries(
      kinds.map(([kind, of]) => [
        kind,
        {
          ...(of as Settings),
          ...(rules.ignore === ignore.ifZero && { ignore_empty: true }),
          ...nestedRules(of as Settings),
        },
      ]),
    ),
  };
}

function nestedRules(of: Settings): Settings {
  return Object.fromEntries(
    ["items", "keys", "values"].flatMap((name) => {
      const nested = settingsIn(of, name);
      return nested === undefined ? [] : [[name, fromProtovalidate(nested)]];
    }),
  );
}
