import {
  type DescField,
  type DescMessage,
  fromBinary,
  type JsonObject,
  type JsonValue,
  type Message,
  isMessage,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Put } from "@xdstp/core";
import { anyFromJson } from "@xdstp/protos/envoy";
import { typeUrlOf } from "@xdstp/resource-types";
import { printLocator } from "@xdstp/uri";
import type { Candidate } from "./candidate.ts";
import { Fault, type FaultDetails, located, quote, reasonOf } from "./folder-problem.ts";
import type { FolderContext } from "./folder-context.ts";
import { nameInFile, nameOfPath } from "./names.ts";
import { checkListBytes } from "./list-in-file.ts";
import { faultDetails, locatorOfBytes, targetFault } from "./locators.ts";
import type { Place, TypeFolder } from "./place.ts";
import { explainJsonError } from "./json-reason.ts";

/**
 * Names and encodes a resource. The name is that of its wrapper; without one, that of its payload if the file has several resources, else that of the path.
 * If the payload does not have a name, the name is filled in. Throws a fault for a payload that cannot be parsed and for a wrong name.
 */
export function resourceFromCandidate(
  candidate: Candidate,
  place: Place,
  context: FolderContext,
): Put {
  const { content, document, path, type } = candidate;
  const payload =
    "json" in content
      ? jsonPayload(content.json, candidate, context)
      : binaryPayload(content.bytes, type, place);
  const name = nameOf(candidate, payload, place);
  if (payload.nameKey !== undefined && payload.stated !== "" && payload.stated !== name) {
    const message = `the ${payload.nameKey} is ${quote(payload.stated)}, but has to be ${quote(name)}`;
    throw new Fault({
      code: "wrong-name",
      message,
      document,
      path: [...path, payload.nameKey],
      rule: "N-42",
      hint: "write it so, or leave it out",
    });
  }
  const value = payload.encode(name);
  if (type.form === "redirect") rejectLoop(value, name, { document, path });
  return {
    typeUrl: place.type.typeUrl,
    resource: {
      version: "",
      ...candidate.facts,
      name,
      payload: { typeUrl: type.typeUrl, value },
    },
  };
}

/** A payload whose name is not checked yet. */
interface Payload {
  /** The key of the name field as the file spells it, since JSON has two spellings. Absent: the type does not have a name field. */
  readonly nameKey?: string;
  /** The name in the payload. Empty: there is none. */
  readonly stated: string;
  /** Encodes the payload. `name` is filled in if the payload does not have a name. */
  encode(name: string): Uint8Array;
}

function nameOf(
  { facts, alone, document, path }: Candidate,
  { nameKey, stated }: Payload,
  place: Place,
): string {
  if (facts !== undefined && facts.name !== "")
    return located(() => nameInFile(facts.name, place), {
      document,
      path: [...path.slice(0, -1), "name"],
    });
  if (alone) return nameOfPath(place);
  if (nameKey !== undefined && stated !== "")
    return located(() => nameInFile(stated, place), { document, path: [...path, nameKey] });
  const hint =
    nameKey === undefined
      ? "wrap it in an envoy.service.discovery.v3.Resource with a name"
      : `write its name into the field ${nameKey}`;
  throw new Fault({
    code: "missing-name",
    message: "has no name; where a file holds several resources, each one has to name itself",
    document,
    path,
    hint,
  });
}

function jsonPayload(
  json: JsonObject,
  { document, path, type }: Candidate,
  { registry }: FolderContext,
): Payload {
  const nameField = nameFieldOf(type);
  const nameKey =
    nameField !== undefined && nameField.jsonName in json ? nameField.jsonName : nameField?.name;
  const stated = nameKey === undefined ? undefined : json[nameKey];
  return {
    ...(nameKey !== undefined && { nameKey }),
    stated: typeof stated === "string" ? stated : "",
    encode(name) {
      const isNameless =
        nameKey !== undefined && (stated === undefined || stated === null || stated === "");
      const value = encodeJson();
      if (levelsOf(json) > SAFE_LEVELS) checkDepth(type, value, { document, path });
      return value;

      function encodeJson(): Uint8Array {
        try {
          return anyFromJson(
            {
              ...json,
              ...(isNameless && { [nameKey]: name }),
              "@type": typeUrlOf(type.desc.typeName),
            },
            registry,
          ).value;
        } catch (error) {
          throw named(explainJsonError(error, { document, path }, registry), type);
        }
      }
    },
  };
}

/** The number of JSON levels that are always valid. One level of a `google.protobuf.Struct` in JSON is three nested messages, and any other level is fewer, so 30 levels are less than 100 messages. */
const SAFE_LEVELS = 30;

/** Returns the number of levels of lists and objects inside of each other. */
function levelsOf(json: JsonValue): number {
  if (typeof json !== "object" || json === null) return 0;
  let most = 0;
  for (const value of Array.isArray(json) ? json : Object.values(json))
    most = Math.max(most, levelsOf(value));
  return most + 1;
}

/** Throws a fault for a payload that clients cannot decode. */
function checkDepth(
  { desc }: TypeFolder,
  value: Uint8Array,
  at: Pick<FaultDetails, "document" | "path">,
): void {
  try {
    fromBinary(desc, value);
  } catch (cause) {
    throw new Fault({
      code: "too-deep",
      message: `is nested too deeply: clients cannot decode it (${reasonOf(cause)})`,
      hint: "decoders of protobuf go no deeper; a level of a google.protobuf.Struct counts as three",
      ...at,
    });
  }
}

/** Replaces the name of the descriptor by that of the folder. All lists are decoded with the same descriptor. */
function named(fault: Fault, { desc, name }: TypeFolder): Fault {
  const message = fault.details.message.replace(`${desc.typeName}: `, `${name}: `);
  return new Fault({ ...fault.details, message });
}

function nameFieldOf(type: TypeFolder): DescField | undefined {
  return type.form === "message" ? type.nameField : undefined;
}

function binaryPayload(bytes: Uint8Array, type: TypeFolder, place: Place): Payload {
  if (type.form === "list") checkListBytes(bytes, type);
  if (type.form === "redirect") checkRedirectBytes(bytes, place.type.name);
  if (type.form !== "message") return { stated: "", encode: () => bytes };
  const { desc, nameField } = type;
  const message = decode(bytes, desc);
  if (nameField === undefined) return { stated: "", encode: () => bytes };
  const value = reflect(desc, message).get(nameField);
  const stated = typeof value === "string" ? value : "";
  const encode = (name: string): Uint8Array => {
    if (stated !== "") return bytes;
    return Buffer.concat([
      bytes,
      new BinaryWriter().tag(nameField.number, WireType.LengthDelimited).string(name).finish(),
    ]);
  };
  return { nameKey: nameField.name, stated, encode };
}

/** Throws a fault for a redirect to itself. Longer loops may lead through other servers, so only clients can find them (C-REDIR-4). */
function rejectLoop(
  value: Uint8Array,
  name: string,
  at: Pick<FaultDetails, "document" | "path">,
): void {
  const locator = locatorOfBytes(value);
  if ("text" in locator || printLocator({ ...locator, directives: [] }) !== name) return;
  throw new Fault({
    code: "redirect-loop",
    message: `the redirect ${quote(name)} leads to itself`,
    rule: "C-REDIR-4",
    hint: "write another name, or the resource",
    ...at,
  });
}

function checkRedirectBytes(bytes: Uint8Array, typeName: string): void {
  const locator = locatorOfBytes(bytes);
  const fault = "text" in locator ? locator : targetFault(typeName, locator);
  if (fault !== undefined) throw new Fault(faultDetails(fault));
}

function decode(bytes: Uint8Array, desc: DescMessage): Message {
  try {
    const message = fromBinary(desc, bytes);
    const unknown = unknownField(message);
    if (unknown === undefined) return message;
    throw new Error(`field ${unknown.no} of ${unknown.typeName} is unknown`);
  } catch (error) {
    const hint =
      "a bare message in a .pb is of the type of its folder; pack any other one in a google.protobuf.Any";
    throw new Fault({
      code: "syntax",
      message: `is not a valid ${desc.typeName} in binary: ${reasonOf(error)}`,
      hint,
    });
  }
}

/** Returns the first unknown field in a message or in a nested message. */
function unknownField(
  message: Message,
): { readonly typeName: string; readonly no: number } | undefined {
  const own = message.$unknown?.[0];
  if (own !== undefined) return { typeName: message.$typeName, no: own.no };
  return firstOf(Object.values(message));
}

function firstOf(values: readonly unknown[]): ReturnType<typeof unknownField> {
  for (const value of values) {
    const found = within(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the first unknown field in a value of any kind. Lists, maps and oneofs are plain arrays and objects. */
function within(value: unknown): ReturnType<typeof unknownField> {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return undefined;
  return isMessage(value) ? unknownField(value) : firstOf(Object.values(value));
}
