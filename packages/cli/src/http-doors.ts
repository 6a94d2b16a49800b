import type { HttpListener, MetricsMeter, ServerOptions } from "@xdstp/server";
import type { DoorContext, HttpFlags } from "./http-flags.ts";
import { type Door, guardHost, guardOrigin } from "./guard-browsers.ts";
import { createHttpHandler, createHttpRoute } from "@xdstp/transport-http/server";
import { createRestHandler, createRestRoute } from "@xdstp/transport-rest/server";

/** The listeners of a server for these protocols. */
export interface HttpDoors {
  readonly listeners: readonly HttpListener[];
  /** Adds services of gRPC. */
  readonly routes: NonNullable<ServerOptions["routes"]>;
  /** Answers what waits, and rejects further requests. */
  close(): void;
}

/** Creates the listeners. */
export async function createHttpDoors(
  { rest, get, openfeature }: HttpFlags,
  context: DoorContext,
): Promise<HttpDoors> {
  const { serverOf, registry, clock, meter, hasTls } = context;
  const polls = rest
    ? createRestHandler({
        accept: (...call) => serverOf().accept(...call),
        registry,
        clock,
      })
    : undefined;
  const resources = get && createResources(get, context);
  if (resources !== undefined && meter !== undefined) recordHttp(meter, resources);
  // Loaded only here: few commands need the evaluation of flags.
  const flags =
    openfeature && (await import("./flags-door.ts")).createFlagsDoor(openfeature, context);
  const guarded = (door: Door, hosts: readonly string[]): HttpListener =>
    hasTls ? door.listener : guardHost(door, new Set(hosts.map((host) => host.toLowerCase())));
  const listeners: HttpListener[] = [];
  if (polls !== undefined)
    listeners.push(
      guardOrigin({ listener: createRestRoute(polls), serves: (path) => polls.serves(path) }),
    );
  if (flags !== undefined) listeners.push(guarded(flags, openfeature?.hosts ?? []));
  // Every path is a resource, so those of the others come first.
  if (resources !== undefined)
    listeners.push(
      guarded({ listener: createHttpRoute(resources, { clock }), serves: () => true }, [
        ...(get?.hosts ?? []),
        get?.authority ?? "",
      ]),
    );
  return {
    listeners,
    routes: (router) => {
      flags?.routes(router);
    },
    close() {
      polls?.close();
      flags?.close();
      resources?.close();
    },
  };
}

type Handler = ReturnType<typeof createHttpHandler>;

function createResources(
  { authority, origin }: NonNullable<HttpFlags["get"]>,
  { serverOf, source, registry, clock }: DoorContext,
): Handler {
  return createHttpHandler({
    source,
    registry,
    clock,
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
