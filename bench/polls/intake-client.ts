import { fromBinary } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import { createClientContext } from "@xdstp/protocol/client";
import { DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { createRestChannel } from "@xdstp/transport-rest/client";
import { createSotwClient } from "@xdstp/transport-sotw/client";

import { clusterType } from "../clusters.ts";
import type { Contender } from "../contender.ts";
import { serveParent } from "../run/serve-parent.ts";
import { restPath } from "./poll-server.ts";
import type { RestProtocol } from "./poll-scenario.ts";
import { restBody, restMediaTypes } from "./poll-wire.ts";

/** The commands of the parent to a client that polls without a pause. */
export type IntakeClientCommand =
  | {
      readonly op: "start";
      readonly contender: Contender;
      readonly protocol: RestProtocol;
      readonly port: number;
    }
  | { readonly op: "take"; readonly count: number };

/** The answers, by question. */
export interface IntakeClientAnswers {
  readonly start: undefined;
  /** User and system time of the process for this number of polls, in microseconds. */
  readonly take: number;
}

let taken = 0;
let until: { readonly count: number; readonly done: PromiseWithResolvers<void> } | undefined;

function onTaken(): void {
  taken++;
  if (taken === until?.count) until.done.resolve();
}

serveParent(async (given) => {
  const command = given as IntakeClientCommand;
  if (command.op === "start") {
    const url = `http://127.0.0.1:${command.port}`;
    if (command.contender === "floor") void pollBare(url, command.protocol);
    else pollWithXdstp(url, command.protocol);
    return undefined;
  }
  const before = process.cpuUsage();
  until = { count: taken + command.count, done: Promise.withResolvers() };
  await until.done.promise;
  const { user, system } = process.cpuUsage(before);
  return user + system;
});

/** Decodes each answer, and keeps its version only. */
async function pollBare(url: string, protocol: RestProtocol): Promise<never> {
  const mediaType = restMediaTypes[protocol];
  let version = "";
  for (;;) {
    const response = await fetch(`${url}${restPath}`, {
      method: "POST",
      headers: { "content-type": mediaType, accept: mediaType },
      body: new Uint8Array(restBody(protocol, "bench", version)),
    });
    const { versionInfo } =
      protocol === "rest-json"
        ? ((await response.json()) as { readonly versionInfo: string })
        : fromBinary(DiscoveryResponseSchema, new Uint8Array(await response.arrayBuffer()));
    version = versionInfo;
    onTaken();
  }
}

/** A cache with the feed of a REST client, which accepts each state and polls for the next one. */
function pollWithXdstp(url: string, protocol: RestProtocol): void {
  const channel = createRestChannel({
    url,
    waitMs: 30_000,
    ...(protocol === "rest-json" && { json: envoyRegistry() }),
  });
  const types = new Map(envoyTypes.map((type) => [type.typeUrl, type]));
  const context = createClientContext({
    node: new TextEncoder().encode("\n\u0005bench"),
    connect: (stream) =>
      channel.open(
        { path: "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters" },
        stream,
      ),
    descriptor: (typeUrl) => types.get(typeUrl),
  });
  const cache = createCache({ types: envoyTypes });
  cache.addFeed(createSotwClient(context));
  const topic = cache.topic(clusterType, { name: "*" });
  let head = 0;
  topic.watch({
    wake() {
      if ((topic.changes(head)?.length ?? 0) > 0) onTaken();
      head = topic.head;
    },
  });
}
