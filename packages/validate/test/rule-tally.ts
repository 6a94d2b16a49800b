import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import type { RuleReader, Settings } from "../src/rule-settings.ts";
import { settingsIn } from "../src/rule-settings.ts";
import type { Violation } from "../src/violation.ts";

/**
 * Counts how often the fields of messages violate and satisfy each kind of rule. The content of
 * nested messages is not counted.
 */
export interface RuleTally {
  add(desc: DescMessage, message: Message, violations: readonly Violation[]): void;
  /**
   * Returns a line for each kind of rule: the number of violations, the number of satisfied checks,
   * and the name.
   */
  lines(): readonly string[];
  /** Returns the kinds of rules that were never violated or never satisfied. */
  unreached(): readonly string[];
}

/** A kind of rule, whether it is in a list or a map, and the id of its violation. */
interface Kind {
  readonly name: string;
  readonly rule: string;
  readonly isWithin: boolean;
}

/** Creates a tally of all kinds of rules that the types have. */
export function createRuleTally(reader: RuleReader): RuleTally {
  const counts = new Map<string, { violated: number; kept: number }>();
  const kinds = new Map<DescField, readonly Kind[]>();
  const kindsOf = (field: DescField): readonly Kind[] => {
    const known = kinds.get(field) ?? listKinds(field, reader.rulesOf(field));
    kinds.set(field, known);
    return known;
  };
  const count = (name: string, isViolated: boolean): void => {
    const entry = counts.get(name) ?? { violated: 0, kept: 0 };
    entry[isViolated ? "violated" : "kept"]++;
    counts.set(name, entry);
  };
  return {
    add(desc, message, violations) {
      for (const oneof of desc.oneofs)
        if (reader.isRequired(oneof))
          count("oneof.required", hasViolation(violations, oneof.name, "required", 1));
      for (const field of desc.fields)
        for (const { name, rule, isWithin } of kindsOf(field)) {
          const isViolated = hasViolation(violations, field.name, rule, isWithin ? 2 : 1);
          if (isViolated || rule === "required" || isFilled(message, field))
            count(name, isViolated);
        }
    },
    lines: () =>
      [...counts]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, { violated, kept }]) => `${violated}\t${kept}\t${name}`),
    unreached: () =>
      [...counts]
        .filter(([, { violated, kept }]) => violated === 0 || kept === 0)
        .map(([name, { violated }]) => `${name} was never ${violated === 0 ? "violated" : "kept"}`),
  };
}

function hasViolation(
  violations: readonly Violation[],
  name: string,
  rule: string,
  length: number,
): boolean {
  return violations.some(
    ({ path, rule: violated }) =>
      path.length === length &&
      path[0] !== undefined &&
      "name" in path[0] &&
      path[0].name === name &&
      (violated === rule || violated.startsWith(`${rule}.`)),
  );
}

function isFilled(message: Message, field: DescField): boolean {
  const members = message as unknown as Record<string, unknown>;
  if (field.oneof !== undefined)
    return (members[field.oneof.localName] as { case?: string }).case === field.localName;
  const { [field.localName]: value } = members;
  return Array.isArray(value)
    ? value.length > 0
    : typeof value === "object" && value !== null && field.fieldKind === "map"
      ? Object.keys(value).length > 0
      : value !== undefined;
}

/** Settings that change the meaning of other rules. */
const switches: ReadonlySet<string> = new Set(["ignore_empty", "skip", "strict"]);

function listKinds(field: DescField, rules: Settings | undefined): readonly Kind[] {
  const shape = field.fieldKind === "message" ? shapeOf(field) : field.fieldKind;
  const at = `${shape}${field.oneof === undefined ? "" : " in a oneof"}`;
  return Object.entries(rules ?? {}).flatMap(([kind, settings]) => {
    const of = settings as Settings;
    if (kind === "repeated")
      return [...kindsIn(at, kind, of), ...within(at, kind, settingsIn(of, "items"))];
    if (kind === "map")
      return [
        ...kindsIn(at, kind, of),
        ...within(`${at} keys`, kind, settingsIn(of, "keys")),
        ...within(`${at} values`, kind, settingsIn(of, "values")),
      ];
    return kindsIn(at, kind, of).filter(
      // The chosen field of a oneof is always set.
      ({ rule }) => rule !== "required" || field.oneof === undefined,
    );
  });
}

function shapeOf(field: DescField): string {
  const name = field.message?.typeName ?? "";
  return name.startsWith("google.protobuf.") ? name.slice("google.protobuf.".length) : "message";
}

function within(at: string, container: string, rules: Settings | undefined): readonly Kind[] {
  return Object.entries(rules ?? {}).flatMap(([kind, settings]) =>
    kindsIn(`${at}, ${container}`, kind, settings as Settings).map((of) => ({
      ...of,
      isWithin: true,
    })),
  );
}

function kindsIn(at: string, kind: string, rules: Settings): readonly Kind[] {
  return Object.entries(rules).flatMap(([name, value]) => {
    if (switches.has(name) || ["items", "keys", "values"].includes(name) || value === false)
      return [];
    // No value of the type can violate these limits.
    if ((name === "gte" || name === "min_len") && Number(value) === 0 && isUnsigned(kind))
      return [];
    const strict = name === "well_known_regex" && rules.strict === false ? " not strict" : "";
    const rule =
      name === "required" ? "required" : `${kind}.${name === "unique" ? "unique" : name}`;
    return [
      {
        name: `${at}: ${rule}${strict}`,
        rule,
        isWithin: name === "unique",
      },
    ];
  });
}

function isUnsigned(kind: string): boolean {
  return kind.startsWith("uint") || kind === "bytes" || kind === "string";
}
