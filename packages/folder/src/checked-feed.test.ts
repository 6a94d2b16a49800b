import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { checkFeed, type TestedFeed } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { createFolderFeed } from "./folder-feed.ts";

const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A feed of a real folder. */
async function makeFolderFeed(partial: boolean): Promise<TestedFeed> {
  const { dir } = await useFolder();
  const away = `${dir}-away`;
  let now = dir;
  const move = (to: string): void => {
    renameSync(now, to);
    now = to;
  };
  const fileOf = (id: string): string => join(now, "_opaque/clusters", `${id}.yaml`);
  mkdirSync(join(dir, "_opaque/clusters"), { recursive: true });
  return {
    feed: createFolderFeed({ dir, registry: envoyRegistry(), partial }),
    typeUrl: clusters,
    nameOf: (id) => id,
    stateOf: ({ payload }) =>
      Number(fromBinary(ClusterSchema, payload.value).connectTimeout?.seconds ?? -1n),
    put: (id, state) => {
      writeFileSync(fileOf(id), `connect_timeout: ${state}s\n`);
    },
    remove: (id) => {
      rmSync(fileOf(id));
    },
    cut: () => {
      move(away);
    },
    restore: () => {
      move(dir);
    },
  };
}

const pushes = {
  kind: "skipped",
  reason: "the feed has no subscriptions: it supplies everything that it has",
};
const atomic = {
  kind: "skipped",
  reason: "the transactions of the feed are atomic: one rejection rejects the others",
};
const skipped: Readonly<Record<string, unknown>> = {
  "subscriptions from before run() count": pushes,
  "an interest that covers several names is settled with all its members": pushes,
  "an interest without members is settled too, and gets those that come later": pushes,
  "an invalid name is reported as missing or unavailable, and does not stop the others": pushes,
  "an unsubscribed name is not supplied any more": pushes,
};
const skippedIfAtomic: Readonly<Record<string, unknown>> = {
  ...skipped,
  "a rejected resource does not stop the others": atomic,
};

describe("createFolderFeed(), as a feed:", () => {
  it.each(checkFeed(() => makeFolderFeed(false)))("$title", async ({ name, check }) => {
    expect(await check()).toEqual(skippedIfAtomic[name] ?? { kind: "passed" });
  });
});

describe("createFolderFeed() that applies the valid part of a batch, as a feed:", () => {
  it.each(checkFeed(() => makeFolderFeed(true)))("$title", async ({ name, check }) => {
    expect(await check()).toEqual(skipped[name] ?? { kind: "passed" });
  });
});
