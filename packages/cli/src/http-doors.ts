import type { Registry } from "@bufbuild/protobuf";
import type { Clock } from "@xdstp/core";
import type { HttpListener, MetricsMeter, ServerOptions, XdsServer } from "@xdstp/server";
import { guardHost, guardOrigin } from "./guard-browsers.ts";
import { createHttpHandler, createHttpRoute } from "@xdstp/transport-http/server";
import { createRestHandler, createRestRoute } from "@xdstp/transport-rest/server";

/** The protocols over HTTP that a command serves on its port, next to gRPC. */
export interface HttpFlags {
  /** True: polls of xDS over REST. */
  readonly rest: boolean;
  /** Single resources by GET. Absent: they are not served. */
  readonly get?: {
    /** The authority of all names. Absent: the host of each request. */
    readonly authority?: string;
    /** The origin whose pages may read resources. Absent: pages may not. */
    readonly origin?: string;
    /** Hosts of requests that are served, next to addresses, `localhost` and `authority`. */
    readonly hosts: readonly string[];
  };
}

/** The listeners of a server for these protocols. */
export interface HttpDoors {
  readonly listeners: readonly HttpListener[];
  /** Answers what waits, and rejects further requests. */
  close(): void;
}

/** Creates the listeners. `serverOf` returns the server, once the first request comes. */
export function createHttpDoors(
  { rest, get }: HttpFlags,
  {
    serverOf,
    source,
    registry,
    clock,
    meter,
    hasTls,
  }: {
    readonly serverOf: () => XdsServer;
    readonly source: ServerOptions["source"];
    readonly registry: Registry;
    readonly clock: Clock;
    /** Absent: nothing is measured. */
    readonly meter: MetricsMeter | undefined;
    /** True: a browser checks the name of the server by its certificate. */
    readonly hasTls: boolean;
  },
): HttpDoors {
  const polls = rest
    ? createRestHandler({
        accept: (...call) => serverOf().accept(...call),
        registry,
        clock,
      })
    : undefined;
  const resources = get && createResources(get, { serverOf, source, registry, clock });
  if (resources !== undefined && meter !== undefined) recordHttp(meter, resources);
  const hosts = new Set(
    [...(get?.hosts ?? []), get?.authority ?? ""].map((host) => host.toLowerCase()),
  );
  const guarded = (listener: HttpListener): HttpListener =>
    hasTls ? listener : guardHost(listener, hosts);
  return {
    // Every path is a resource, so those of REST come first.
    listeners: [
      ...(polls === undefined ? [] : [guardOrigin(createRestRoute(polls))]),
      ...(resources === undefined ? [] : [guarded(createHttpRoute(resources, { clock }))]),
    ],
    close() {
      polls?.close();
      resources?.close();
    },
  };
}

type Handler = ReturnType<typeof createHttpHandler>;

function createResources(
  { authority, origin }: NonNullable<HttpFlags["get"]>,
  {
    serverOf,
    ...options
  }: {
    readonly serverOf: () => XdsServer;
    readonly source: ServerOptions["source"];
    readonly registry: Registry;
    readonly clock: Clock;
  },
): Handler {
  return createHttpHandler({
    ...options,
    allowOrigin: origin ?? false,
    ...(authority !== undefined && { authority }),
    viewOf: async ({ peer, identity, target }, signal) =>
      serverOf().viewCaller(
        { address: peer, ...(identity !== undefined && { identity }) },
        { path: pathOf(target), signal },
      ),
  });
}

function pathOf(target: string): string {
  return target.split("?", 1)[0] ?? "";
}

function recordHttp(meter: MetricsMeter, handler: Handler): void {
  meter
    .createObservableCounter("xdstp_http_answers_total", {
      description: "Answers to requests for single resources over HTTP, by status",
    })
    .addCallback((result) => {
      for (const [status, count] of handler.answered)
        result.observe(count, { status: String(status) });
    });
  meter
    .createObservableGauge("xdstp_http_waiting", {
      description: "Requests for single resources over HTTP that wait for a change",
    })
    .addCallback((result) => {
      result.observe(handler.waiting);
    });
}
