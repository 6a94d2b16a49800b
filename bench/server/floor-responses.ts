import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryResponseSchema, DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { clusterTemplate, clusterType } from "../clusters.ts";
import { envelope } from "../envelope.ts";
import type { Scenario } from "../scenario.ts";
import { createTemplate, nameOf } from "../template.ts";

/** Ready responses for a server that never encodes: concatenated fields are a message. */
export interface FloorResponses {
  /** The first answer to a client with these resources, in messages of at most 4 MiB. */
  first(indexes: readonly number[]): readonly Buffer[];
  /** The response that a change of one resource sends to everyone. */
  push(index: number, stamp: number): Buffer;
  /** Several changed resources in one message. Delta only. */
  readonly pushAll: (changes: readonly Change[]) => Buffer;
  /** The first answer to a client that has everything. Delta only. */
  nothing(): Buffer;
}

/** A resource with new content. */
export interface Change {
  readonly index: number;
  readonly stamp: number;
}

const partBytes = 4_000_000;
const version = "0123456789abcdefABCDEF";

/** Responses of the variant of a scenario. */
export function floorResponses({
  variant,
  resources,
}: Pick<Scenario, "variant" | "resources">): FloorResponses {
  const field = createTemplate(variant === "delta" ? deltaField() : sotwField());
  const tail = variant === "delta" ? deltaTail() : sotwTail();
  const perPart = Math.floor(partBytes / field.length);
  const part = (indexes: readonly number[]): Buffer =>
    envelope([...indexes.map((index) => field.fill(index, 0)), tail]);
  const all =
    variant === "delta" ? undefined : part(Array.from({ length: resources }, (_, index) => index));
  const pushAll = (changes: readonly Change[]): Buffer =>
    envelope([...changes.map(({ index, stamp }) => field.fill(index, stamp)), tail]);
  return {
    pushAll,
    nothing: () => envelope([tail]),
    first: (indexes) =>
      Array.from({ length: Math.ceil(indexes.length / perPart) }, (_, at) =>
        part(indexes.slice(at * perPart, (at + 1) * perPart)),
      ),
    push(index, stamp) {
      if (all === undefined) return pushAll([{ index, stamp }]);
      const copy = Buffer.from(all);
      copy.set(field.fill(index, stamp), 5 + index * field.length);
      return copy;
    },
  };
}

function deltaField(): Uint8Array {
  const resource = { typeUrl: clusterType, value: clusterTemplate().fill(0, 0) };
  return toBinary(
    DeltaDiscoveryResponseSchema,
    create(DeltaDiscoveryResponseSchema, { resources: [{ name: nameOf(0), version, resource }] }),
  );
}

function deltaTail(): Uint8Array {
  return toBinary(
    DeltaDiscoveryResponseSchema,
    create(DeltaDiscoveryResponseSchema, {
      typeUrl: clusterType,
      nonce: "100",
      systemVersionInfo: "100",
    }),
  );
}

function sotwField(): Uint8Array {
  return toBinary(
    DiscoveryResponseSchema,
    create(DiscoveryResponseSchema, {
      resources: [{ typeUrl: clusterType, value: clusterTemplate().fill(0, 0) }],
    }),
  );
}

function sotwTail(): Uint8Array {
  return toBinary(
    DiscoveryResponseSchema,
    create(DiscoveryResponseSchema, { typeUrl: clusterType, nonce: "100", versionInfo: version }),
  );
}
