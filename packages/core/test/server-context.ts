import {
  createServerContext,
  type ServerContext,
  type ServerContextOptions,
} from "../src/server/server-context.ts";
import { createScheduler } from "../src/server/scheduler.ts";
import type { StreamEvent } from "../src/server/stream-event.ts";
import type { ResourceSource } from "../src/source.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

/** A server's context in the hands of a test. */
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

/** Without a cache: the parts that are tested with it ask for no topic. */
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
