import type { AnyDesc, DescExtension, DescMessage, Registry } from "@bufbuild/protobuf";
import { getExtension, hasExtension, isMessage } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { reflect } from "@bufbuild/protobuf/reflect";

/** What is set in a message of rules, by the names of `validate.proto`: `{ string: { min_len: 1n } }`. */
export type Settings = Readonly<Record<string, unknown>>;

/** Reads the rules of fields, oneofs and messages from the options of their descriptors. */
export interface RuleReader {
  /** The rules of a field. */
  rulesOf(field: AnyDesc): Settings | undefined;
  /** Whether one of a oneof's fields has to be set. */
  isRequired(oneof: AnyDesc): boolean;
  /** Whether the rules of a message, and of all that is in it, are switched off. */
  isDisabled(message: DescMessage): boolean;
}

/** The options that hold rules, by their full names. */
export interface RuleOptions {
  /** Of a field: a message of rules. */
  readonly field: string;
  /** Of a oneof: whether one of its fields has to be set, as a boolean or as a message with the field `required`. */
  readonly oneof: string;
  /** Of a message: booleans, each of which switches its rules off. */
  readonly switches: readonly string[];
}

const ofProtocGenValidate: RuleOptions = {
  field: "validate.rules",
  oneof: "validate.required",
  switches: ["validate.disabled", "validate.ignored"],
};

/**
 * Makes a {@link RuleReader} of the options that a registry defines; where it does not, no type has rules of this kind.
 *
 * @param options - The names of the options. Default: those of `validate/validate.proto` (protoc-gen-validate), which the Envoy API has
 */
export function createRuleReader(
  registry: Registry,
  options: RuleOptions = ofProtocGenValidate,
): RuleReader {
  const rules = registry.getExtension(options.field);
  const required = registry.getExtension(options.oneof);
  const switches = options.switches.map((name) => registry.getExtension(name));
  return {
    rulesOf(field) {
      const value = optionOf(field, rules);
      return isMessage(value) && rules?.message !== undefined
        ? settingsOf(reflect(rules.message, value))
        : undefined;
    },
    isRequired(oneof) {
      const value = optionOf(oneof, required);
      return isMessage(value) && required?.message !== undefined
        ? settingsOf(reflect(required.message, value)).required === true
        : value === true;
    },
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
