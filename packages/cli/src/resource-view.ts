import {
  create,
  createRegistry,
  type JsonObject,
  type JsonValue,
  type Registry,
  toJson,
} from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { type AnyBytes, isDeeperThan } from "@xdstp/core";
import { withoutSecrets } from "@xdstp/protos/envoy";
import { CollectionEntrySchema, ListCollectionSchema } from "@xdstp/protos/xds";
import { memberTypeOf } from "@xdstp/uri";
import { escapeText } from "./short-text.ts";
import { yamlText } from "./yaml-text.ts";

/** A resource in a form that people can read. */
export interface ResourceView {
  /** The resource with `@type` and with field names as in Envoy's documentation. If it cannot be shown so, its type, and its bytes in base64 as `value`. */
  readonly json: JsonValue;
  /** The resource as YAML. */
  readonly yaml: string;
  /** Notes on the resource, one line each. */
  readonly notes: readonly string[];
}

/** The options of {@link viewResource}. */
export interface ViewOptions {
  readonly registry: Registry;
  readonly showSecrets: boolean;
}

/** Returns a resource as JSON and YAML. Secrets are redacted unless `showSecrets` is set. Secrets in a message of an unknown type cannot be found, and are shown as part of its bytes. */
export function viewResource(payload: AnyBytes, options: ViewOptions): ResourceView {
  if (!isListType(payload.typeUrl, options.registry)) return viewMessage(payload, options);
  const { json, notes } = viewMessage(
    { ...payload, typeUrl: listUrl },
    { ...options, registry: createRegistry(options.registry, ListCollectionSchema) },
  );
  const shown = { ...(json as JsonObject), "@type": payload.typeUrl };
  return viewOf(shown, notes);
}

/** The YAML is created when it is read. */
function viewOf(json: JsonValue, notes: readonly string[]): ResourceView {
  return {
    json,
    get yaml() {
      return yamlText(json);
    },
    notes,
  };
}

const listUrl = `type.googleapis.com/${ListCollectionSchema.typeName}`;

/** Returns true for a list collection. The messages of Envoy's list types declare a single entry but contain many; decoded as declared, only one entry would remain. A type of one's own does not need a declared list type. */
function isListType(typeUrl: string, registry: Registry): boolean {
  const name = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
  const declared = registry.getMessage(name);
  if (declared === undefined) return registry.getMessage(memberTypeOf(name) ?? "") !== undefined;
  const { fields } = declared;
  return (
    fields.length === 1 &&
    fields[0]?.number === 1 &&
    fields[0].message?.typeName === CollectionEntrySchema.typeName
  );
}

function viewMessage(payload: AnyBytes, { registry, showSecrets }: ViewOptions): ResourceView {
  const isKnown =
    registry.getMessage(payload.typeUrl.slice(payload.typeUrl.lastIndexOf("/") + 1)) !== undefined;
  const shown = showSecrets || !isKnown ? payload : blanked(payload, registry);
  if (shown === undefined) {
    return viewOf({ "@type": payload.typeUrl }, [
      "its content is not shown: it cannot be searched for secrets, because it cannot be read or is nested too deeply; --show-secrets shows its bytes",
    ]);
  }
  const secrets =
    shown === payload
      ? []
      : ["what may be secret is [redacted] or left out; --show-secrets shows it"];
  const { json, notes } = jsonOf(shown, registry, isKnown);
  return viewOf(json, [...secrets, ...notes]);
}

/** Returns the payload without secrets, or `undefined` if it cannot be searched for them. */
function blanked(payload: AnyBytes, registry: Registry): AnyBytes | undefined {
  try {
    return withoutSecrets(payload, registry);
  } catch {
    return undefined;
  }
}

/** The number of levels of nesting that are shown as JSON. An Any may contain another one, so the limit of a single message (100) does not apply. */
const maxDepth = 1_000;

function jsonOf(
  { typeUrl, value }: AnyBytes,
  registry: Registry,
  isKnown: boolean,
): Pick<ResourceView, "json" | "notes"> {
  const bytes = { "@type": typeUrl, value: Buffer.from(value).toString("base64") };
  if (!isKnown)
    return {
      json: bytes,
      notes: [
        `${nameOf(typeUrl)} is not known here, so these are its bytes in base64; --descriptors FILE makes it known`,
      ],
    };
  try {
    const json = toJson(AnySchema, create(AnySchema, { typeUrl, value }), {
      registry,
      useProtoFieldName: true,
    }) as JsonObject;
    if (isDeeperThan(json, maxDepth))
      return {
        json: bytes,
        notes: [`these are its bytes in base64: it is nested more than ${maxDepth} levels deep`],
      };
    return { json: { "@type": typeUrl, ...json }, notes: [] };
  } catch (error) {
    const inner = /(\S+) is not in the type registry/
      .exec(error instanceof Error ? error.message : "")?.[1]
      ?.replaceAll('"', "");
    const why =
      inner === undefined
        ? "it cannot be shown as JSON"
        : `it holds ${nameOf(inner)}, which is not known here; --descriptors FILE makes it known`;
    return { json: bytes, notes: [`these are its bytes in base64: ${why}`] };
  }
}

function nameOf(typeUrl: string): string {
  return escapeText(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
}
