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

/** A locator in a file. */
export interface LocatorInFile {
  /** The locator as a message in JSON. It is equal for the text form and the message form of one locator. */
  readonly json: JsonObject;
  readonly locator: Locator;
}

/**
 * Reads a locator of a resource of a type. It is a text or a `ResourceLocator`, whose alternatives may be texts too (N-82).
 * Throws a fault for an invalid locator, another type (C-REDIR-5), and a glob (C-REDIR-6, C-LIST-7).
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

/** Returns the locator in the bytes of a redirect, or the reason why they are not a locator. */
export function locatorOfBytes(bytes: Uint8Array): Locator | Reason {
  const located = readRedirect(bytes);
  if (!located.ok) return { text: `it is not a locator: ${located.reason}` };
  const read = locatorFromMessage(
    located.value.form === "text" ? located.value.text : messageOf(located.value.message),
  );
  return read.ok ? read.value : { text: read.error.message, rule: read.error.rule };
}

/** Returns the locator in the bytes of a list entry, in text form or message form. No message begins with the bytes of a URL scheme (N-82). */
export function locatorOfEntry(bytes: Uint8Array): Locator | Reason {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  const read = isLocatorText(text)
    ? parseLocator(text)
    : locatorFromMessage(messageOf(fromBinary(ResourceLocatorSchema, bytes)));
  return read.ok ? read.value : { text: read.error.message, rule: read.error.rule };
}

/** Returns the reason why a locator in a file cannot be used for a type, or `undefined` if it can. */
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

/** Returns a reason as the details of a fault. */
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

/** Returns the same message with alternatives as messages in place of texts. */
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
