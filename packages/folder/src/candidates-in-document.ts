import {
  type DescMessage,
  fromBinary,
  type JsonObject,
  type JsonValue,
  type MessageShape,
} from "@bufbuild/protobuf";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { anyFromJson } from "@xdstp/protos/envoy";
import { typeUrlOf } from "@xdstp/resource-types";
import { type Candidate, type WrapperFacts, wrapperFacts } from "./candidate.ts";
import { isObject, type ReadDocument } from "./documents-of.ts";
import { Fault, type JsonPath, located, quote } from "./folder-problem.ts";
import type { FolderContext } from "./folder-context.ts";
import type { Place } from "./place.ts";
import { explainJsonError } from "./json-reason.ts";

/**
 * The resources of one document: the document itself, the payload of an `envoy.service.discovery.v3.Resource`, or the members of a `DiscoveryResponse`.
 * `@type` says which; where it is left out, the fields do. Throws a fault for another type and for a wrapper that is broken.
 */
export function candidatesInDocument(
  document: ReadDocument,
  alone: boolean,
  place: Place,
  context: FolderContext,
): readonly Candidate[] {
  const { json, index } = document;
  if (kindOf(json, [], place) !== "response")
    return [inObject(json, [], { alone, index, place, context })];
  return membersOf(json, place, context).map((member, i) => {
    const path = ["resources", i];
    if (!isObject(member)) throw new Fault({ message: "a member of resources is a message", path });
    return inObject(member, path, { alone: false, index, place, context });
  });
}

interface Surroundings {
  readonly alone: boolean;
  readonly index: number;
  readonly place: Place;
  readonly context: FolderContext;
}

function inObject(
  json: JsonObject,
  path: JsonPath,
  { alone, index, place, context }: Surroundings,
): Candidate {
  const kind = kindOf(json, path, place);
  if (kind === "response")
    throw new Fault({ message: "a DiscoveryResponse inside a DiscoveryResponse", path });
  if (kind === "payload") return { content: { json }, alone, document: index, path };
  const payload = json.resource;
  if (!isObject(payload))
    throw new Fault({
      message: "has no resource",
      path,
      hint: "a Resource holds its payload in the field resource",
    });
  const inner = [...path, "resource"];
  if (kindOf(payload, inner, place) !== "payload")
    throw new Fault({ message: "a wrapper inside a Resource", path: inner });
  return {
    content: { json: payload },
    facts: factsOf(json, path, context),
    alone,
    document: index,
    path: inner,
  };
}

function kindOf(
  json: JsonObject,
  path: JsonPath,
  place: Place,
): "payload" | "resource" | "response" {
  const { desc } = place.type;
  const stated = json["@type"];
  if (stated === undefined) return kindByFields(json, place);
  const name = typeof stated === "string" ? stated.slice(stated.lastIndexOf("/") + 1) : "";
  if (name === desc.typeName) return "payload";
  if (name === ResourceSchema.typeName) return "resource";
  if (name === DiscoveryResponseSchema.typeName) return "response";
  throw new Fault({
    message: `the @type is ${quote(typeof stated === "string" ? stated : JSON.stringify(stated))}, but this folder holds ${desc.typeName}`,
    path: [...path, "@type"],
    rule: "C-TYPE-4",
    hint: "move the file, or leave @type out",
  });
}

function kindByFields(json: JsonObject, place: Place): "payload" | "resource" | "response" {
  const has = (field: string): boolean =>
    place.type.desc.fields.some(({ name, jsonName }) => name === field || jsonName === field);
  if (isObject(json.resource) && !has("resource")) return "resource";
  return Array.isArray(json.resources) && !has("resources") ? "response" : "payload";
}

function membersOf(json: JsonObject, place: Place, context: FolderContext): readonly JsonValue[] {
  const { resources = [] } = json;
  if (!Array.isArray(resources))
    throw new Fault({ message: "resources is a list", path: ["resources"] });
  const { typeUrl, resourceErrors } = messageFrom(
    DiscoveryResponseSchema,
    without(json, "resources"),
    [],
    context,
  );
  if (typeUrl !== "" && typeUrl !== place.type.typeUrl) {
    throw new Fault({
      message: `the type_url is ${quote(typeUrl)}, but this folder holds ${place.type.typeUrl}`,
      path: ["type_url"],
      rule: "C-TYPE-4",
    });
  }
  if (resourceErrors.length > 0)
    throw new Fault({
      message: "a file cannot give resource_errors",
      path: ["resource_errors"],
      hint: "leave the resource out",
    });
  return resources;
}

function factsOf(json: JsonObject, path: JsonPath, context: FolderContext): WrapperFacts {
  const message = messageFrom(ResourceSchema, without(json, "resource"), path, context);
  return located(() => wrapperFacts(message), { path });
}

function messageFrom<Desc extends DescMessage>(
  desc: Desc,
  json: JsonObject,
  path: JsonPath,
  { registry }: FolderContext,
): MessageShape<Desc> {
  try {
    return fromBinary(
      desc,
      anyFromJson({ ...json, "@type": typeUrlOf(desc.typeName) }, registry).value,
    );
  } catch (error) {
    throw explainJsonError(error, { path }, registry);
  }
}

function without(json: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([name]) => name !== key));
}
