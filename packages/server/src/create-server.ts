import { systemClock, XdsError, statusNameOf, type Clock } from "@xdstp/core";
import {
  createScheduler,
  createServerContext,
  type ServerContext,
  type ServerContextOptions,
  type Scheduler,
} from "@xdstp/protocol/server";
import { createGrpcServer, nodeWarning } from "@xdstp/grpc/server";
import { SERVICES } from "@xdstp/protos/services";
import { create } from "@bufbuild/protobuf";
import { ClientStatusRequestSchema } from "@xdstp/protos/status";

import { createAdmission } from "./admission.ts";
import { createAnswerLines } from "./answer-line.ts";
import {
  createClientStatus,
  type ClientStatusOptions,
  type AnswerStatus,
} from "./client-status.ts";
import { createExplain } from "./explain/create-explain.ts";
import { createEventHub, type EventHub } from "./server-event.ts";
import { createFetchResponder, fetchByType, fetchRoutes } from "./fetch-routes.ts";
import { shuttingDown } from "./gate.ts";
import { streamsOn } from "./access/access-book.ts";
import { createViewCaller } from "./access/caller-view.ts";
import { type StatusViewOf, createAccess } from "./access/create-access.ts";
import { recordMetrics } from "./record-metrics.ts";
import { methodTable } from "./method-table.ts";
import { createGuardedScheduler, createOpenStreams, type OpenStreams } from "./open-streams.ts";
import { checkLimits, defaultServerLimits } from "./server-limits.ts";
import { statusRoutes, FETCH_STATUS } from "./status-routes.ts";
import { createStreamAcceptor } from "./stream-acceptor.ts";
import { traceChanges } from "./trace-changes.ts";
import { waitForAck } from "./wait-for-ack.ts";
import type { ServerOptions, XdsServer } from "./xds-server.ts";
import { clientQuirks } from "./client-quirks.ts";

/**
 * Serves a source over gRPC: ADS and every service of one type, in SotW, delta and unary Fetch
 * (B-STREAM-1, B-STREAM-2).
 *
 * Invalid input ends the stream that it came on. An exception of the source ends the stream that
 * caused it. An exception of a listener ends nothing.
 * Throws an XdsError if there is no source, or if a limit, a certificate or a row of `services` is
 * invalid.
 */
export function createServer(options: ServerOptions): XdsServer {
  checkSource(options);
  const {
    onEvent,
    services = SERVICES,
    limits,
    tls,
    http,
    connectionAge,
    clock = systemClock,
    clientStatus = true,
    routes,
    registry,
    meter,
    tracer,
    authorize,
    sourceFor,
    health,
    originOf,
    resources,
    nodeVersion = process.versions.node,
    ...shared
  } = options;
  const { streams: paths, fetches } = methodTable(services);
  const {
    stream: streamLimits,
    admission: admissionLimits,
    access: accessLimits,
    answers: answerLimits,
    wire: wireLimits,
  } = checkLimits(limits);
  const hub = hubFor(options.source, onEvent);
  const streams = createOpenStreams(hub.fault);
  const traces =
    tracer === undefined ? undefined : traceChanges({ tracer, clock, source: options.source });
  const scheduler =
    traces === undefined
      ? shared.scheduler
      : traces.noticing(shared.scheduler ?? createScheduler());
  const context = sharedContext(
    { ...shared, clock, limits: streamLimits, ...(scheduler && { scheduler }) },
    hub,
    streams,
  );
  const admission = createAdmission(clock, {
    ...defaultServerLimits.admission,
    ...admissionLimits,
  });
  const access = createAccess(context, hub, { authorize, sourceFor, limits: accessLimits });
  const { source, gate, book, viewOf } = access;
  const accept = createStreamAcceptor({ methods: paths, access, admission, streams, hub });
  const lines = createAnswerLines({ ...defaultServerLimits.answers, ...answerLimits });
  const answer = createFetchResponder({ context, access, hub, line: lines.fetch });
  const explain = createExplain({ streams: () => streams.all(), source, book, clock, originOf });
  const answerStatus = createClientStatus({
    explain,
    streams: () => streams.all(),
    sourceOf: (stream) => book.of(stream)?.root ?? source,
    rejections: rejectionsOf(options.source),
    health,
    resources,
    isFiltered: (stream) => book.of(stream)?.policy !== undefined,
    registry,
    mostBytes: context.limits.fullStateBytes,
    line: lines.status,
  });
  const wire = createGrpcServer({
    clock,
    limits: wireLimits,
    ...(tls === undefined ? {} : { tls }),
    ...(http === undefined ? {} : { http }),
    ...(connectionAge === undefined ? {} : { connectionAge }),
    accept: ({ path, peer }, out) => accept(path, peer.address, out, peer.identity),
    isStreaming: (path) => paths.has(path),
    routes(router) {
      fetchRoutes(fetches, answer)(router);
      if (clientStatus !== false)
        statusRoutes(
          answerStatus,
          clientStatus === true ? { viewOf } : { mayRead: clientStatus },
        )(router);
      routes?.(router);
    },
    onEvent: (event) => {
      hub.emit?.(event);
    },
  });
  const status = (): ReturnType<XdsServer["status"]> => streams.status();
  const stats: XdsServer["stats"] = () => ({
    wire: wire.stats(),
    frames: { ...context.frames.counters },
    admission: admission.stats(),
    answers: lines.stats(),
    limits: { ...context.limited.counts },
  });
  const measured =
    meter === undefined ? undefined : recordMetrics({ meter, hub, clock, source, status, stats });
  const traced = traces?.follow(hub, streamsOn(source, streams, book));
  const end = async (graceMs: number, spreadMs: number): Promise<void> => {
    gate.close();
    await nextTurn(context.scheduler, clock, graceMs);
    for (const stream of book.waiting) stream.end(shuttingDown);
    if (spreadMs === 0) streams.end();
    await wire.close({ graceMs, spreadMs });
    for (const stop of [measured, traced]) stop?.();
  };
  let closing: Promise<void> | undefined;
  const close: XdsServer["close"] = ({ graceMs = 5_000, spreadMs = 0 } = {}) =>
    (closing ??= end(graceMs, spreadMs));
  return {
    accept,
    close,
    status,
    async listen(where) {
      const { address, port } = await wire.listen(where);
      const warning = nodeWarning(nodeVersion);
      if (warning !== undefined)
        hub.emit?.({ kind: "warning", warning: "node-version", message: warning });
      return { host: address, port };
    },
    setTls: (next) => {
      wire.setTls(next);
    },
    fetch: fetchByType(fetches, answer),
    viewCaller: createViewCaller(access, hub),
    clientStatus: statusCall(answerStatus, viewOf),
    explain: async (asked) => explain(asked, undefined),
    waitForAck: async (revision, waiting = {}) =>
      waitForAck(
        {
          source,
          clock,
          streams: streamsOn(source, streams, book),
          hub,
          gate,
          hasUnrelated: access.decider?.hasUnrelated,
        },
        revision,
        waiting,
      ),
    events: (listener) => hub.listen(listener),
    stats,
    [Symbol.asyncDispose]: () => close(),
  };
}

function rejectionsOf(source: ServerOptions["source"]): ClientStatusOptions["rejections"] {
  return source.rejections === undefined ? undefined : () => source.rejections?.() ?? [];
}

/** Creates the hub for events. The source receives the events of streams if it has `observe`. */
function hubFor(source: ServerOptions["source"], onEvent: ServerOptions["onEvent"]): EventHub {
  const hub = createEventHub();
  if (onEvent !== undefined) hub.listen(onEvent);
  if (source.observe !== undefined)
    hub.listen((event) => {
      if ("stream" in event) source.observe?.(event);
    });
  return hub;
}

/**
 * Throws an XdsError if the options of a server have no source. TypeScript reports this at compile
 * time; this check is for programs in JavaScript.
 */
function checkSource(options: { readonly source?: unknown } | undefined): void {
  const source = options?.source as { readonly topic?: unknown } | null | undefined;
  if (typeof source?.topic === "function") return;
  const what = source === undefined ? "missing" : "not a ResourceSource";
  throw new XdsError(
    "INVALID_ARGUMENT",
    `source is ${what}; give createServer a cache: createServer({ source: createCache() })`,
  );
}

/** Returns client status as a function, for programs that use it without gRPC. */
function statusCall(
  answer: AnswerStatus,
  viewOf: StatusViewOf | undefined,
): XdsServer["clientStatus"] {
  return async (request = {}, { signal = new AbortController().signal, peer } = {}) => {
    const view = peer === undefined ? undefined : await viewOf?.(peer, FETCH_STATUS, signal);
    const response =
      view !== undefined && "code" in view
        ? view
        : await answer(create(ClientStatusRequestSchema, request), { peer, signal, view });
    if ("code" in response)
      throw new XdsError(statusNameOf(response.code) ?? "UNKNOWN", response.message);
    return response;
  };
}

/** Returns the context that all streams of a server share. Its scheduler continues after a stream has failed. Its `emit` is absent without listeners, so that no event is created. */
function sharedContext(
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

/**
 * Waits until everything in the queue of a scheduler has been served, for at most `atMostMs`
 * milliseconds.
 */
export async function nextTurn(
  scheduler: Scheduler,
  clock: Clock,
  atMostMs: number,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = clock.after(atMostMs, resolve);
    scheduler.add({
      queued: false,
      drain() {
        timer.cancel();
        resolve();
      },
    });
  });
}
