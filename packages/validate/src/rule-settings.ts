import type { AnyDesc, DescExtension, DescMessage, Registry } from "@bufbuild/protobuf";
import { getExtension, hasExtension, isMessage } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { reflect } from "@bufbuild/protobuf/reflect";

/**
 * The settings of a message of rules, by the field names of `validate.proto`:
 * `{ string: { min_len: 1n } }`.
 */
export type Settings = Readonly<Record<string, unknown>>;

/** Reads the rules of fields, oneofs and messages from the options of their descriptors. */
export interface RuleReader {
  /** Returns the rules of a field. */
  rulesOf(field: AnyDesc): Settings | undefined;
  /** Returns true if one field of a oneof must be set. */
  isRequired(oneof: AnyDesc): boolean;
  /**
   * Returns true if the rules of a message, and of everything that it contains, are switched off.
   */
  isDisabled(message: DescMessage): boolean;
}

/** The full names of the options that contain rules. */
export interface RuleOptions {
  /** The option of a field, which is a message of rules. */
  readonly field: string;
  /**
   * The option of a oneof that says whether one of its fields must be set. It is a boolean, or a
   * message with the field `required`.
   */
  readonly oneof: string;
  /**
   * The options of a message, which are booleans. Each of them switches the rules of the message
   * off.
   */
  readonly switches: readonly string[];
}

const ofProtocGenValidate: RuleOptions = {
  field: "validate.rules",
  oneof: "validate.required",
  switches: ["validate.disabled", "validate.ignored"],
};

/**
 * Creates a {@link RuleReader} for the options that a registry defines. If the registry does not
 * define them, no type has rules of this kind.
 *
 * @param options - The names of the options. Default: those of `validate/validate.proto`
 * (protoc-gen-validate), which the Envoy API uses
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

/** Returns the rules of one kind, which are nested in other rules. */
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
