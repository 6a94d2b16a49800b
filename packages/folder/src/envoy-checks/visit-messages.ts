import { type DescField, type DescMessage, fromBinary, type Registry } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  reflect,
  type ReflectMessage,
} from "@bufbuild/protobuf/reflect";
import type { Any } from "@bufbuild/protobuf/wkt";
import type { PathStep } from "@xdstp/validate";
import {
  decodeStruct,
  isReadAsMessage,
  structStep,
  type TypedStruct,
  typedStructs,
} from "./typed-structs.ts";

/** A message, the way to it, and the message that holds it. */
export interface VisitedMessage {
  readonly message: ReflectMessage;
  readonly path: readonly PathStep[];
  readonly above: VisitedMessage | undefined;
}

/** Returns a message and all those in it, with those in an Any or in the `TypedStruct` of an extension. Messages of `google.protobuf` are left out. */
export function visitMessages(
  visited: VisitedMessage,
  registry: Registry,
): readonly VisitedMessage[] {
  const found: VisitedMessage[] = [];
  eachMessage(visited, registry, (one) => {
    found.push(one);
  });
  return found;
}

/** Calls `run` with each message of {@link visitMessages}, without a list of them: a large configuration has some hundred thousand. */
export function eachMessage(
  visited: VisitedMessage,
  registry: Registry,
  run: (visited: VisitedMessage) => void,
): void {
  const { message, path } = visited;
  if (message.desc.typeName === "google.protobuf.Any") {
    const held = unpackAny(message.message as Any, registry);
    if (held !== undefined) eachMessage({ ...visited, message: held }, registry, run);
    return;
  }
  if (message.desc.typeName.startsWith("google.protobuf.")) return;
  run(visited);
  const held = messageInStruct(visited, registry);
  if (held !== undefined)
    eachMessage({ message: held, path: [...path, structStep], above: visited }, registry, run);
  for (const { field, step } of partsOf(message.desc)) {
    if (!message.isSet(field)) continue;
    for (const [more, inner] of valuesOf(message.get(field)))
      eachMessage(
        { message: inner, path: [...path, step, ...more], above: visited },
        registry,
        run,
      );
  }
}

/** Returns the message in the `TypedStruct` of an extension. undefined: the message is not one, or its content cannot be decoded. */
function messageInStruct(
  { message, path }: VisitedMessage,
  registry: Registry,
): ReflectMessage | undefined {
  if (!typedStructs.has(message.desc.typeName) || !isReadAsMessage(path)) return undefined;
  try {
    return decodeStruct(message.message as unknown as TypedStruct, registry);
  } catch {
    return undefined; // The check of typed structs reports it.
  }
}

/** A field that holds messages, and the step to it. */
interface Part {
  readonly field: DescField;
  readonly step: PathStep;
}

/** The fields of a message that hold messages. A large configuration has some hundred thousand messages of a few types. */
function partsOf(desc: DescMessage): readonly Part[] {
  const known = parts.get(desc);
  if (known !== undefined) return known;
  const found = desc.fields
    .filter(({ message }) => message !== undefined)
    .map((field): Part => {
      const { name, jsonName } = field;
      return { field, step: { kind: "field", name, jsonName } };
    });
  parts.set(desc, found);
  return found;
}

const parts = new WeakMap<DescMessage, readonly Part[]>();

/** The innermost message of a type, from this one outwards. */
export function closestMessage(
  visited: VisitedMessage,
  typeName: string,
): VisitedMessage | undefined {
  let at: VisitedMessage | undefined = visited;
  while (at !== undefined && at.message.desc.typeName !== typeName) at = at.above;
  return at;
}

function valuesOf(
  value: unknown,
): readonly (readonly [path: readonly PathStep[], message: ReflectMessage])[] {
  if (isReflectMessage(value)) return [[[], value]];
  if (isReflectList(value))
    return Array.from(value, (item, index) => [[{ kind: "index", index }], item as ReflectMessage]);
  if (!isReflectMap(value)) return [];
  return Array.from(value, ([key, item]) => [
    [{ kind: "key", key: String(key) }],
    item as ReflectMessage,
  ]);
}

/** Returns the message in an Any. undefined: the registry does not have its type, or the bytes are not of this type. */
export function unpackAny(
  { typeUrl, value }: Pick<Any, "typeUrl" | "value">,
  registry: Registry,
): ReflectMessage | undefined {
  const desc = registry.getMessage(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
  try {
    return desc === undefined ? undefined : reflect(desc, fromBinary(desc, value));
  } catch {
    return undefined; // The check of constraints reports it.
  }
}
