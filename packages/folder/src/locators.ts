import { fromBinary, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import type { Fault as Reason } from "@xdstp/core";
import { readRedirect, type ResourceLocator, ResourceLocatorSchema } from "@xdstp/protos/xds";
import {
  isGlob,
  type Locator,
  locatorFault,
  locatorFromMessage,
  messageFromLocator,
  parseLocator,
  type ParseResult,
  type ResourceLocatorMessage,
} from "@xdstp/uri";
import { canonicalJson, isLocatorText, isObject } from "./documents-of.ts";
import type { FolderContext } from "./folder-context.ts";
import { Fault, type JsonPath, quote } from "./folder-problem.ts";
import { messageFrom } from "./json-reason.ts";
import type { ProblemCode } from "./problem-codes.ts";

/** Where a locator in a file leads. */
export interface LocatorInFile {
  /** The message, as JSON; equal for the text and the message of one locator. */
  readonly json: JsonObject;
  readonly locator: Locator;
}

/**
 * Reads a locator to a resource of a type: a text, or a `ResourceLocator`, whose alternatives may be texts too (N-82).
 * Throws a fault for what is not a locator, for another type (C-REDIR-5) and for a glob (C-REDIR-6, C-LIST-7).
 */
export function locatorInFile(
  value: JsonValue,
  path: JsonPath,
  { typeName, context }: { readonly typeName: string; readonly context: FolderContext },
): LocatorInFile {
  const read = typeof value === "string" ? parseLocator(value) : locatorOf(value, path, context);
  if (!read.ok)
    throw new Fault({
      code: "bad-locator",
      message: `${quote(shownLocator(value))} is not a locator: ${read.error.message}`,
      path,
      rule: read.error.rule,
    });
  const fault = targetFault(typeName, read.value);
  if (fault !== undefined) throw new Fault({ ...faultDetails(fault), path });
  return {
    json: canonicalJson(messageFromLocator(read.value), 10_000) as JsonObject,
    locator: read.value,
  };
}

/** Why a locator in binary cannot lead to a resource of a type; undefined: it can. */
export function locatorOfBytes(bytes: Uint8Array): Locator | Reason {
  const located = readRedirect(bytes);
  if (!located.ok) return { text: `it is not a locator: ${located.reason}` };
  const read = locatorFromMessage(
    located.value.form === "text" ? located.value.text : messageOf(located.value.message),
  );
  return read.ok ? read.value : { text: read.error.message, rule: read.error.rule };
}

/** The locator of an entry of a list in binary, in either of its forms: no message begins with the bytes of a scheme (N-82). */
export function locatorOfEntry(bytes: Uint8Array): Locator | Reason {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  const read = isLocatorText(text)
    ? parseLocator(text)
    : locatorFromMessage(messageOf(fromBinary(ResourceLocatorSchema, bytes)));
  return read.ok ? read.value : { text: read.error.message, rule: read.error.rule };
}

/** Why a locator in a file cannot be used for a type; undefined: it can. */
export function targetFault(typeName: string, locator: Locator): Reason | undefined {
  const fault = locatorFault(typeName, locator);
  if (fault !== undefined) return { text: fault.text, rule: fault.rule ?? "C-REDIR-5" };
  return isGlob(locator)
    ? {
        text: "a glob has many resources, and a locator leads to one; name one of them",
        rule: "C-REDIR-6",
      }
    : undefined;
}

/** A reason as the details of a fault. */
export function faultDetails({ text, rule }: Reason): {
  readonly code: ProblemCode;
  readonly message: string;
  readonly rule?: string;
} {
  return { code: "bad-locator", message: text, ...(rule !== undefined && { rule }) };
}

function locatorOf(value: JsonValue, path: JsonPath, context: FolderContext): ParseResult<Locator> {
  if (!isObject(value))
    throw new Fault({
      code: "bad-locator",
      message: "a locator is a text or a message",
      path,
      hint: "write xdstp://AUTHORITY/TYPE/ID",
    });
  const message = messageFrom(ResourceLocatorSchema, withoutTexts(value, path), path, context);
  return locatorFromMessage(messageOf(message));
}

function messageOf(message: ResourceLocator): ResourceLocatorMessage {
  return toJson(ResourceLocatorSchema, message) as ResourceLocatorMessage;
}

/** The same message with the alternatives that are texts as messages. */
function withoutTexts({ directives, ...json }: JsonObject, path: JsonPath): JsonObject {
  if (!Array.isArray(directives)) return directives === undefined ? json : { ...json, directives };
  const read = directives.map((directive, index) => {
    if (!isObject(directive)) return directive;
    const { alt } = directive;
    const at = [...path, "directives", index, "alt"];
    if (isObject(alt)) return { ...directive, alt: withoutTexts(alt, at) };
    return typeof alt === "string" ? { ...directive, alt: altOf(alt, at) } : directive;
  });
  return { ...json, directives: read };
}

function altOf(text: string, path: JsonPath): JsonObject {
  const read = parseLocator(text);
  if (read.ok) return messageFromLocator(read.value) as unknown as JsonObject;
  throw new Fault({
    code: "bad-locator",
    message: `${quote(text)} is not a locator: ${read.error.message}`,
    path,
    rule: read.error.rule,
  });
}

function shownLocator(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
