import { createFakeClock, type FakeClock } from "@xdstp/testing";

import type { ClientNotice, ServerOptions } from "../src/index.ts";
import { createTestChannels, type TestChannels } from "./create-test-channels.ts";

/** Returns options for delta over channels that the test controls. */
export function serverOptions(options: Partial<ServerOptions> = {}): ServerOptions & {
  readonly channels: TestChannels;
  readonly clock: FakeClock;
  readonly events: ClientNotice[];
} {
  const events: ClientNotice[] = [];
  return {
    variant: "delta",
    node: () => new Uint8Array(),
    types: new Map(),
    random: () => 0.5,
    onEvent: (event) => {
      events.push(event);
    },
    ...options,
    events,
    clock: createFakeClock(),
    channels: createTestChannels(),
  };
}
