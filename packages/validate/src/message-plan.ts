import type { DescField, DescMessage, DescOneof, Message } from "@bufbuild/protobuf";
import { isFieldSet, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { RuleReader, Settings } from "./rule-settings.ts";
import { settingsIn } from "./rule-settings.ts";
import { durationCheck, timestampCheck } from "./time-rules.ts";
import type { ValueCheck } from "./value-rules.ts";
import { all, countCheck, listCheck, unlessEmpty, valueCheck } from "./value-rules.ts";
import type { PathStep } from "./violation.ts";

/**
 * The checks for the messages of one type. A plan lists only fields that have rules or that contain
 * messages.
 */
export interface MessagePlan {
  readonly fields: readonly FieldPlan[];
  readonly oneofs: readonly OneofPlan[];
}

/**
 * The checks of a field: how to read its value, the rules of the whole field, and the rules of each
 * item.
 */
export interface FieldPlan {
  readonly step: PathStep;
  readonly kind: "single" | "list" | "map";
  /** Returns the value, or undefined if the field is not set. */
  readonly read: (message: Message) => unknown;
  readonly isRequired: boolean;
  /** The check of a list or a map as a whole. */
  readonly check: ValueCheck | undefined;
  /** true: the items of a list must all differ. */
  readonly isUnique: boolean;
  readonly keys: KeyPlan | undefined;
  /** The checks of the value, or of each item of a list or value of a map. */
  readonly item: ItemPlan;
}

interface KeyPlan {
  readonly check: ValueCheck;
  /** Converts a key from text, because JavaScript represents the keys of every map as texts. */
  readonly parse: (key: string) => unknown;
}

/**
 * The checks of a value: its rules, and the type of the message if the message itself must be
 * checked.
 */
export interface ItemPlan {
  readonly check: ValueCheck | undefined;
  readonly message: DescMessage | undefined;
}

/** A oneof of which one field must be set. */
export interface OneofPlan {
  readonly step: PathStep;
  readonly localName: string;
  readonly message: string;
}

/**
 * Returns a function that gives the plan of a type. It makes each plan from the `validate.rules` of
 * the type on the first call.
 */
export function createPlans(reader: RuleReader): (message: DescMessage) => MessagePlan {
  const plans = new Map<DescMessage, MessagePlan>();
  return (message) => {
    const plan = plans.get(message) ?? planOf(message, reader);
    plans.set(message, plan);
    return plan;
  };
}

/** Makes the plan of a type from its `validate.rules`. */
export function planOf(message: DescMessage, reader: RuleReader): MessagePlan {
  if (reader.isDisabled(message)) return { fields: [], oneofs: [] };
  return {
    fields: message.fields.flatMap((field) => fieldPlan(field, reader.rulesOf(field)) ?? []),
    oneofs: message.oneofs.filter((oneof) => reader.isRequired(oneof)).map(oneofPlan),
  };
}

function oneofPlan(oneof: DescOneof): OneofPlan {
  const names = oneof.fields.map(({ name }) => name);
  return {
    step: { kind: "oneof", name: oneof.name },
    localName: oneof.localName,
    message: names.length === 1 ? `needs ${names.join("")}` : `needs one of ${names.join(", ")}`,
  };
}

function fieldPlan(field: DescField, rules: Settings | undefined): FieldPlan | undefined {
  const plan: FieldPlan = {
    step: { kind: "field", name: field.name, jsonName: field.jsonName },
    kind: field.fieldKind === "list" || field.fieldKind === "map" ? field.fieldKind : "single",
    read: readerOf(field),
    // A message that is the chosen field of a oneof is always set.
    isRequired: field.fieldKind === "message" && field.oneof === undefined && isRequired(rules),
    check: wholeCheck(field, rules),
    isUnique: settingsIn(rules, "repeated")?.unique === true,
    keys: keyPlan(field, rules),
    item: itemPlan(field, itemRules(field, rules)),
  };
  const isEmpty =
    !plan.isRequired &&
    !plan.isUnique &&
    [plan.check, plan.keys, plan.item.check, plan.item.message].every((part) => part === undefined);
  return isEmpty ? undefined : plan;
}

function isRequired(rules: Settings | undefined): boolean {
  return ["message", "any", "duration", "timestamp"].some(
    (kind) => settingsIn(rules, kind)?.required === true,
  );
}

function readerOf(field: DescField): FieldPlan["read"] {
  const { localName, oneof } = field;
  if (oneof !== undefined)
    return (message) => {
      const chosen = chosenOf(message, oneof.localName);
      return chosen?.case === localName ? chosen.value : undefined;
    };
  const isOptionalScalar =
    (field.fieldKind === "scalar" || field.fieldKind === "enum") &&
    field.presence !== FeatureSet_FieldPresence.IMPLICIT;
  // A scalar field that is not set may have its own default value (proto2).
  if (isOptionalScalar)
    return (message) => (isFieldSet(message, field) ? memberOf(message, localName) : undefined);
  return (message) => memberOf(message, localName);
}

/**
 * Returns the chosen field of a oneof, or undefined if the message has no such property. The
 * messages of the transports, for example, are generated without it.
 */
export function chosenOf(
  message: Message,
  oneof: string,
): { readonly case?: string; readonly value?: unknown } | undefined {
  return memberOf(message, oneof) as ReturnType<typeof chosenOf>;
}

function memberOf(message: Message, name: string): unknown {
  return (message as unknown as Readonly<Record<string, unknown>>)[name];
}

function itemRules(field: DescField, rules: Settings | undefined): Settings | undefined {
  if (field.fieldKind === "list") return settingsIn(settingsIn(rules, "repeated"), "items");
  if (field.fieldKind === "map") return settingsIn(settingsIn(rules, "map"), "values");
  return rules;
}

function wholeCheck(field: DescField, rules: Settings | undefined): ValueCheck | undefined {
  if (field.fieldKind === "list") {
    const of = settingsIn(rules, "repeated") ?? {};
    const count = countCheck("repeated", of, ["", "min_items", "max_items"], "item", lengthOf);
    return unlessEmpty(of, count, (value) => lengthOf(value) === 0);
  }
  if (field.fieldKind === "map") {
    const of = settingsIn(rules, "map") ?? {};
    const count = countCheck("map", of, ["", "min_pairs", "max_pairs"], "pair", sizeOf);
    return unlessEmpty(of, count, (value) => sizeOf(value) === 0);
  }
  return undefined;
}

function lengthOf(list: unknown): number {
  return (list as readonly unknown[]).length;
}

function sizeOf(map: unknown): number {
  return Object.keys(map as object).length;
}

function keyPlan(field: DescField, rules: Settings | undefined): KeyPlan | undefined {
  if (field.fieldKind !== "map") return undefined;
  const of = settingsIn(settingsIn(rules, "map"), "keys");
  const check = checkOf(of, undefined);
  return check && { check, parse: keyParser(field.mapKey) };
}

function keyParser(scalar: ScalarType): KeyPlan["parse"] {
  switch (scalar) {
    case ScalarType.STRING:
      return (key) => key;
    case ScalarType.BOOL:
      return (key) => key === "true";
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return BigInt;
    default:
      return Number;
  }
}

function itemPlan(field: DescField, rules: Settings | undefined): ItemPlan {
  const check = checkOf(rules, field);
  const { message } = field;
  if (message === undefined) return { check, message };
  if (isWrapperDesc(message)) return { check: check && unwrapped(check), message: undefined };
  const isSkipped = settingsIn(rules, "message")?.skip === true;
  // In protoc-gen-validate, rules for an Any that are set on another message type end the check of
  // the value. `ExtensionConfigSource.config_source` has such rules.
  const isTakenForAny = rules?.any !== undefined && message.typeName !== "google.protobuf.Any";
  return { check, message: isSkipped || isTakenForAny || isLeaf(message) ? undefined : message };
}

function checkOf(
  rules: Settings | undefined,
  field: DescField | undefined,
): ValueCheck | undefined {
  return all(
    ...Object.entries(rules ?? {}).map(([kind, settings]) => {
      const of = settings as Settings;
      if (kind === "duration") return durationCheck(of);
      if (kind === "timestamp") return timestampCheck(of, Date.now);
      if (kind === "any") return listCheck("any", of, String, typeUrlOf);
      return valueCheck(kind, of, field?.enum);
    }),
  );
}

/**
 * Returns the type URL of an Any. A text, which comes from the list in the rules, already is a type
 * URL.
 */
function typeUrlOf(value: unknown): unknown {
  return typeof value === "string" ? value : (value as { typeUrl?: string }).typeUrl;
}

/**
 * Returns a check of the value in a wrapper, such as UInt32Value. Only lists, maps and oneofs
 * contain wrapper messages; elsewhere, the value of the field is the wrapped value.
 */
function unwrapped(check: ValueCheck): ValueCheck {
  return (value, report) => {
    const isBoxed = typeof value === "object" && value !== null && "$typeName" in value;
    check(isBoxed ? (value as { value?: unknown }).value : value, report);
  };
}

/**
 * Returns true if the content of a message needs no check. Well-known types have no rules inside,
 * and only an Any of them contains messages with rules.
 */
function isLeaf({ typeName }: DescMessage): boolean {
  return typeName.startsWith("google.protobuf.") && typeName !== "google.protobuf.Any";
}
