import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { type Candidate, type WrapperFacts, wrapperFacts } from "./candidate.ts";
import { isLocatorText, isObject, type ReadDocument } from "./documents-of.ts";
import { Fault, type JsonPath, located, quote } from "./folder-problem.ts";
import type { FolderContext } from "./folder-context.ts";
import { type Place, redirectType } from "./place.ts";
import { messageFrom } from "./json-reason.ts";
import { listInFile } from "./list-in-file.ts";
import { locatorInFile } from "./locators.ts";

/**
 * Returns the resources of one document: the document itself, the payload of an `envoy.service.discovery.v3.Resource`, or the members of a `DiscoveryResponse`.
 * A redirect (C-REDIR-1) may replace a payload. It is a text `xdstp://...` or a `xds.core.v3.ResourceLocator`.
 * `@type` selects the form; without it, the fields do. Throws a fault for another type and for an invalid wrapper.
 */
export function candidatesInDocument(
  document: ReadDocument,
  alone: boolean,
  place: Place,
  context: FolderContext,
): readonly Candidate[] {
  const { json, index } = document;
  const surroundings = { alone, index, place, context };
  if (typeof json === "string") return [redirect(json, [], surroundings)];
  if (kindOf(json, [], place) !== "response") return [inObject(json, [], surroundings)];
  return membersOf(json, place, context).map((member, i) => {
    const path = ["resources", i];
    if (!isObject(member))
      throw new Fault({
        code: "not-a-message",
        message: "a member of resources is a message",
        path,
      });
    return inObject(member, path, { ...surroundings, alone: false });
  });
}

interface Surroundings {
  readonly alone: boolean;
  readonly index: number;
  readonly place: Place;
  readonly context: FolderContext;
}

function inObject(json: JsonObject, path: JsonPath, surroundings: Surroundings): Candidate {
  const { place, context } = surroundings;
  const kind = kindOf(json, path, place);
  if (kind === "response")
    throw new Fault({
      code: "bad-wrapper",
      message: "a DiscoveryResponse inside a DiscoveryResponse",
      path,
    });
  if (kind === "redirect") return redirect(json, path, surroundings);
  if (kind === "payload") return payloadIn(json, path, surroundings);
  const payload = json.resource;
  const inner = [...path, "resource"];
  const facts = (): WrapperFacts => factsOf(json, path, context);
  if (isLocatorText(payload)) return { ...redirect(payload, inner, surroundings), facts: facts() };
  if (!isObject(payload))
    throw new Fault({
      code: "bad-wrapper",
      message: "has no resource",
      path,
      hint: "a Resource holds its payload in the field resource",
    });
  const payloadKind = kindOf(payload, inner, place);
  if (payloadKind !== "payload" && payloadKind !== "redirect")
    throw new Fault({ code: "bad-wrapper", message: "a wrapper inside a Resource", path: inner });
  const read = payloadKind === "payload" ? payloadIn : redirect;
  return { ...read(payload, inner, surroundings), facts: facts() };
}

function payloadIn(
  json: JsonObject,
  path: JsonPath,
  { alone, index, place: { type }, context }: Surroundings,
): Candidate {
  const content =
    type.form === "list" ? located(() => listInFile(json, type, context), { path }) : json;
  return { type, content: { json: content }, alone, document: index, path };
}

function redirect(
  locator: JsonObject | string,
  path: JsonPath,
  { alone, index, place, context }: Surroundings,
): Candidate {
  const { json } = locatorInFile(
    typeof locator === "string" ? locator : without(locator, "@type"),
    path,
    { typeName: place.type.name, context },
  );
  return { type: redirectType, content: { json }, alone, document: index, path };
}

function kindOf(
  json: JsonObject,
  path: JsonPath,
  place: Place,
): "payload" | "redirect" | "resource" | "response" {
  const { type } = place;
  const stated = json["@type"];
  if (stated === undefined) return kindByFields(json, place);
  const name = typeof stated === "string" ? stated.slice(stated.lastIndexOf("/") + 1) : "";
  if (name === type.name) return "payload";
  if (name === redirectType.name) return "redirect";
  if (name === ResourceSchema.typeName) return "resource";
  if (name === DiscoveryResponseSchema.typeName) return "response";
  throw new Fault({
    code: "wrong-type",
    message: `the @type is ${quote(typeof stated === "string" ? stated : JSON.stringify(stated))}, but this folder holds ${type.name}`,
    path: [...path, "@type"],
    rule: "C-TYPE-4",
    hint: "move the file, or leave @type out",
  });
}

function kindByFields(json: JsonObject, place: Place): "payload" | "resource" | "response" {
  const has = (field: string): boolean =>
    place.type.desc.fields.some(({ name, jsonName }) => name === field || jsonName === field);
  if ((isObject(json.resource) || isLocatorText(json.resource)) && !has("resource"))
    return "resource";
  return Array.isArray(json.resources) && !has("resources") ? "response" : "payload";
}

function membersOf(json: JsonObject, place: Place, context: FolderContext): readonly JsonValue[] {
  const { resources = [] } = json;
  if (!Array.isArray(resources))
    throw new Fault({ code: "bad-wrapper", message: "resources is a list", path: ["resources"] });
  const { typeUrl, resourceErrors } = messageFrom(
    DiscoveryResponseSchema,
    without(json, "resources"),
    [],
    context,
  );
  if (typeUrl !== "" && typeUrl !== place.type.typeUrl) {
    throw new Fault({
      code: "wrong-type",
      message: `the type_url is ${quote(typeUrl)}, but this folder holds ${place.type.typeUrl}`,
      path: ["type_url"],
      rule: "C-TYPE-4",
    });
  }
  if (resourceErrors.length > 0)
    throw new Fault({
      code: "bad-wrapper",
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

function without(json: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([name]) => name !== key));
}
