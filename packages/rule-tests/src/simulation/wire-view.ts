import { fromBinary } from "@bufbuild/protobuf";
import { type Reference } from "@xdstp/core";
import { decodeText, walkFields } from "@xdstp/core/wire";
import { hashBytes, scanRequest } from "@xdstp/protocol/server";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdstp/protos/discovery";

import { nameIn } from "../harness/payload.ts";
import { types } from "./types.ts";

/** The part of a response that the invariants read. The fields have the same numbers in both variants. */
export interface ResponseView {
  readonly typeUrl: string;
  readonly nonce: number;
  /** The hash of its content: of everything but the version of the whole and the nonce. */
  readonly hash: number;
  /** Reads its resources. */
  readonly content: () => ResponseContent;
}

/** The resources of a response. */
export interface ResponseContent {
  readonly names: readonly string[];
  /** The references of these resources. */
  readonly refersTo: readonly Reference[];
}

/** The part of a request that the invariants read. */
export interface RequestView {
  readonly typeUrl: string;
  /** NaN: none. */
  readonly nonce: number;
  readonly rejects: boolean;
  /** SotW: all subscribed names. Delta: the names that it subscribes to and unsubscribes from. */
  readonly names: readonly string[];
  /** Delta: the names that it unsubscribes from. SotW: always empty. */
  readonly drops: readonly string[];
}

const VERSION = 1;
const TYPE_URL = 4;
const NONCE = 5;

/** Reads a response. The version of the whole is its first field, the nonce its last. The variant counts for its content only. */
export function viewResponse(bytes: Uint8Array, variant: "delta" | "sotw" = "delta"): ResponseView {
  const view = { typeUrl: "", nonce: Number.NaN };
  let [start, end] = [0, bytes.length];
  walkFields(bytes, (field, from, to) => {
    if (field === VERSION) start = to;
    if (field === TYPE_URL) view.typeUrl = decodeText(bytes, from, to);
    if (field !== NONCE) return undefined;
    view.nonce = Number(decodeText(bytes, from, to));
    end = from;
    return undefined;
  });
  return {
    ...view,
    hash: hashBytes(bytes, start, end - 1),
    content: () => contentOf(view.typeUrl, payloadsIn(bytes, variant)),
  };
}

function contentOf(typeUrl: string, payloads: readonly Uint8Array[]): ResponseContent {
  const references = types.find((type) => type.typeUrl === typeUrl)?.references;
  return {
    names: payloads.map(nameIn),
    refersTo: payloads.flatMap((payload) => references?.(payload) ?? []),
  };
}

const WRAPPER = `type.googleapis.com/${ResourceSchema.typeName}`;

function payloadsIn(bytes: Uint8Array, variant: "delta" | "sotw"): readonly Uint8Array[] {
  if (variant === "delta")
    return fromBinary(DeltaDiscoveryResponseSchema, bytes).resources.flatMap(
      ({ resource }) => resource?.value ?? [],
    );
  return fromBinary(DiscoveryResponseSchema, bytes).resources.flatMap(({ typeUrl, value }) =>
    typeUrl === WRAPPER ? (fromBinary(ResourceSchema, value).resource?.value ?? []) : [value],
  );
}

/** Reads a request. A plain ACK is not decoded. */
export function viewRequest(bytes: Uint8Array, variant: "delta" | "sotw"): RequestView {
  const scan = scanRequest(bytes, variant);
  if (variant === "delta" && scan.plain)
    return {
      typeUrl: decodeText(bytes, scan.typeStart, scan.typeEnd),
      nonce: scan.nonce,
      rejects: false,
      names: [],
      drops: [],
    };
  if (variant === "delta") {
    const {
      typeUrl,
      responseNonce,
      errorDetail,
      resourceNamesSubscribe,
      resourceNamesUnsubscribe,
    } = fromBinary(DeltaDiscoveryRequestSchema, bytes);
    return {
      typeUrl,
      nonce: numberOf(responseNonce),
      rejects: errorDetail !== undefined,
      names: [...resourceNamesSubscribe, ...resourceNamesUnsubscribe],
      drops: resourceNamesUnsubscribe,
    };
  }
  const { typeUrl, responseNonce, errorDetail, resourceNames } = fromBinary(
    DiscoveryRequestSchema,
    bytes,
  );
  return {
    typeUrl,
    nonce: numberOf(responseNonce),
    rejects: errorDetail !== undefined,
    names: resourceNames,
    drops: [],
  };
}

/** The variant of a connection stands in its address. */
export function variantOf({ address }: { readonly address: string }): "delta" | "sotw" {
  return address.endsWith("delta") ? "delta" : "sotw";
}

function numberOf(nonce: string): number {
  return nonce === "" ? Number.NaN : Number(nonce);
}
