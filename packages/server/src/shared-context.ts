import {
  createScheduler,
  createServerContext,
  type ServerContext,
  type ServerContextOptions,
} from "@xdstp/protocol/server";
import { clientQuirks } from "./client-quirks.ts";
import type { EventHub } from "./event-hub.ts";
import { createGuardedScheduler } from "./guarded-scheduler.ts";
import type { OpenStreams } from "./open-streams.ts";

/** What all streams of a server share: turns that survive their streams, and an `emit` that is absent without listeners, so that no event is made. */
export function sharedContext(
  options: Omit<ServerContextOptions, "onEvent">,
  hub: EventHub,
  streams: OpenStreams,
): ServerContext {
  const context = createServerContext({
    controlPlane: "xdstp",
    quirks: clientQuirks,
    ...options,
    scheduler: createGuardedScheduler(
      options.scheduler ?? createScheduler(),
      (drainable, error) => {
        streams.fail(drainable, error);
      },
    ),
  });
  return {
    ...context,
    get emit() {
      return hub.emit;
    },
  };
}
