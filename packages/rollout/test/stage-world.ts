import { createCache, type Cache, type CacheOptions } from "@xdstp/cache";
import type { Interest, ResourceSink, ResourceSource } from "@xdstp/core";
import { createScheduler, type StreamEvent } from "@xdstp/protocol/server";
import { createServer, type XdsServer } from "@xdstp/server";
import { createFakeClock, createManualScheduler, type FakeClock } from "@xdstp/testing";

import { clientKey, ClientTopic, readerView } from "../src/client-topic.ts";
import { createQuorum, type Quorum, type QuorumOptions } from "../src/quorum.ts";
import { flagUrl } from "./flag.ts";
import type { VoterWorld } from "./voter.ts";
import { connectClient } from "./world-client.ts";

/** A quorum behind a server, with a feed that the test controls in place of upstream servers. */
export interface StageWorld extends VoterWorld {
  /** Advances the time, and runs everything that follows from it. */
  readonly pass: (ms: number) => Promise<void>;
  readonly clock: FakeClock;
  readonly accepted: Cache;
  readonly ahead: Cache;
  readonly quorum: Quorum;
  readonly server: XdsServer;
  /** One sink for each place from which resources come. */
  readonly sinks: readonly ResourceSink[];
  /** Returns the topics of the streams of a client. */
  readonly topicsOf: (id: string) => readonly ClientTopic[];
}

/**
 * Creates a world whose feed pushes everything that it has, so that no name is dropped without
 * subscribers. In SotW flags have full state.
 */
export function createStageWorld(options: QuorumOptions, places = 1): StageWorld {
  const clock = createFakeClock({ start: 1_000_000 });
  const turns = createManualScheduler();
  const revisions: NonNullable<CacheOptions["revisions"]> = { last: 0 };
  const types = [{ typeUrl: flagUrl, fullStateInSotw: true }];
  const [accepted, ahead] = [
    createCache({ types, clock, revisions }),
    createCache({ types, clock, revisions }),
  ];
  const quorum = createQuorum({ accepted, ahead, revisions, clock, ...options });
  const sinks: ResourceSink[] = [];
  quorum.addFeed({
    run(sink, signal) {
      for (let n = 0; n < places; n++) sinks.push(sink.part?.() ?? sink);
      void sink.commit({});
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          resolve();
        });
      });
    },
  });
  const topics = new Map<string, Set<ClientTopic>>();
  const source = Object.assign(quorum.source, {
    observe: (event: StreamEvent) => {
      quorum.observe(event);
    },
  });
  const noted = (view: ResourceSource, id: string): ResourceSource => {
    const own = Object.create(view) as ResourceSource;
    return Object.assign(own, {
      topic: (typeUrl: string, interest: Interest) => {
        const made = view.topic(typeUrl, interest);
        if (made instanceof ClientTopic) topics.set(id, (topics.get(id) ?? new Set()).add(made));
        return made;
      },
    });
  };
  const server = createServer({
    source,
    clock,
    scheduler: createScheduler({ later: turns.later }),
    sourceFor: ({ node }) => noted(readerView(source, clientKey({ node }) ?? ""), node?.id ?? ""),
  });
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 4; round++) {
      for (let n = 0; n < 30; n++) await Promise.resolve();
      turns.run();
    }
  };
  return {
    clock,
    accepted,
    ahead,
    quorum,
    server,
    sinks,
    settle,
    connect: (variant, node) => connectClient(server, variant, node),
    topicsOf: (id) => [...(topics.get(id) ?? [])],
    async pass(ms) {
      await settle();
      const end = clock.now() + ms;
      for (let next = clock.next ?? Infinity; next <= end; next = clock.next ?? Infinity) {
        clock.advance(next - clock.now());
        await settle();
      }
      clock.advance(end - clock.now());
    },
  };
}
