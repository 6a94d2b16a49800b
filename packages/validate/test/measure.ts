/**
 * Prints how long checks take: `node --conditions=@xdstp/source packages/validate/test/measure.ts`.
 */
import { fromBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { clusterBody, packed } from "./example-messages.ts";

let last = performance.now();

/** Prints the time since the previous call. */
function lap(what: string): void {
  const now = performance.now();
  console.log(`${what}: ${(now - last).toFixed(1)} ms`);
  last = performance.now();
}

lap("import of protobuf-es and @xdstp/protos");
const { createValidator } = await import("../src/index.ts");
lap("import of @xdstp/validate");
const registry = envoyRegistry();
lap("registry of the Envoy API");
const typeName = "envoy.config.cluster.v3.Cluster";
const first = packed(typeName, clusterBody("first"));
lap("first cluster from JSON");
const validator = await createValidator({ registry });
lap("createValidator");
validator.check(AnySchema, first);
lap("check of the first cluster of 5 endpoints");
const desc = registry.getMessage(typeName);
if (desc === undefined) throw new Error(`${typeName} is missing`);
const clusters = Array.from({ length: 10_000 }, (_, index) =>
  fromBinary(desc, packed(typeName, clusterBody(`cluster-${index}`)).value),
);
for (let run = 1; run <= 4; run++) {
  last = performance.now();
  for (const cluster of clusters) validator.check(desc, cluster);
  lap(`check of 10,000 clusters of 5 endpoints, run ${run}`);
}
