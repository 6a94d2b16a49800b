import { type JsonObject, toBinary } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import {
  DynamicParameterConstraintsSchema,
  MetadataSchema,
  type Resource as WrapperMessage,
} from "@xdstp/protos/discovery";
import { readConstraints, type Resource } from "@xdstp/core";
import { Fault, type JsonPath, quote } from "./folder-problem.ts";
import type { TypeFolder } from "./place.ts";

/** A resource in a file, before its name and payload are checked. */
export interface Candidate {
  /** The type of the payload: that of the folder, or that of redirects. */
  readonly type: TypeFolder;
  /** The payload: JSON, which is encoded later, or bytes, which are kept. */
  readonly content: { readonly json: JsonObject } | { readonly bytes: Uint8Array };
  /** The properties in its wrapper. Absent: it has no wrapper. */
  readonly facts?: WrapperFacts;
  /** true: it is the only resource of its file, so the path names it if nothing else does. false: its wrapper or its payload has to contain its name. */
  readonly alone: boolean;
  /** The number of the document with the payload. */
  readonly document: number;
  readonly path: JsonPath;
}

/** The properties of a resource in an `envoy.service.discovery.v3.Resource`. `name` is empty if it has none. */
export type WrapperFacts = Omit<Resource, "payload">;

/** Reads and checks a wrapper. Throws a fault for two names, a TTL that is not positive, an invalid alias, and constraints that leave it open which clients match. */
export function wrapperFacts(message: WrapperMessage): WrapperFacts {
  const { resourceName, version, aliases, ttl, cacheControl, metadata } = message;
  const constraints = resourceName?.dynamicParameterConstraints;
  return {
    name: nameOf(message),
    version,
    ...(aliases.length > 0 && { aliases: checkedAliases(aliases) }),
    ...(ttl && { ttlMs: millisecondsOf(ttl) }),
    ...(cacheControl?.doNotCache && { noStore: true }),
    ...(constraints && {
      constraints: checkedConstraints(toBinary(DynamicParameterConstraintsSchema, constraints)),
    }),
    ...(metadata && { metadata: toBinary(MetadataSchema, metadata) }),
  };
}

function nameOf({ name, resourceName }: WrapperMessage): string {
  if (name === "" || resourceName === undefined)
    return name === "" ? (resourceName?.name ?? "") : name;
  throw new Fault({
    code: "bad-wrapper",
    message: "has both a name and a resource_name",
    path: ["resource_name"],
    hint: "keep one of them",
  });
}

function checkedConstraints(constraints: Uint8Array): Uint8Array {
  const { fault } = readConstraints(constraints);
  if (fault === undefined) return constraints;
  throw new Fault({
    code: "bad-constraints",
    message: `it is not clear which clients these constraints are for: ${fault}`,
    path: ["resource_name", "dynamic_parameter_constraints"],
    rule: "B-DYN-3",
    hint: "give each key a value, or exists: {}",
  });
}

function checkedAliases(aliases: readonly string[]): readonly string[] {
  aliases.forEach((alias, index) => {
    const path = ["aliases", index];
    if (alias === "" || alias === "*")
      throw new Fault({
        code: "bad-wrapper",
        message: `the alias ${quote(alias)} is not a name`,
        path,
      });
    if (aliases.indexOf(alias) < index)
      throw new Fault({
        code: "bad-wrapper",
        message: `the alias ${quote(alias)} occurs twice`,
        path,
      });
  });
  return aliases;
}

function millisecondsOf({ seconds, nanos }: Duration): number {
  const ms = Math.ceil(Number(seconds) * 1_000 + nanos / 1e6);
  if (ms > 0) return ms;
  throw new Fault({
    code: "bad-wrapper",
    message: "a TTL is more than 0 seconds",
    path: ["ttl"],
    hint: "leave it out for a resource that does not expire",
  });
}
