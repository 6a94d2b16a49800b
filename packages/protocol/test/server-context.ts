import {
  createServerContext,
  type ServerContext,
  type ServerContextOptions,
} from "../src/stream/server-context.ts";
import { createScheduler } from "../src/stream/scheduler.ts";
import type { StreamEvent } from "../src/stream/stream-event.ts";
import type { ResourceSource } from "@xdstp/core";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

/** The context of a server that a test controls. */
export interface TestContext {
  readonly context: ServerContext;
  readonly clock: ManualClock;
  readonly events: readonly StreamEvent[];
  /** Runs all turns that wait. */
  readonly settle: () => void;
}

const source: ResourceSource = {
  revision: 0,
  ready: true,
  descriptor: () => undefined,
  serves: () => true,
  topic: () => {
    throw new Error("no topic is asked for here");
  },
};

/** Creates a context without a cache: the parts that are tested with it read no topic. */
export function createTestContext(options: Partial<ServerContextOptions> = {}): TestContext {
  const clock = createManualClock();
  const events: StreamEvent[] = [];
  const turns: (() => void)[] = [];
  const scheduler = createScheduler({
    later: (callback) => {
      turns.push(callback);
    },
  });
  const context = createServerContext({
    source,
    clock,
    scheduler,
    onEvent: (event) => {
      events.push(event);
    },
    ...options,
  });
  const settle = (): void => {
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) turn();
  };
  return { context, clock, events, settle };
}
