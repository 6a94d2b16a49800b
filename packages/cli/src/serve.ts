import { type Cache, createCache } from "@xdstp/cache";
import { XdsError } from "@xdstp/core";
import { createFolderFeed } from "@xdstp/folder";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer, type ServerOptions, type XdsServer } from "@xdstp/server";
import { checkFolder } from "./check-folder.ts";
import { CliError } from "./cli-error.ts";
import type { CliEvent, ServeEvent } from "./cli-event.ts";
import type { CliIo } from "./cli-io.ts";
import { reachable } from "./connect-commands.ts";
import { createReporter } from "./create-reporter.ts";
import { exposureWarning } from "./exposure-warning.ts";
import { type FollowOptions, followFiles } from "./follow-files.ts";
import { followTlsFiles } from "./follow-tls-files.ts";
import { loadRegistry } from "./load-registry.ts";
import { serveMetrics } from "./metrics-server.ts";
import { type Endpoint, formatEndpoint } from "./parse-endpoint.ts";
import { createPolicyBook, type PolicyBook } from "./policy-book.ts";
import { type PolicyFile, readPolicyFile } from "./policy-file.ts";
import { createPrometheusMeter } from "./prometheus-meter.ts";
import type { Reporter } from "./reporter.ts";
import { serverName } from "./server-name.ts";
import { readTlsFiles, type TlsFiles } from "./tls-files.ts";
import { untilStopped } from "./until-stopped.ts";

/** What `xdstp serve` was asked to do. */
export interface ServeOptions {
  readonly dir: string;
  readonly listen: Endpoint;
  /** Files with descriptor sets. */
  readonly descriptors: readonly string[];
  readonly json: boolean;
  readonly allowMassDelete: boolean;
  /** Absent: all that the folder holds. */
  readonly authorities?: readonly string[];
  readonly controlPlane?: string;
  /** Absent: no TLS. */
  readonly tls?: TlsFiles;
  /** A file of rules; absent: who may come in sees everything. */
  readonly policy?: string;
  /** Where Prometheus may scrape; absent: nowhere. */
  readonly metrics?: Endpoint;
}

/** A folder changes seldom, and then much of it: of each type so much is kept of what was before, for `xdstp status` and others who ask what a client holds. */
const replacedBytes = 16 << 20;

/** Serves until it is asked to stop; the answer is the exit code. Throws a CliError if it cannot begin: then nothing is left open. */
export async function serve(options: ServeOptions, io: CliIo): Promise<number> {
  const { dir, allowMassDelete, authorities, controlPlane } = options;
  await checkFolder(dir);
  const registry = await loadRegistry(options.descriptors);
  const tls = options.tls && { files: options.tls, first: await readTlsFiles(options.tls) };
  const policy = options.policy === undefined ? undefined : await usePolicy(options.policy);
  const stage = createStage();
  const tell = (shown: CliEvent): void => { stage.event(shown); };
  const say = (event: ServeEvent): void => { tell({ from: "serve", event }); };
  const { clock } = io;
  const cache = createCache({ types: envoyTypes, clock, replacedBytes, ...(authorities && { authorities }), onEvent: (event) => { tell({ from: "cache", event }); } });
  const meter = options.metrics && createPrometheusMeter();
  const server = begin({ source: cache, clock, registry, nodeVersion: io.nodeVersion, ...(meter && { meter: meter.meter }), ...(controlPlane !== undefined && { controlPlane }), ...(tls && { tls: tls.first }), ...(policy && { authorize: policy.book.authorize }), onEvent: (event) => { tell({ from: "server", event }); } });
  const metrics = options.metrics && meter && await serveMetrics(options.metrics, { metrics: () => meter.text(), ready: () => cache.ready });
  const address = await listen(server, options.listen).catch((error: unknown) => {
    metrics?.close();
    throw error;
  });
  const served = tls && { name: serverName(tls.first.cert, reachable(address.host)), clients: tls.first.clientCa !== undefined };
  const reporter = createReporter({ dir, address, tls: served, cache, server, json: options.json, io });
  stage.enter(reporter);
  const exposed = exposureWarning(options.listen.host, protectionOf(options.tls));
  if (exposed !== undefined) say({ kind: "warning", message: exposed });
  say({ kind: "listening", dir, address, ...(served && { tls: served }), ...(metrics && { metrics: metrics.address }) });
  const feed = cache.addFeed(createFolderFeed({ dir, registry, allowMassDelete, clock, ...(authorities && { authorities }), onEvent: (event) => { tell({ from: "folder", event }); } }));
  const follower = tls && followTlsFiles({ ...tls, clock, apply: (contents) => { server.setTls(contents); }, onChange: (problem) => { say({ kind: "certificate", ...(problem !== undefined && { problem }) }); } });
  const rules = policy && followFiles({ ...policy.followed, clock, onChange: (problem) => { say({ kind: "policy", ...(problem !== undefined && { problem }) }); } });
  try {
    return await untilStopped({ io, failed: feed.ended, say, close: async () => { await closeAll(server, cache); }, streams: () => server.status().length });
  } finally {
    follower?.close();
    rules?.close();
    metrics?.close();
    reporter.close();
  }
}

/** What is told before anybody is there to show it, is shown then. */
function createStage(): { event(shown: CliEvent): void; enter(reporter: Reporter): void } {
  let show: ((shown: CliEvent) => void) | undefined;
  const early: CliEvent[] = [];
  return {
    event(shown) {
      if (show === undefined) early.push(shown);
      else show(shown);
    },
    enter(reporter) {
      show = (shown) => { reporter.event(shown); };
      for (const shown of early.splice(0)) show(shown);
    },
  };
}

async function usePolicy(file: string): Promise<{ readonly book: PolicyBook; readonly followed: Omit<FollowOptions<PolicyFile>, "clock" | "onChange"> }> {
  const first = await readPolicyFile(file);
  const book = createPolicyBook(first.rules);
  return { book, followed: { files: [file], first, read: async () => readPolicyFile(file), fingerprint: ({ text }) => text, apply: ({ rules }) => { book.apply(rules); } } };
}

/** Before it listens only a certificate can be wrong. */
function begin(options: ServerOptions): XdsServer {
  try {
    return createServer(options);
  } catch (error) {
    throw error instanceof XdsError ? new CliError(1, error.text.replace(/^tls\.(cert|key|clientCa)/, (_, part: keyof TlsFiles) => tlsOptions[part]), { cause: error }) : error;
  }
}

const tlsOptions: Readonly<Record<keyof TlsFiles, string>> = { cert: "--tls-cert", key: "--tls-key", clientCa: "--tls-client-ca" };

function protectionOf(tls: TlsFiles | undefined): "none" | "tls" | "mtls" {
  if (tls === undefined) return "none";
  return tls.clientCa === undefined ? "tls" : "mtls";
}

async function listen(server: XdsServer, where: Endpoint): Promise<Endpoint> {
  try {
    return await server.listen(where);
  } catch (error) {
    const { code } = (error instanceof XdsError ? error.context.cause : undefined) as NodeJS.ErrnoException | undefined ?? {};
    const text = XdsError.from(error).text;
    throw new CliError(1, code === "EADDRINUSE" ? `${formatEndpoint(where)} is in use by another program; stop that one, or listen elsewhere: --listen ${formatEndpoint({ ...where, port: 0 })} takes a free port` : text, { cause: error });
  }
}

/** Streams end before the feed stops, so that what was due still goes out. */
async function closeAll(server: XdsServer, cache: Cache): Promise<void> {
  await server.close();
  await cache.close();
}
