import { XdsError } from "@xdstp/core";
import type { RejectedVersion, UpstreamStatus } from "@xdstp/relay";
import {
  createServer,
  type Health,
  type MetricsMeter,
  type ServerOptions,
  type XdsServer,
} from "@xdstp/server";
import { CliError } from "./cli-error.ts";
import type { Served, ServeEvent } from "./cli-event.ts";
import type { CliIo } from "./cli-io.ts";
import {
  type Endpoint,
  exposureWarning,
  formatEndpoint,
  reachable,
  type ServedTls,
  serverName,
} from "./endpoint.ts";
import { createHealthBook, noteBrokenCertificate, noteCertificates } from "./health-book.ts";
import { createReporter } from "./create-reporter.ts";
import { followFiles } from "./follow-files.ts";
import {
  asTlsFileError,
  followTlsFiles,
  readTlsFiles,
  type TlsContents,
  type TlsFiles,
} from "./tls-files.ts";
import type { loadRegistry } from "./load-registry.ts";
import { serveMetrics } from "./metrics-server.ts";
import { groupLimits } from "./named-limits.ts";
import { openPolicyFile } from "./policy-file.ts";
import { createPrometheusMeter } from "./prometheus-meter.ts";
import { ownVersion } from "./process-io.ts";
import { recordHealth, recordLogLoss, recordProcess } from "./host-metrics.ts";
import { recordVersions, type ServedVersions } from "./served-versions.ts";
import type { ServerFlags } from "./server-flags.ts";
import {
  type LoadedTransport,
  loadServedTransports,
  openTransportDoors,
} from "./transport-doors.ts";
import { createStage, type Held, type Tell } from "./reporter.ts";
import { untilStopped } from "./until-stopped.ts";

/** The options of a server that a command runs. */
export interface HostOptions extends ServerFlags {
  /** The message types whose content client status shows. */
  readonly registry: Awaited<ReturnType<typeof loadRegistry>>;
}

/** The resources that a command serves, and the state that is shown of them. */
export interface Supply {
  /** The name of the command. */
  readonly from: "serve" | "relay";
  /** The origin of the resources, for people. */
  readonly what: Served;
  readonly held: () => Held;
  readonly serving: Pick<
    ServerOptions,
    "source" | "sourceFor" | "clientStatus" | "routes" | "meter" | "resources"
  >;
  /** Returns the origin of a resource. Absent: the origin is not known. */
  readonly originOf?: NonNullable<ServerOptions["originOf"]>;
  /** Returns the state of the servers upstream. Absent: the command has none. */
  readonly upstreams?: () => readonly UpstreamStatus[];
  /** Returns the health of the origin. Absent: unknown. */
  readonly health?: () => readonly Health[];
  /** Returns the version of each type, as a client that subscribes to all of it shows it. */
  readonly versions: () => ServedVersions;
  /** Returns the versions that clients have rejected, newest first. Absent: rejections are not counted. */
  readonly rejections?: () => readonly RejectedVersion[];
  /** Starts when the server listens. Resolves if changes are no longer followed, with the reason; with `undefined` if this was on purpose. */
  start(): Promise<unknown>;
  close(): Promise<void>;
}

/** Serves until a signal stops it, and returns the exit code. Throws a CliError if it cannot start; nothing stays open then. */
export async function hostServer(
  options: HostOptions,
  open: (tell: Tell) => Supply | Promise<Supply>,
  io: CliIo,
): Promise<number> {
  const stage = createStage();
  const checked = await checkFiles(options);
  const supply = await open(stage.tell);
  let linesLost = 0;
  const host = await openHost({ ...checked, linesLost: () => linesLost }, supply, stage.tell, io);
  const { from, what, held, upstreams, rejections } = supply;
  const reporter = createReporter({
    from,
    what,
    address: host.address,
    tls: host.tls,
    held,
    server: host.server,
    upstreams,
    rejections,
    json: options.json,
    io,
    onLinesLost: (lines) => {
      linesLost += lines;
    },
  });
  stage.enter(reporter);
  try {
    return await untilStopped({
      io,
      failed: supply.start(),
      say: (event) => {
        stage.tell({ from, event });
      },
      close: () => host.close(),
      streams: () => host.server.status().length,
    });
  } finally {
    host.letGo();
    reporter.close();
  }
}

/** An open server of a command. */
export interface OpenHost {
  readonly server: XdsServer;
  readonly address: Endpoint;
  /** Absent: the server does not have TLS. */
  readonly tls: ServedTls | undefined;
  /** Returns the health of the policy file and of the certificate. */
  files(): readonly Health[];
  /** Ends the streams, then the supply, so that pending responses are still sent. */
  close(): Promise<void>;
  /** Stops following files and serving metrics. */
  letGo(): void;
}

/** The options of a server, with the contents of the files that they name. The files are read before anything is opened. */
export interface CheckedOptions extends HostOptions {
  readonly contents: TlsContents | undefined;
  readonly rules: Awaited<ReturnType<typeof openPolicyFile>> | undefined;
  readonly loaded: readonly LoadedTransport[];
  /** Returns the number of lines of the log that were lost. Absent: another process writes the log. */
  readonly linesLost?: () => number;
}

/** Reads the files that the options name, and loads the packages. Throws a CliError for the first one that cannot be used. */
export async function checkFiles(options: HostOptions): Promise<CheckedOptions> {
  return {
    ...options,
    contents: options.tls && (await readTlsFiles(options.tls)),
    loaded: await loadServedTransports(options.transports),
    rules:
      options.policy === undefined
        ? undefined
        : await openPolicyFile(options.policy, {
            certificates: options.tls?.clientCa !== undefined,
          }),
  };
}

/** Listens, and reports the address. Throws a CliError if it cannot; then nothing stays open, and the supply is closed. */
export async function openHost(
  options: CheckedOptions,
  supply: Supply,
  tell: Tell,
  { clock, nodeVersion }: Pick<CliIo, "clock" | "nodeVersion">,
): Promise<OpenHost> {
  const { controlPlane, registry, contents, rules: policy, limits } = options;
  const { from, what, held, serving } = supply;
  const say = (event: ServeEvent): void => {
    tell({ from, event });
  };
  const meter = options.metrics && createPrometheusMeter();
  const book = createHealthBook(clock);
  const health = (): readonly Health[] => [...(supply.health?.() ?? []), ...book.rows()];
  if (options.policy !== undefined) book.good("policy", options.policy);
  if (options.tls !== undefined && contents !== undefined)
    noteCertificates(book, options.tls, contents);
  const onEvent: ServerOptions["onEvent"] = (event) => {
    tell({ from: "server", event });
  };
  const close = async (): Promise<void> => supply.close();
  const measuring = meter?.meter ?? serving.meter;
  const doors =
    options.http &&
    (await (
      await import("./http-doors.ts")
    ).createHttpDoors(options.http, {
      serverOf: () => server,
      source: serving.source,
      registry,
      clock,
      meter: measuring,
      hasTls: contents !== undefined,
      onRejectedFlags: (rejected) => {
        say({ kind: "flags-rejected", ...rejected });
      },
    }));
  const server = await begin(
    {
      ...serving,
      ...(doors && {
        http: doors.listeners,
        routes: (router) => {
          serving.routes?.(router);
          doors.routes(router);
        },
      }),
      health,
      ...(supply.originOf && { originOf: supply.originOf }),
      clock,
      registry,
      nodeVersion,
      ...(meter && { meter: meter.meter }),
      ...(controlPlane !== undefined && { controlPlane }),
      limits: groupLimits(limits),
      ...(contents && { tls: contents }),
      ...(policy && { authorize: policy.book.authorize }),
      onEvent,
    },
    close,
  );
  const metrics =
    options.metrics &&
    meter &&
    (await serveMetrics(options.metrics, {
      metrics: () => meter.text(),
      ready: () => held().ready,
      health,
    }).catch(async (error: unknown) => undo(error, close)));
  const address = await listen(server, options.listen).catch(async (error: unknown) =>
    undo(error, async () => {
      metrics?.close();
      await close();
    }),
  );
  const others = await openTransportDoors(options.loaded, server, clock).catch(
    async (error: unknown) =>
      undo(error, async () => {
        metrics?.close();
        await closeAll(server, close);
      }),
  );
  const tls = contents && {
    name: serverName(contents.cert, reachable(address.host)),
    clients: contents.clientCa !== undefined,
  };
  const warnings = [
    exposureWarning(options.listen.host, protectionOf(options.tls)),
    ...options.loaded.map((transport) => exposureWarning(transport.address.host, "none")),
  ];
  for (const message of new Set(warnings))
    if (message !== undefined) say({ kind: "warning", message });
  say({
    kind: "listening",
    address,
    ...what,
    ...(tls && { tls }),
    ...(metrics && { metrics: metrics.address }),
    ...(options.http && { http: options.http }),
    ...(others.urls.length > 0 && { transports: others.urls }),
  });
  const tlsFiles = options.tls;
  const follower =
    tlsFiles &&
    contents &&
    followTlsFiles({
      files: tlsFiles,
      first: contents,
      clock,
      apply(next) {
        setTls(server, next);
        noteCertificates(book, tlsFiles, next);
      },
      onChange(problem) {
        say({
          kind: "certificate",
          ...(problem !== undefined && {
            file: noteBrokenCertificate(book, tlsFiles, problem),
            problem: problem.text,
          }),
        });
      },
    });
  const rules =
    policy &&
    followFiles({
      ...policy.followed,
      clock,
      onChange(problem) {
        if (problem === undefined) book.good("policy", options.policy ?? "");
        else book.bad("policy", options.policy ?? "", problem.text);
        say({ kind: "policy", ...(problem !== undefined && { problem: problem.text }) });
      },
    });
  const stopMeasuring = measuring && measureHost(measuring, health, { clock, nodeVersion });
  if (measuring !== undefined) recordVersions(measuring, supply.versions);
  if (measuring !== undefined && options.linesLost !== undefined)
    recordLogLoss(measuring, options.linesLost);
  return {
    server,
    address,
    tls,
    files: () => book.rows(),
    async close() {
      doors?.close();
      await closeAll(server, async () => {
        await others.close().finally(close);
      });
    },
    letGo() {
      for (const one of [follower, rules, metrics]) one?.close();
      stopMeasuring?.();
    },
  };
}

function measureHost(
  meter: MetricsMeter,
  health: () => readonly Health[],
  io: Pick<CliIo, "clock" | "nodeVersion">,
): () => void {
  recordHealth(meter, health);
  return recordProcess(meter, { ...io, version: ownVersion() });
}

async function undo(error: unknown, close: () => Promise<void>): Promise<never> {
  await close();
  throw error;
}

/** Creates the server. The only error that is possible before it listens is an invalid certificate. */
async function begin(options: ServerOptions, close: () => Promise<void>): Promise<XdsServer> {
  try {
    return createServer(options);
  } catch (error) {
    return undo(asTlsFileError(error), close);
  }
}

function setTls(server: XdsServer, contents: TlsContents): void {
  try {
    server.setTls(contents);
  } catch (error) {
    throw asTlsFileError(error);
  }
}

function protectionOf(tls: TlsFiles | undefined): "none" | "tls" | "mtls" {
  if (tls === undefined) return "none";
  return tls.clientCa === undefined ? "tls" : "mtls";
}

async function listen(server: XdsServer, where: Endpoint): Promise<Endpoint> {
  try {
    return await server.listen(where);
  } catch (error) {
    const { code } =
      ((error instanceof XdsError ? error.context.cause : undefined) as
        NodeJS.ErrnoException | undefined) ?? {};
    const text = XdsError.from(error).text;
    throw new CliError(
      1,
      code === "EADDRINUSE"
        ? `${formatEndpoint(where)} is in use by another program, or by an outgoing connection that has this local port; stop that one, or listen elsewhere: --listen ${formatEndpoint({ ...where, port: 0 })} takes a free port`
        : text,
      { cause: error },
    );
  }
}

/** Ends the streams before the supply, so that pending responses are still sent. */
async function closeAll(server: XdsServer, close: () => Promise<void>): Promise<void> {
  await server.close();
  await close();
}
