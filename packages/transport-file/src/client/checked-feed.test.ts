import { renameSync } from "node:fs";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { checkFeed, type TestedFeed } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { clusterType, useDirectory } from "../../test/use-file.ts";
import { createNativeFileFeed } from "./index.ts";

/** A feed of files in a real directory. A deleted file leaves its resource in force, so nothing can be removed. */
function makeFileFeed(): TestedFeed {
  const { dir, replace } = useDirectory();
  const [shown, hidden] = ["shown", "hidden"];
  let now = shown;
  const move = (to: string): void => {
    renameSync(join(dir, now), join(dir, to));
    now = to;
  };
  replace(`${shown}/.keep`, "");
  return {
    feed: createNativeFileFeed({ directory: dir, registry: envoyRegistry(), fetchMs: 100 }),
    typeUrl: clusterType,
    nameOf: (id) => `file://${join(dir, shown, id)}.yaml`,
    glob: `file://${join(dir, shown)}/*`,
    stateOf: ({ payload }) =>
      Number(fromBinary(ClusterSchema, payload.value).connectTimeout?.seconds ?? -1n),
    put: (id, state) => {
      replace(
        `${now}/${id}.yaml`,
        `resource:\n  "@type": ${clusterType}\n  name: ${id}\n  connect_timeout: ${state}s\n`,
      );
    },
    cut: () => {
      move(hidden);
    },
    restore: () => {
      move(shown);
    },
  };
}

const skipped: Readonly<Record<string, unknown>> = {
  "a removed resource is removed, and the others stay": {
    kind: "skipped",
    reason: "the test of this feed cannot remove a resource",
  },
};

describe("createNativeFileFeed(), as a feed:", () => {
  it.each(checkFeed(makeFileFeed))("$title", async ({ name, check }) => {
    expect(await check()).toEqual(skipped[name] ?? { kind: "passed" });
  });
});
