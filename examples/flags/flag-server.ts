import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { createCache } from "@xdstp/cache";
import { createFolderFeed, formatProblem } from "@xdstp/folder";
import { createFlags, typedFlags } from "@xdstp/openfeature";
import { registryWith } from "@xdstp/protos/envoy";
import { createServer } from "@xdstp/server";

import { definitionOf } from "./flag.ts";
import { FlagSchema } from "./gen/flags/v1/flags_pb.ts";

/** A control plane for the flags of a folder. */
export interface FlagServer extends AsyncDisposable {
  readonly uri: string;
  /** Resolves with the next thing that it says: what was edited wrongly, or which process rejects a flag and why. */
  nextComplaint(): Promise<string>;
  /** Returns a line for each process that rejects the present flags: which one, and why. Empty: all use them. */
  rejections(): readonly string[];
  /** Resolves when all processes have accepted the present flags. */
  accepted(): Promise<void>;
}

/** Serves a folder of flags on a free port of loopback, once it is loaded. The descriptors in `gen/flags.binpb` say what a flag is and which values are allowed. */
export async function startFlagServer(dir: string): Promise<FlagServer> {
  const registry = registryWith(await readFile(join(import.meta.dirname, "gen/flags.binpb")));
  const complaints = createQueue();
  const loaded = Promise.withResolvers<undefined>();
  const cache = createCache();
  cache.addFeed(
    createFolderFeed({
      dir,
      registry,
      onEvent(event) {
        if (event.kind === "loaded") loaded.resolve(undefined);
        if (event.kind === "rejected")
          complaints.push(event.problems.map(formatProblem).join("\n").replaceAll(`${dir}/`, ""));
      },
    }),
  );
  await loaded.promise;
  const flags = createFlags({
    source: cache,
    collection: "xdstp://flags.example/flags.v1.Flag/checkout/*",
    reader: typedFlags(FlagSchema, definitionOf),
  });
  const server = createServer({
    source: cache,
    routes: flags.routes,
    http: [flags.http],
    onEvent(event) {
      if (event.kind === "nack") complaints.push(event.error.message);
    },
  });
  const { host, port } = await server.listen({ host: "127.0.0.1", port: 0 });
  return {
    uri: `${host}:${String(port)}`,
    nextComplaint: complaints.next,
    async accepted() {
      await server.waitForAck(cache.revision);
    },
    rejections: () =>
      server
        .status()
        .flatMap(({ node, types }) =>
          types.flatMap(({ state, lastError }) =>
            state === "NACKED" && lastError !== undefined
              ? [`${node?.id ?? "a process"} rejects ${lastError.message}`]
              : [],
          ),
        ),
    async [Symbol.asyncDispose]() {
      await server.close({ graceMs: 0 });
      await cache.close();
    },
  };
}

function createQueue(): { push: (text: string) => void; next: () => Promise<string> } {
  const texts: string[] = [];
  let wake = (): void => undefined;
  return {
    push(text) {
      texts.push(text);
      wake();
    },
    async next() {
      for (let text = texts.shift(); ; text = texts.shift()) {
        if (text !== undefined) return text;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
