import { create, type MessageShape } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import {
  AggregatedDiscoveryService,
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";
import { clusterTemplate, clusterType } from "../clusters.ts";
import type { Scenario } from "../scenario.ts";
import { nameOf, type Template } from "../template.ts";
import type { BenchServer } from "./bench-server.ts";
import { createHttp2Server } from "./http2-server.ts";
import { listen } from "./listen.ts";

type DeltaResponse = MessageShape<typeof DeltaDiscoveryResponseSchema>;
type SotwResponse = MessageShape<typeof DiscoveryResponseSchema>;

/** A control plane on Connect, as people write it: an async generator per stream, which encodes for its stream, waits for the ACK, and goes on. */
export async function startConnect({ resources, variant, tls }: Scenario): Promise<BenchServer> {
  const template = clusterTemplate();
  const indexes = Array.from({ length: resources }, (_, index) => index);
  const delta = createChanges<DeltaResponse>(deltaResponse(template, indexes, 0));
  const sotw = createChanges<SotwResponse>(sotwResponse(template, indexes, -1, 0));
  let messages = 0;
  const serve = async function* <M>(
    requests: AsyncIterable<unknown>,
    changes: Changes<M>,
  ): AsyncGenerator<M> {
    const inbox = requests[Symbol.asyncIterator]();
    const outbox = changes.follow();
    for (;;) {
      const request = await inbox.next();
      if (request.done === true) return;
      messages++;
      yield await outbox();
    }
  };
  const handler = connectNodeAdapter({
    routes: (router) =>
      router.service(AggregatedDiscoveryService, {
        deltaAggregatedResources: (requests) => serve(requests, delta),
        streamAggregatedResources: (requests) => serve(requests, sotw),
      }),
  });
  const server = createHttp2Server(tls);
  server.on("request", (request, response) => {
    handler(request, response);
  });
  return {
    port: await listen(server),
    change(changed, stamp) {
      for (const index of changed) {
        if (variant === "delta") delta.say(deltaResponse(template, [index], stamp));
        else sotw.say(sotwResponse(template, indexes, index, stamp));
      }
    },
    received: () => ({ unit: "messages", count: messages }),
  };
}

interface Changes<M> {
  /** A reader of its own: the first state, then each change. */
  follow(): () => Promise<M>;
  say(message: M): void;
}

function createChanges<M>(first: M): Changes<M> {
  const followers: ((message: M) => void)[] = [];
  return {
    follow() {
      const queue = [first];
      let wake: ((message: M) => void) | undefined;
      followers.push((message) => {
        if (wake === undefined) queue.push(message);
        else wake(message);
        wake = undefined;
      });
      return async () =>
        queue.shift() ??
        new Promise<M>((resolve) => {
          wake = resolve;
        });
    },
    say(message) {
      for (const tell of followers) tell(message);
    },
  };
}

function deltaResponse(
  template: Template,
  indexes: readonly number[],
  stamp: number,
): DeltaResponse {
  const resources = indexes.map((index) => ({
    name: nameOf(index),
    version: `version-${stamp}`,
    resource: { typeUrl: clusterType, value: template.fill(index, stamp) },
  }));
  return create(DeltaDiscoveryResponseSchema, {
    typeUrl: clusterType,
    resources,
    nonce: String(stamp + 1),
    systemVersionInfo: String(stamp),
  });
}

function sotwResponse(
  template: Template,
  indexes: readonly number[],
  changed: number,
  stamp: number,
): SotwResponse {
  const resources = indexes.map((index) => ({
    typeUrl: clusterType,
    value: template.fill(index, index === changed ? stamp : 0),
  }));
  return create(DiscoveryResponseSchema, {
    typeUrl: clusterType,
    resources,
    nonce: String(stamp + 1),
    versionInfo: String(stamp),
  });
}
