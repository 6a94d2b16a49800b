import type { DescMessage, Message, Registry } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { chosenOf, type FieldPlan, type ItemPlan, type MessagePlan } from "./message-plan.ts";
import type { Place, Violation } from "./violation.ts";
import { violationAt } from "./violation.ts";

/**
 * The maximum depth of nested messages, including those in an Any. It is the same limit as for JSON
 * (B-LIM-5).
 */
const maxDepth = 100;

/** A message that is not part of another one: the checked message, or the content of an Any. */
export interface Root {
  readonly desc: DescMessage;
  readonly message: Message;
  readonly place: Place | undefined;
}

/** The state of a walk. */
export interface Walk {
  readonly registry: Registry;
  plan(message: DescMessage): MessagePlan;
  /** Called with the content of each Any. */
  readonly roots: Root[];
  readonly violations: Violation[];
}

/** Walks through a message and everything that it contains, and collects the violations. */
export function walkMessage(
  walk: Walk,
  desc: DescMessage,
  message: Message,
  place?: Place,
  depth = 1,
): void {
  if (depth > maxDepth) {
    report(walk, place, "nesting", `is within more than ${maxDepth} messages`);
    return;
  }
  if (desc.typeName === "google.protobuf.Any") {
    walkAny(walk, message as Any, place, depth);
    return;
  }
  const { fields, oneofs } = walk.plan(desc);
  for (const field of fields) walkField(walk, field, message, place, depth);
  for (const oneof of oneofs) {
    const chosen = chosenOf(message, oneof.localName);
    if (chosen !== undefined && chosen.case === undefined)
      report(walk, { above: place, step: oneof.step }, "required", oneof.message);
  }
}

function report(walk: Walk, place: Place | undefined, rule: string, message: string): void {
  walk.violations.push(violationAt(place, rule, message));
}

function walkField(
  walk: Walk,
  field: FieldPlan,
  message: Message,
  above: Place | undefined,
  depth: number,
): void {
  const value = field.read(message);
  if (value === undefined) {
    if (field.isRequired) report(walk, { above, step: field.step }, "required", "is required");
    return;
  }
  const place: Place = { above, step: field.step };
  field.check?.(value, (rule, text) => {
    report(walk, place, rule, text);
  });
  if (field.isUnique) findRepeated(walk, value as readonly unknown[], place);
  if (field.kind === "single") walkItem(walk, field.item, value, place, depth);
  else if (field.kind === "list")
    for (const [index, item] of (value as readonly unknown[]).entries())
      walkItem(walk, field.item, item, { above: place, step: { kind: "index", index } }, depth);
  else
    for (const [key, item] of Object.entries(value as Readonly<Record<string, unknown>>)) {
      const at: Place = { above: place, step: { kind: "key", key } };
      field.keys?.check(field.keys.parse(key), (rule, text) => {
        report(walk, at, rule, `as a key ${text}`);
      });
      walkItem(walk, field.item, item, at, depth);
    }
}

/** Reports each item of a list that repeats an earlier item. NaN does not repeat NaN. */
function findRepeated(walk: Walk, list: readonly unknown[], above: Place): void {
  const seen = new Set<unknown>();
  for (const [index, item] of list.entries()) {
    const key = item instanceof Uint8Array ? Buffer.from(item).toString("latin1") : item;
    if (seen.has(key))
      report(
        walk,
        { above, step: { kind: "index", index } },
        "repeated.unique",
        "must not repeat an earlier item",
      );
    if (!Number.isNaN(key)) seen.add(key);
  }
}

function walkItem(walk: Walk, item: ItemPlan, value: unknown, place: Place, depth: number): void {
  item.check?.(value, (rule, text) => {
    report(walk, place, rule, text);
  });
  if (item.message !== undefined)
    walkMessage(walk, item.message, value as Message, place, depth + 1);
}

/** Checks the content of an Any. It ignores an Any whose type is not in the registry. */
function walkAny(
  walk: Walk,
  { typeUrl, value }: Any,
  place: Place | undefined,
  depth: number,
): void {
  const desc = walk.registry.getMessage(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
  if (desc === undefined) return;
  let message: Message;
  try {
    message = fromBinary(desc, value);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason.includes("recursion"))
      report(walk, place, "nesting", `has more than ${maxDepth} messages within each other`);
    else report(walk, place, "any.value", `does not hold a message of ${desc.typeName}`);
    return;
  }
  walk.roots.push({ desc, message, place });
  walkMessage(walk, desc, message, place, depth + 1);
}
