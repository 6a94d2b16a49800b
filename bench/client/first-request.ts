import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { clusterType } from "../clusters.ts";
import { envelope } from "../envelope.ts";
import { namesOf, type Scenario } from "../scenario.ts";
import { nameOf } from "../template.ts";

/** Versions by the names of resources. */
export type Versions = Readonly<Record<string, string>>;

const nothing = new Uint8Array();

/** The first request of a client: its names, or everything. `held`: what {@link heldVersions} gave. */
export function firstRequest(
  { variant, names }: Pick<Scenario, "variant" | "names">,
  client: number,
  held: Uint8Array = nothing,
): Buffer {
  const node = { id: `client-${client}`, cluster: "bench", userAgentName: "bench" };
  const asked = names === undefined ? [] : namesOf(names, client).map(nameOf);
  const bytes =
    variant === "delta"
      ? toBinary(
          DeltaDiscoveryRequestSchema,
          create(DeltaDiscoveryRequestSchema, {
            node,
            typeUrl: clusterType,
            resourceNamesSubscribe: asked,
          }),
        )
      : toBinary(
          DiscoveryRequestSchema,
          create(DiscoveryRequestSchema, { node, typeUrl: clusterType, resourceNames: asked }),
        );
  return envelope([bytes, held]);
}

/** The part of a first delta request that lists what a client holds, encoded once for all: concatenated fields are a message. */
export function heldVersions(initialResourceVersions: Versions): Uint8Array {
  return toBinary(
    DeltaDiscoveryRequestSchema,
    create(DeltaDiscoveryRequestSchema, { initialResourceVersions }),
  );
}
