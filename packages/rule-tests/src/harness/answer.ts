import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { readConstraints, textOfConstraints } from "@xdstp/core";
import {
  DynamicParameterConstraintsSchema,
  ResourceSchema,
  type DeltaDiscoveryResponse,
  type DiscoveryResponse,
  type Resource,
  type ResourceError,
  type ResourceName,
} from "@xdstp/protos/discovery";
import { nameIn, textIn } from "./payload.ts";

/** One resource of a response. */
export interface AnswerResource {
  readonly name: string;
  /** Empty in unwrapped SotW, which has none. */
  readonly version: string;
  /** The text of {@link payloadOf}. */
  readonly text: string;
  readonly payload: Uint8Array;
  /** The type URL of the payload; empty if there is none. */
  readonly payloadTypeUrl: string;
  /** It came inside a `Resource`: always in delta. */
  readonly wrapped: boolean;
  readonly aliases: readonly string[];
  readonly hasBody: boolean;
  /** The constraints of a variant as a text; absent: it came without. */
  readonly variant?: string;
  /** Milliseconds; absent: it has no TTL. */
  readonly ttlMs?: number;
}

/** A response of either variant. */
export interface Answer {
  readonly typeUrl: string;
  readonly nonce: string;
  /** `version_info` or `system_version_info`. */
  readonly version: string;
  readonly resources: readonly AnswerResource[];
  /** Names of the resources, in order. */
  readonly names: readonly string[];
  /** Always empty in SotW. A variant is `name{constraints}`. */
  readonly removed: readonly string[];
  /** The content of `resource_errors`. */
  readonly errors: readonly {
    readonly name: string;
    readonly code: number;
    readonly message: string;
  }[];
  /** `control_plane.identifier`, if there is one. */
  readonly controlPlane: string | undefined;
}

const WRAPPER = "type.googleapis.com/envoy.service.discovery.v3.Resource";

export function answerOfDelta({
  typeUrl,
  nonce,
  systemVersionInfo,
  resources,
  removedResources,
  removedResourceNames,
  resourceErrors,
  controlPlane,
}: DeltaDiscoveryResponse): Answer {
  return answerOf({
    typeUrl,
    nonce,
    version: systemVersionInfo,
    resources: resources.map(readWrapper),
    removed: [
      ...removedResources,
      ...removedResourceNames.map((removed) => `${removed.name}{${variantIn(removed) ?? ""}}`),
    ],
    errors: resourceErrors.map(readError),
    controlPlane: controlPlane?.identifier,
  });
}

export function answerOfSotw({
  typeUrl,
  nonce,
  versionInfo,
  resources,
  resourceErrors,
  controlPlane,
}: DiscoveryResponse): Answer {
  const read = resources.map((any) =>
    any.typeUrl === WRAPPER
      ? readWrapper(fromBinary(ResourceSchema, any.value))
      : readPayload(any.typeUrl, any.value),
  );
  return answerOf({
    typeUrl,
    nonce,
    version: versionInfo,
    resources: read,
    removed: [],
    errors: resourceErrors.map(readError),
    controlPlane: controlPlane?.identifier,
  });
}

function answerOf(answer: Omit<Answer, "names">): Answer {
  return { ...answer, names: answer.resources.map(({ name }) => name) };
}

function readError({ resourceName, errorDetail }: ResourceError): Answer["errors"][number] {
  return {
    name: resourceName?.name ?? "",
    code: errorDetail?.code ?? 0,
    message: errorDetail?.message ?? "",
  };
}

function variantIn({ dynamicParameterConstraints }: ResourceName): string | undefined {
  if (dynamicParameterConstraints === undefined) return undefined;
  const read = readConstraints(
    toBinary(DynamicParameterConstraintsSchema, dynamicParameterConstraints),
  );
  return "constraints" in read ? textOfConstraints(read.constraints) : read.fault;
}

function readWrapper({
  name: plain,
  resourceName,
  version,
  aliases,
  resource,
  ttl,
}: Resource): AnswerResource {
  const name = resourceName === undefined ? plain : resourceName.name;
  const variant = resourceName === undefined ? undefined : variantIn(resourceName);
  const payload = resource?.value ?? new Uint8Array();
  const timed = ttl === undefined ? {} : { ttlMs: Number(ttl.seconds) * 1000 + ttl.nanos / 1e6 };
  return {
    name,
    version,
    payload,
    payloadTypeUrl: resource?.typeUrl ?? "",
    text: textIn(payload),
    wrapped: true,
    aliases,
    hasBody: resource !== undefined,
    ...(variant !== undefined && { variant }),
    ...timed,
  };
}

function readPayload(payloadTypeUrl: string, payload: Uint8Array): AnswerResource {
  return {
    name: nameIn(payload),
    version: "",
    payload,
    payloadTypeUrl,
    text: textIn(payload),
    wrapped: false,
    aliases: [],
    hasBody: true,
  };
}
