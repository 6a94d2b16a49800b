import type { AnyDesc, DescExtension, DescMessage, Registry } from "@bufbuild/protobuf";
import { getExtension, hasExtension, isMessage } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { reflect } from "@bufbuild/protobuf/reflect";

/** What is set in a message of rules, by the names of `validate.proto`: `{ string: { min_len: 1n } }`. */
export type Settings = Readonly<Record<string, unknown>>;

/** Reads the options of `validate/validate.proto` (protoc-gen-validate) from descriptors. */
export interface RuleReader {
  /** The `validate.rules` of a field. */
  rulesOf(field: AnyDesc): Settings | undefined;
  /** Whether one of a oneof's fields has to be set. */
  isRequired(oneof: AnyDesc): boolean;
  /** Whether the rules of a message, and of all that is in it, are switched off. */
  isDisabled(message: DescMessage): boolean;
}

/** A reader of the options that the registry defines; where it does not, no type has rules of this kind. */
export function createRuleReader(registry: Registry): RuleReader {
  const rules = registry.getExtension("validate.rules");
  const required = registry.getExtension("validate.required");
  const switches = ["validate.disabled", "validate.ignored"].map((name) =>
    registry.getExtension(name),
  );
  return {
    rulesOf(field) {
      const value = optionOf(field, rules);
      return isMessage(value) && rules?.message !== undefined
        ? settingsOf(reflect(rules.message, value))
        : undefined;
    },
    isRequired: (oneof) => optionOf(oneof, required) === true,
    isDisabled: (message) => switches.some((name) => optionOf(message, name) === true),
  };
}

/** The rules of one kind within others. */
export function settingsIn(settings: Settings | undefined, name: string): Settings | undefined {
  return settings?.[name] as Settings | undefined;
}

function optionOf(desc: AnyDesc, option: DescExtension | undefined): unknown {
  if (option === undefined || !("options" in desc.proto)) return undefined;
  const { options } = desc.proto;
  return options !== undefined && hasExtension(options, option)
    ? getExtension(options, option)
    : undefined;
}

function settingsOf(message: ReflectMessage): Settings {
  const settings: Record<string, unknown> = {};
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    if (field.fieldKind === "list") settings[field.name] = [...message.get(field)].map(plain);
    else settings[field.name] = plain(message.get(field));
  }
  return settings;
}

function plain(value: unknown): unknown {
  return isReflected(value) ? settingsOf(value) : value;
}

function isReflected(value: unknown): value is ReflectMessage {
  return typeof value === "object" && value !== null && "sortedFields" in value;
}
