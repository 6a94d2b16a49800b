import { createHash } from "node:crypto";
import { FlagdCore } from "@openfeature/flagd-core";
import { type Entry, type StoredResource, XdsError } from "@xdstp/core";

import type { FlagReader } from "./flag-reader.ts";

/** All flags of a collection at one time. */
export interface FlagDocument {
  /** The flag configuration of flagd, as JSON. */
  readonly json: string;
  /** A hash of `json`. */
  readonly hash: string;
  /** Evaluates the flags. */
  readonly core: FlagdCore;
}

/** A resource whose flags are not used. */
export interface RejectedFlags {
  /** The name of the resource, or of the collection if that is too large. */
  readonly name: string;
  /** The reason. */
  readonly reason: string;
}

/** Options of {@link createDocumentBuilder}. */
export interface DocumentOptions {
  readonly reader: FlagReader;
  /** The name of the collection, for errors. */
  readonly collection: string;
  /** The largest document, in bytes. */
  readonly documentBytes: number;
  readonly onRejected: (rejected: RejectedFlags) => void;
}

interface Part {
  /** The resource that was read last, valid or not. */
  readonly resource: StoredResource;
  /** The last valid definitions, as JSON. */
  readonly flags: ReadonlyMap<string, string>;
}

/** flagd-core reports to a logger what it also returns. */
const silent = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
};

/**
 * Creates a function that returns the document of the present members. It reads only resources that
 * have changed. If one is not valid, its last valid definitions stay, and the reason is reported
 * once. The same flags give the same object.
 */
export function createDocumentBuilder(
  options: DocumentOptions,
): (members: readonly Entry[]) => FlagDocument {
  const { reader, collection, documentBytes, onRejected } = options;
  let parts: ReadonlyMap<string, Part> = new Map();
  let reportedDoubles: ReadonlySet<string> = new Set();
  let document = compile("{}");

  const readPart = (name: string, resource: StoredResource): Part => {
    const known = parts.get(name);
    if (known?.resource === resource) return known;
    try {
      const { typeUrl, value } = resource.payload;
      if (typeUrl !== reader.typeUrl) throw new Error(`it is a ${typeUrl}`);
      const flags = Array.from(reader.read(value, keyOf(name)), ([key, definition]) => {
        const json = JSON.stringify(definition);
        checkFlag(key, definition, json);
        return [key, json] as const;
      });
      return { resource, flags: new Map(flags) };
    } catch (error) {
      onRejected({ name, reason: XdsError.from(error).text });
      return { resource, flags: known?.flags ?? new Map<string, string>() };
    }
  };

  return (members) => {
    const next = new Map<string, Part>();
    for (const { name, resource } of members)
      if (resource !== undefined) next.set(name, readPart(name, resource));
    parts = next;
    const flags = new Map<string, string>();
    const owners = new Map<string, string>();
    const doubles = new Set<string>();
    for (const [name, part] of [...parts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      for (const [key, json] of part.flags) {
        const owner = owners.get(key);
        if (owner === undefined) {
          owners.set(key, name);
          flags.set(key, json);
          continue;
        }
        const reason = `the flag "${key}" is also in ${owner}, which is used; rename one of them`;
        doubles.add(`${name}\n${reason}`);
        if (!reportedDoubles.has(`${name}\n${reason}`)) onRejected({ name, reason });
      }
    reportedDoubles = doubles;
    const json = `{${Array.from(flags, ([key, one]) => `${JSON.stringify(key)}:${one}`).join(",")}}`;
    const bytes = Buffer.byteLength(json);
    if (bytes > documentBytes)
      onRejected({
        name: collection,
        reason: `its flags have ${bytes} bytes and the limit documentBytes is ${documentBytes}; split the collection`,
      });
    else if (hashOf(wholeOf(json)) !== document.hash) document = compile(json);
    return document;
  };
}

function keyOf(name: string): string {
  const path = name.split(/[?#]/, 1)[0] ?? "";
  const last = path.slice(path.lastIndexOf("/") + 1);
  return decodeURIComponent(last);
}

/** Throws if flagd-core does not accept a definition. */
function checkFlag(key: string, definition: unknown, json: string): void {
  const { variants } = (definition ?? {}) as { readonly variants?: unknown };
  if (typeof variants !== "object" || variants === null)
    throw new Error(`${key}: variants is missing; give an object with a value for each variant`);
  const core = coreOf(`{${JSON.stringify(key)}:${json}}`);
  const found = core.getFlag(key)?.evaluate({ targetingKey: "" });
  if (found?.reason === "ERROR" && String(found.errorCode) === "PARSE_ERROR")
    throw new Error(`${key}: ${found.errorMessage}`);
}

function compile(flags: string): FlagDocument {
  const json = wholeOf(flags);
  return { json, hash: hashOf(json), core: coreOf(flags) };
}

function coreOf(flags: string): FlagdCore {
  // Without generated code, since targeting rules come from outside of the program.
  const core = new FlagdCore(undefined, silent, { disableDynamicCodeGeneration: true });
  try {
    core.setConfigurations(wholeOf(flags));
  } catch (error) {
    const { cause, message } = error as Error;
    throw new Error(cause instanceof Error ? cause.message : message, { cause: error });
  }
  return core;
}

function wholeOf(flags: string): string {
  return `{"flags":${flags}}`;
}

function hashOf(json: string): string {
  return createHash("sha256").update(json).digest("base64url").slice(0, 27);
}
