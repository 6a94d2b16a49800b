import { walkFields } from "@xdstp/core/wire";
import { type Resource, type StoredResource, XdsError } from "@xdstp/core";

import { createDecoder, type Decoder } from "../decoder.ts";
import type { Hub } from "../hub.ts";
import { watchedType, type TypeSource } from "../watch.ts";
import { type ResourceFault, typeFault } from "./faults.ts";

/** Checks and decodes the payloads of a walk. */
export interface PartDecoders {
  /** Returns the decoder of a type. For a type without a schema, its messages are the payloads. */
  of(typeUrl: string): Decoder<unknown>;
  /**
   * Returns the reason why a resource is rejected when it arrives (C-ACK-5), or `undefined` if it
   * is accepted.
   */
  check(typeUrl: string, resource: Resource, name: string): XdsError | undefined;
  /**
   * Returns the reason why a cached resource cannot be used: it may have arrived before there was a
   * check.
   */
  faultOf(typeUrl: string, resource: StoredResource): XdsError | undefined;
}

/**
 * Creates the decoders for the types that a program has schemas for. They are those of the hub, so
 * each resource is decoded once.
 */
export function createPartDecoders(
  hub: Hub,
  sources: readonly TypeSource<unknown>[],
  resourceFault: ResourceFault,
): PartDecoders {
  const decoders = new Map(
    sources.map((source) => {
      const type = watchedType(source);
      return [type.typeUrl, hub.decoder<unknown>(source, type)] as const;
    }),
  );
  const of = (typeUrl: string): Decoder<unknown> => {
    const known = decoders.get(typeUrl) ?? createPlainDecoder(typeUrl);
    decoders.set(typeUrl, known);
    return known;
  };
  /** The results for cached resources; each is checked once. */
  const judged = new WeakMap<Resource, { readonly fault: XdsError | undefined }>();
  const judge = (typeUrl: string, resource: Resource, name: string): XdsError | undefined => {
    const fault = resourceFault(typeUrl, name, resource.payload.value);
    return fault === undefined
      ? undefined
      : new XdsError("INVALID_ARGUMENT", fault.text, {
          typeUrl,
          resource: name,
          rule: fault.rule,
        });
  };
  const judgeHeld = (typeUrl: string, resource: StoredResource): XdsError | undefined => {
    const known = judged.get(resource) ?? { fault: judge(typeUrl, resource, resource.name) };
    judged.set(resource, known);
    return known.fault;
  };
  return {
    of,
    check: (typeUrl, resource, name) =>
      of(typeUrl).check(resource, name, undefined) ?? judge(typeUrl, resource, name),
    faultOf(typeUrl, resource) {
      try {
        const fault = typeFault(typeUrl, resource) ?? judgeHeld(typeUrl, resource);
        if (fault === undefined) of(typeUrl).read(resource);
        return fault;
      } catch (error) {
        return new XdsError(
          "INVALID_ARGUMENT",
          error instanceof Error ? error.message : String(error),
          { typeUrl, resource: resource.name, cause: error },
        );
      }
    },
  };
}

/**
 * Creates a decoder for a type without a schema: a payload with references has to be a message at
 * least.
 */
function createPlainDecoder(typeUrl: string): Decoder<Uint8Array> {
  return createDecoder({
    typeUrl,
    decode(payload) {
      if (walkFields(payload, () => undefined).outcome !== "complete")
        throw new Error("its payload is not a message");
      return payload;
    },
  });
}
