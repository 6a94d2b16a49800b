import { fromBinary } from "@bufbuild/protobuf";
import { decodeText, walkFields, WireType } from "@xdstp/core/wire";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdstp/protos/discovery";
import type { Variant } from "./recording.ts";

/** One resource of a response. */
export interface ReadResource {
  /**
   * The name of the resource. If the response does not give a name, it is `#` and the place of the
   * resource in the response.
   */
  readonly name: string;
  /** The version of the resource, or empty if it has none. */
  readonly version: string;
  /** The type URL of the payload, or empty if there is no payload. */
  readonly type: string;
  /** The bytes of the payload. */
  readonly payload: Uint8Array;
}

/** A request of the delta or the SotW variant. */
export type ReadRequest = ReturnType<typeof readRequest>;

/** A response of the delta or the SotW variant. */
export interface ReadResponse {
  /** The `type_url` of the response. */
  readonly type: string;
  /** The nonce of the response. */
  readonly nonce: string;
  /** The `version_info` (SotW) or `system_version_info` (delta) of the response. */
  readonly version: string;
  /** The resources of the response. */
  readonly resources: readonly ReadResource[];
  /** The names of the removed resources. Empty in SotW, which does not send them. */
  readonly removed: readonly string[];
}

/** Decodes a request. Throws if the bytes are not a request. */
export function readRequest(
  variant: "delta" | "sotw",
  bytes: Uint8Array,
): {
  /** The `type_url` of the request, or empty if it has none. */
  readonly type: string;
  /** The nonce of the response that this request answers, or empty if it answers none. */
  readonly nonce: string;
  /** The error message of a NACK. Absent if the request is not a NACK. */
  readonly error?: string;
  /** Delta: the names of the added subscriptions. SotW: the names of all subscriptions. */
  readonly names: readonly string[];
  /** The names that the client unsubscribes from. Empty in SotW, which does not send them. */
  readonly dropped: readonly string[];
} {
  if (variant === "sotw") {
    const { typeUrl, responseNonce, errorDetail, resourceNames, resourceLocators } = fromBinary(
      DiscoveryRequestSchema,
      bytes,
    );
    return {
      type: typeUrl,
      nonce: responseNonce,
      names: [...resourceNames, ...resourceLocators.map(({ name }) => name)],
      dropped: [],
      ...(errorDetail !== undefined && { error: errorDetail.message }),
    };
  }
  const request = fromBinary(DeltaDiscoveryRequestSchema, bytes);
  return {
    type: request.typeUrl,
    nonce: request.responseNonce,
    names: [
      ...request.resourceNamesSubscribe,
      ...request.resourceLocatorsSubscribe.map(({ name }) => name),
    ],
    dropped: [
      ...request.resourceNamesUnsubscribe,
      ...request.resourceLocatorsUnsubscribe.map(({ name }) => name),
    ],
    ...(request.errorDetail !== undefined && { error: request.errorDetail.message }),
  };
}

/** Decodes a response. Throws if the bytes are not a response. */
export function readResponse(variant: Variant, bytes: Uint8Array): ReadResponse {
  if (variant === "sotw") {
    const { typeUrl, nonce, versionInfo, resources } = fromBinary(DiscoveryResponseSchema, bytes);
    return {
      type: typeUrl,
      nonce,
      version: versionInfo,
      resources: resources.map(({ typeUrl: type, value }, index) =>
        sotwResource(type, value, index),
      ),
      removed: [],
    };
  }
  const { typeUrl, nonce, systemVersionInfo, resources, removedResources, removedResourceNames } =
    fromBinary(DeltaDiscoveryResponseSchema, bytes);
  return {
    type: typeUrl,
    nonce,
    version: systemVersionInfo,
    removed: [...removedResources, ...removedResourceNames.map(({ name }) => name)],
    resources: resources.map(({ name, resourceName, version, resource }) => ({
      name: resourceName?.name ?? name,
      version,
      type: resource?.typeUrl ?? "",
      payload: resource?.value ?? new Uint8Array(),
    })),
  };
}

/**
 * The type URL of the `Resource` wrapper, which gives the name and the version of a SotW resource.
 */
export const wrapperType = "type.googleapis.com/envoy.service.discovery.v3.Resource";

function sotwResource(type: string, value: Uint8Array, index: number): ReadResource {
  if (type !== wrapperType)
    return { name: nameIn(value) ?? `#${index}`, version: "", type, payload: value };
  const { name, version, resource } = fromBinary(ResourceSchema, value);
  return {
    name,
    version,
    type: resource?.typeUrl ?? "",
    payload: resource?.value ?? new Uint8Array(),
  };
}

/**
 * Returns the name in a payload. In each Envoy type that has a name, the name is the first field.
 */
function nameIn(payload: Uint8Array): string | undefined {
  let name: string | undefined;
  walkFields(payload, (field, start, end, wireType) => {
    if (field === 1 && wireType === WireType.LENGTH_DELIMITED)
      name = decodeText(payload, start, end);
    return undefined;
  });
  return name === "" ? undefined : name;
}

/** A summary of a message, for people and for search. */
interface MessageSummary {
  readonly type: string;
  readonly nonce: string;
  readonly text: string;
}

/** The largest number of names that a summary lists. */
const mostNames = 10;

/** Returns a summary of a request, or a note that the bytes are not a request. */
export function describeRequest(variant: Variant, bytes: Uint8Array): MessageSummary {
  return described(
    () => readRequest(variant, bytes),
    (request) => requestText(request, variant),
  );
}

/** Returns a summary of a response, or a note that the bytes are not a response. */
export function describeResponse(variant: Variant, bytes: Uint8Array): MessageSummary {
  return described(() => readResponse(variant, bytes), responseText);
}

function described<T extends { readonly type: string; readonly nonce: string }>(
  read: () => T,
  text: (message: T) => string,
): MessageSummary {
  try {
    const message = read();
    return { type: message.type, nonce: message.nonce, text: text(message) };
  } catch {
    return { type: "", nonce: "", text: "bytes that are not a message of this variant" };
  }
}

function requestText({ nonce, error, names, dropped }: ReadRequest, variant: Variant): string {
  const answer =
    nonce === "" ? [] : [error === undefined ? `ACK ${nonce}` : `NACK ${nonce}: ${error}`];
  const asked =
    names.length === 0
      ? []
      : [`${variant === "sotw" ? "is subscribed to" : "subscribes to"} ${listed(names)}`];
  const left = dropped.length === 0 ? [] : [`unsubscribes from ${listed(dropped)}`];
  const parts = [...answer, ...asked, ...left];
  return parts.length === 0 ? "subscribes to everything" : parts.join("; ");
}

function responseText({ version, resources, removed }: ReadResponse): string {
  const came = `${resources.length} resource${resources.length === 1 ? "" : "s"}${resources.length === 0 ? "" : ` (${listed(resources.map(({ name }) => name))})`}`;
  return [
    `version ${version === "" ? "none" : version}`,
    came,
    ...(removed.length === 0 ? [] : [`removed ${listed(removed)}`]),
  ].join("; ");
}

function listed(names: readonly string[]): string {
  const more = names.length - mostNames;
  return `${names.slice(0, mostNames).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
