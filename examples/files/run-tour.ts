import { mkdtemp, rename, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { fromBinary } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import type { Topic } from "@xdstp/core";
import { createFederation } from "@xdstp/federation";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { type Cluster, ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { createNativeFileSource } from "@xdstp/transport-file/client";

/** Reads clusters by names of files, follows edits of them, and keeps what an edit breaks. */
export async function runTour(say: (line: string) => void): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "xdstp-example-files-"));
  const shown = (text: string): string => text.replaceAll(dir, "DIR");
  try {
    const save = async (file: string, seconds: number | string): Promise<void> => {
      const path = join(dir, file);
      const type = `"@type": ${clusters.typeUrl}`;
      // Written elsewhere and renamed: no reader sees half a file.
      await writeFile(`${path}.tmp`, `resource: { ${type}, connect_timeout: ${seconds}s }\n`);
      await rename(`${path}.tmp`, path);
    };
    await save("web.yaml", 1);
    await save("api.yaml", 1);

    const federation = createFederation({
      sources: [createNativeFileSource({ directory: dir, registry: envoyRegistry() })],
    });
    const cache = createCache({ types: envoyTypes });
    cache.addFeed(federation);
    const all = follow(cache.topic(clusters.typeUrl, { name: `file://${dir}/*` }), (line) => {
      say(shown(line));
    });
    await all.until("api.yaml 1 s, web.yaml 1 s");
    say("-- web.yaml: 2s");
    await save("web.yaml", 2);
    await all.until("api.yaml 1 s, web.yaml 2 s");
    say("-- web.yaml: twos");
    await save("web.yaml", "two");
    await all.until("stale");
    say("-- web.yaml: 3s, and api.yaml is removed");
    await save("web.yaml", 3);
    await unlink(join(dir, "api.yaml"));
    await all.until("web.yaml 3 s");
    all.close();

    const outside = follow(
      cache.topic(clusters.typeUrl, { name: "file:///etc/passwd" }),
      () => undefined,
    );
    await outside.until("stale");
    say(shown(outside.problem()));
    outside.close();
    await cache.close();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Prints each state of a topic. */
function follow(
  topic: Topic,
  say: (line: string) => void,
): {
  /** Resolves when the state is so; `stale`: when it may be out of date. */
  readonly until: (state: string) => Promise<void>;
  readonly problem: () => string;
  readonly close: () => void;
} {
  let last = "";
  let wake = (): void => undefined;
  const update = (): void => {
    const text =
      topic.stale === undefined ? textOf(topic) : `${textOf(topic)}; ${topic.stale.text}`;
    if (text !== last && text !== "") say(text);
    last = text;
    wake();
  };
  // Only marks: the feed may change more in this turn.
  const watcher = {
    wake: () => {
      queueMicrotask(update);
    },
  };
  topic.watch(watcher);
  return {
    async until(state) {
      while (state === "stale" ? topic.stale === undefined : last !== state)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    },
    problem: () => topic.stale?.message ?? "",
    close: () => {
      topic.unwatch(watcher);
    },
  };
}

function textOf(topic: Topic): string {
  return topic
    .members()
    .flatMap(({ name, resource }) =>
      resource === undefined ? [] : [`${fileOf(name)} ${secondsOf(resource.payload.value)} s`],
    )
    .sort()
    .join(", ");
}

function fileOf(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

function secondsOf(value: Uint8Array): string {
  const cluster: Cluster = fromBinary(ClusterSchema, value);
  return String(cluster.connectTimeout?.seconds ?? 0n);
}
