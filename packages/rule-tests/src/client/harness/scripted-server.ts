import { create, toBinary } from "@bufbuild/protobuf";
import {
  ResourceSchema,
  type DeltaDiscoveryRequest,
  type DiscoveryRequest,
} from "@xdstp/protos/discovery";
import {
  createRawDeltaServer,
  createRawSotwServer,
  type RawMessages,
  type RawServer,
} from "@xdstp/testing";
import { payloadOf } from "../../harness/payload.ts";

/** The protocol variants of a client. */
export type ClientVariantName = "delta" | "sotw";

/** A request of either variant. */
export interface Asked {
  readonly typeUrl: string;
  readonly nonce: string;
  /** Names: in delta those to subscribe to, in SotW all of them. */
  readonly names: readonly string[];
  /** In delta; always empty in SotW. */
  readonly dropped: readonly string[];
  /** The subscriptions with parameters. */
  readonly locators: readonly (readonly [
    name: string,
    parameters: Readonly<Record<string, string>>,
  ])[];
  /** `version_info`; always empty in delta. */
  readonly version: string;
  /** `initial_resource_versions`; always empty in SotW. */
  readonly versions: Readonly<Record<string, string>>;
  /** Id of the node. Absent: the request has none. */
  readonly node?: string;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A resource to send. */
export interface Sent {
  readonly name: string;
  /** Default: that of the response. */
  readonly version?: string;
  /** Default: empty. null: it has no body. */
  readonly text?: string | null;
  readonly ttlMs?: number;
  readonly aliases?: readonly string[];
  /** Default: that of the response. */
  readonly payloadType?: string;
  /** Default: a payload with name and text. */
  readonly value?: Uint8Array;
  readonly constraints?: { readonly key: string; readonly value: string };
  /** SotW: the payload itself, not a `Resource` around it. */
  readonly bare?: boolean;
}

/** A response to send. */
export interface Reply {
  readonly nonce?: string;
  /** Default: the nonce. */
  readonly version?: string;
  readonly resources?: readonly Sent[];
  /** Delta only. */
  readonly removed?: readonly string[];
  /** Names with codes. */
  readonly errors?: readonly (readonly [name: string, code: number, text?: string])[];
  readonly identifier?: string;
  /** SotW only. */
  readonly canary?: boolean;
}

/** A server of either variant that does what a test says. */
export interface ScriptedServer {
  readonly raw: RawServer<"delta"> | RawServer<"sotw">;
  /** The oldest request that was not read yet. Throws where there is none. */
  next(): Asked;
  /** All that were not read yet. */
  rest(): readonly Asked[];
  /** Each response has a nonce of its own, `n1` and so on, unless it is given one. Returns it. */
  reply(typeUrl: string, reply: Reply): string;
}

/** Nobody has connected yet. */
export function createScriptedServer(variant: ClientVariantName): ScriptedServer {
  let count = 0;
  const nonceOf = ({ nonce }: Reply): string => nonce ?? `n${++count}`;
  if (variant === "delta") {
    const raw = createRawDeltaServer();
    return {
      raw,
      next: () => askedOfDelta(raw.next()),
      rest: () => raw.rest().map(askedOfDelta),
      reply(typeUrl, reply) {
        const nonce = nonceOf(reply);
        raw.send(deltaResponse(typeUrl, nonce, reply));
        return nonce;
      },
    };
  }
  const raw = createRawSotwServer();
  return {
    raw,
    next: () => askedOfSotw(raw.next()),
    rest: () => raw.rest().map(askedOfSotw),
    reply(typeUrl, reply) {
      const nonce = nonceOf(reply);
      raw.send(sotwResponse(typeUrl, nonce, reply));
      return nonce;
    },
  };
}

const WRAPPER = "type.googleapis.com/envoy.service.discovery.v3.Resource";

/** The encoding of a response, for tests that spoil it. */
export function deltaResponse(
  typeUrl: string,
  nonce: string,
  { version = nonce, resources = [], removed = [], errors = [], identifier }: Reply,
): RawMessages["delta"]["responseInit"] {
  return {
    typeUrl,
    nonce,
    systemVersionInfo: version,
    resources: resources.map((sent) => resourceOf(typeUrl, version, sent)),
    removedResources: [...removed],
    resourceErrors: errors.map(errorOf),
    ...(identifier === undefined ? {} : { controlPlane: { identifier } }),
  };
}

function sotwResponse(
  typeUrl: string,
  nonce: string,
  { version = nonce, resources = [], errors = [], identifier, canary = false }: Reply,
): RawMessages["sotw"]["responseInit"] {
  return {
    typeUrl,
    nonce,
    versionInfo: version,
    canary,
    resourceErrors: errors.map(errorOf),
    resources: resources.map((sent) =>
      sent.bare === true
        ? anyOf(typeUrl, sent)
        : {
            typeUrl: WRAPPER,
            value: toBinary(
              ResourceSchema,
              create(ResourceSchema, resourceOf(typeUrl, version, sent)),
            ),
          },
    ),
    ...(identifier === undefined ? {} : { controlPlane: { identifier } }),
  };
}

function anyOf(
  typeUrl: string,
  { name, text, payloadType = typeUrl, value = payloadOf(name, text ?? "") }: Sent,
): { typeUrl: string; value: Uint8Array } {
  return { typeUrl: payloadType, value };
}

function resourceOf(
  typeUrl: string,
  version: string,
  sent: Sent,
): NonNullable<RawMessages["delta"]["responseInit"]["resources"]>[number] {
  const { name, ttlMs, aliases = [], constraints } = sent;
  return {
    name,
    version: sent.version ?? version,
    aliases: [...aliases],
    ...(sent.text === null ? {} : { resource: anyOf(typeUrl, sent) }),
    ...(ttlMs === undefined
      ? {}
      : {
          ttl: { seconds: BigInt(Math.floor(ttlMs / 1_000)), nanos: (ttlMs % 1_000) * 1_000_000 },
        }),
    ...(constraints === undefined
      ? {}
      : {
          resourceName: {
            name,
            dynamicParameterConstraints: {
              type: {
                case: "constraint" as const,
                value: {
                  key: constraints.key,
                  constraintType: { case: "value" as const, value: constraints.value },
                },
              },
            },
          },
        }),
  };
}

function errorOf([name, code, message = "because"]: readonly [
  string,
  number,
  string?,
]): NonNullable<RawMessages["delta"]["responseInit"]["resourceErrors"]>[number] {
  return { resourceName: { name }, errorDetail: { code, message } };
}

function askedOfDelta(request: DeltaDiscoveryRequest): Asked {
  return {
    typeUrl: request.typeUrl,
    nonce: request.responseNonce,
    names: request.resourceNamesSubscribe,
    dropped: request.resourceNamesUnsubscribe,
    version: "",
    versions: request.initialResourceVersions,
    locators: request.resourceLocatorsSubscribe.map(({ name, dynamicParameters }) => [
      name,
      dynamicParameters,
    ]),
    ...both(request),
  };
}

function askedOfSotw(request: DiscoveryRequest): Asked {
  return {
    typeUrl: request.typeUrl,
    nonce: request.responseNonce,
    names: request.resourceNames,
    dropped: [],
    version: request.versionInfo,
    versions: {},
    locators: request.resourceLocators.map(({ name, dynamicParameters }) => [
      name,
      dynamicParameters,
    ]),
    ...both(request),
  };
}

function both({
  node,
  errorDetail,
}: DeltaDiscoveryRequest | DiscoveryRequest): Pick<Asked, "node" | "error"> {
  return {
    ...(node === undefined ? {} : { node: node.id }),
    ...(errorDetail === undefined
      ? {}
      : { error: { code: errorDetail.code, message: errorDetail.message } }),
  };
}
