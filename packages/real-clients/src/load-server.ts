// node --expose-gc load-server.ts: a management server of clusters in a process of its own. For each line on standard input a step, and one line of JSON on standard output:
// `put N` puts a cluster that says N, one of twenty in turn; `memory` collects garbage and tells what is left.
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";
import { createCache } from "@xdstp/cache";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { cluster, envoyTypes } from "@xdstp/resource-types";
import { createServer } from "@xdstp/server";

const names = 20;
const cache = createCache({ types: envoyTypes });
const server = createServer({ source: cache });

for (let n = 0; n < names; n++) put(n);
const { port } = await server.listen({ port: 0 });
tell({ port });
for await (const line of createInterface({ input: process.stdin })) {
  const [step, n] = line.split(" ");
  if (step === "put") {
    put(Number(n));
    tell({ put: Number(n) });
  } else tell(await memory());
}
process.exit();

function put(n: number): void {
  const name = `c${n % names}`;
  const { value } = anyFromJson(
    { "@type": cluster.typeUrl, name, alt_stat_name: `says=${n};`, connect_timeout: "1s" },
    envoyRegistry(),
  );
  cache.put({ typeUrl: cluster.typeUrl, name, value });
}

/** Bytes in use, after a collection; what waits for a turn of the event loop to be let go has had it. */
async function memory(): Promise<object> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await turn();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { inUse: heapUsed + external, rss, streams: server.status().length };
}

function tell(what: object): void {
  console.log(JSON.stringify(what));
}
