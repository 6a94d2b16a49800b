import { createHash } from "node:crypto";
import {
  createRegistry,
  type DescMessage,
  fromBinary,
  type JsonValue,
  type Registry,
  toJson,
} from "@bufbuild/protobuf";
import { type StoredResource, XdsError } from "@xdstp/core";
import { ListCollectionSchema } from "@xdstp/protos/xds";
import { memberTypeOf, typeFromTypeUrl } from "@xdstp/uri";
import Negotiator from "negotiator";
import { stringify } from "yaml";

/** A form in which the content of a resource is sent. */
export type ContentForm = "json" | "yaml" | "protobuf";

/** The content of a resource in one form. */
export interface Content {
  readonly body: Uint8Array;
  /** A strong tag over version and body, with its quotes (S-HTTP-4). */
  readonly etag: string;
}

/** Chooses the form of an answer, and writes it. */
export interface ContentWriter {
  /**
   * Returns the form and media type for a resource: that of the parameter `form`, else of the
   * header `accept`, else JSON, or protobuf if the type of the resource is not in the registry.
   * Throws an XdsError, UNIMPLEMENTED, if there is none.
   */
  choose(
    typeUrl: string,
    form: string | undefined,
    accept: string | undefined,
  ): { readonly form: ContentForm; readonly mediaType: string };
  /**
   * Returns the content; the same object for all requests, as long as the resource exists.
   * Throws an XdsError, UNIMPLEMENTED, if a message inside the resource has an unknown type.
   */
  write(resource: StoredResource, form: ContentForm): Content;
}

/** Media types of each form; the first is the usual one. */
const mediaTypes: Readonly<Record<ContentForm, readonly [string, ...string[]]>> = {
  json: ["application/json"],
  yaml: ["application/yaml", "text/yaml", "application/x-yaml", "text/x-yaml"],
  protobuf: ["application/x-protobuf", "application/protobuf", "application/vnd.google.protobuf"],
};

const formOfMediaType = new Map(
  (["json", "yaml", "protobuf"] as const).flatMap((form) =>
    mediaTypes[form].map((mediaType) => [mediaType, form] as const),
  ),
);

/** Creates a writer that knows the types of a registry. */
export function createContentWriter(registry: Registry = createRegistry()): ContentWriter {
  const written = new WeakMap<StoredResource, Map<ContentForm, Content>>();
  const schemaOf = (typeUrl: string): DescMessage | undefined => {
    const type = typeFromTypeUrl(typeUrl) ?? "";
    // Every list collection has the fields of this message (B-LIST-1).
    const list = memberTypeOf(type) === undefined ? undefined : ListCollectionSchema;
    return registry.getMessage(type) ?? list;
  };
  const bodyOf = (resource: StoredResource, form: ContentForm): Uint8Array => {
    const { typeUrl, value } = resource.payload;
    if (form === "protobuf") return value;
    const schema = schemaOf(typeUrl);
    if (schema === undefined) throw unwritable(resource, form, "its type is not known");
    const json = readJson(resource, schema, registry, form);
    return new TextEncoder().encode(form === "json" ? JSON.stringify(json) : stringify(json));
  };
  return {
    choose(typeUrl, form, accept) {
      const forms: readonly ContentForm[] =
        schemaOf(typeUrl) === undefined ? ["protobuf"] : ["json", "yaml", "protobuf"];
      if (form !== undefined) {
        const named = forms.find((one) => one === form);
        if (named === undefined) throw noForm(`form=${form}`, forms);
        return { form: named, mediaType: mediaTypes[named][0] };
      }
      const available = forms.flatMap((one) => mediaTypes[one]);
      const negotiator = new Negotiator({ headers: { accept: accept ?? "*/*" } });
      const mediaType = negotiator.mediaType(available);
      const accepted = formOfMediaType.get(mediaType ?? "");
      if (mediaType === undefined || accepted === undefined)
        throw noForm(`accept: ${accept ?? ""}`, forms);
      return { form: accepted, mediaType };
    },
    write(resource, form) {
      const forms = written.get(resource) ?? new Map<ContentForm, Content>();
      written.set(resource, forms);
      const known = forms.get(form);
      if (known !== undefined) return known;
      const body = bodyOf(resource, form);
      const content = { body, etag: tagOf(resource.version, form, body) };
      forms.set(form, content);
      return content;
    },
  };
}

function readJson(
  resource: StoredResource,
  schema: DescMessage,
  registry: Registry,
  form: ContentForm,
): JsonValue {
  try {
    return toJson(schema, fromBinary(schema, resource.payload.value), { registry });
  } catch (error) {
    throw unwritable(resource, form, XdsError.from(error).text, error);
  }
}

function tagOf(version: string, form: ContentForm, body: Uint8Array): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([form, version]))
    .update(body);
  return `"${hash.digest("base64url").slice(0, 22)}"`;
}

function noForm(asked: string, forms: readonly ContentForm[]): XdsError {
  return new XdsError(
    "UNIMPLEMENTED",
    `the resource cannot be written as ${asked}; it can be written as ${forms.join(", ")}`,
    { rule: "S-HTTP-2" },
  );
}

function unwritable(
  { name, payload: { typeUrl } }: StoredResource,
  form: ContentForm,
  reason: string,
  cause?: unknown,
): XdsError {
  return new XdsError(
    "UNIMPLEMENTED",
    `${name} cannot be written as ${form}: ${reason}. Request it with form=protobuf, or give the server the type`,
    { typeUrl, resource: name, rule: "S-HTTP-2", cause },
  );
}
