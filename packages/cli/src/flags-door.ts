import { createFlags, type Flags } from "@xdstp/openfeature";
import type { MetricsMeter, ServerOptions } from "@xdstp/server";
import type { Door } from "./guard-browsers.ts";
import type { DoorContext, HttpFlags } from "./http-flags.ts";

/** The services of OpenFeature of a server. */
export interface FlagsDoor extends Door {
  /** Adds `flagd.sync.v1`. */
  readonly routes: NonNullable<ServerOptions["routes"]>;
  /** Does not follow the flags any more. */
  close(): void;
}

/**
 * Creates the services of OpenFeature: OFREP over HTTP, and `flagd.sync.v1` over gRPC. The flags are
 * followed from now on, so that each one that is not valid is reported when it is saved.
 */
export function createFlagsDoor(
  { collection, origin }: NonNullable<HttpFlags["openfeature"]>,
  { serverOf, source, clock, meter, onRejectedFlags }: DoorContext,
): FlagsDoor {
  let rejected = 0;
  const flags = createFlags({
    source,
    collection,
    clock,
    allowOrigin: origin ?? false,
    viewOf: (...caller) => serverOf().viewCaller(...caller),
    onRejected: (one) => {
      rejected += 1;
      onRejectedFlags(one);
    },
  });
  const ended = new AbortController();
  flags.follow(ended.signal);
  if (meter !== undefined) recordFlags(meter, flags, () => rejected);
  return {
    listener: flags.http,
    serves: (path) => path.startsWith("/ofrep/"),
    routes: flags.routes,
    close() {
      ended.abort();
    },
  };
}

function recordFlags(meter: MetricsMeter, flags: Flags, rejected: () => number): void {
  meter
    .createObservableCounter("xdstp_ofrep_answers_total", {
      description: "Answers over OFREP, by status",
    })
    .addCallback((result) => {
      for (const [code, count] of flags.status().answered)
        result.observe(count, { status: String(code) });
    });
  meter
    .createObservableGauge("xdstp_flag_streams", {
      description: "Open streams of flags, by protocol",
    })
    .addCallback((result) => {
      const { eventStreams, syncStreams } = flags.status();
      result.observe(eventStreams, { protocol: "ofrep" });
      result.observe(syncStreams, { protocol: "flagd" });
    });
  meter
    .createObservableCounter("xdstp_flags_rejected_total", {
      description: "Resources whose flags were not valid when they were read",
    })
    .addCallback((result) => {
      result.observe(rejected());
    });
}
