import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { JsonObject, Registry } from "@bufbuild/protobuf";
import { encodeNode } from "@xdstp/bootstrap";
import { type Cache, createCache } from "@xdstp/cache";
import { bootstrapFacts, createFederation, isHttpServer } from "@xdstp/federation";
import { createFolderFeed, formatProblem } from "@xdstp/folder";
import { cluster, envoyTypes, listener } from "@xdstp/resource-types";
import {
  createFileExport,
  type ExportState,
  pathSource,
  replaceFile,
} from "@xdstp/transport-file/server";
import type { AskFlags } from "./ask-flags.ts";
import { CliError, unreadable } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { configuredSources } from "./configured-sources.ts";
import type { Endpoint } from "./endpoint.ts";
import { adminAt } from "./envoy-bootstrap.ts";
import { jsonText } from "./json-text.ts";
import { loadRegistry } from "./load-registry.ts";
import { escapeJson, escapeText } from "./short-text.ts";
import { untilEnough } from "./until-stopped.ts";

/** The options of `xdstp export`. */
export interface ExportOptions {
  readonly dir: string;
  /** The servers, or the path of a folder. */
  readonly supply: AskFlags | string;
  /** The path of `dir` where Envoy runs. `undefined`: the absolute path of `dir`. */
  readonly readDir: string | undefined;
  /** The id of the node in the bootstrap. */
  readonly node: string;
  /** The cluster of the node in the bootstrap. */
  readonly cluster: string;
  /** The address of the admin page of Envoy. */
  readonly admin: Endpoint;
  /** true: each change is written until a signal ends the command. */
  readonly watch: boolean;
  /** true: `dir` may have other content. */
  readonly force: boolean;
  readonly json: boolean;
  /** The paths of descriptor sets. */
  readonly descriptors: readonly string[];
  /** Milliseconds to wait for the first state. `undefined`: no limit. */
  readonly timeoutMs: number | undefined;
}

/** Writes the files, and returns the exit code. Throws a CliError if the directory has other content, if nothing has come in time, or if a file cannot be written. */
export async function exportFiles(options: ExportOptions, io: CliIo): Promise<number> {
  const { dir, watch, timeoutMs, readDir = resolve(dir) } = options;
  if (!options.force) await checkTarget(dir);
  const registry = await loadRegistry(options.descriptors);
  const supply = await openSupply(options.supply, registry, io);
  const until = untilEnough(io, {});
  const limit = untilEnough(io, { timeoutMs });
  const { promise: failed, reject: fail }: PromiseWithResolvers<never> = Promise.withResolvers();
  failed.catch(() => undefined);
  let isStarted = false;
  const exporting = createFileExport({
    source: supply.cache,
    dir,
    readDir,
    registry,
    onWritten: (state) => {
      showState(state, options, io);
    },
    onError: (error) => {
      const unwritten = unwritable(error, dir);
      if (isStarted) io.stderr.write(`xdstp export: ${escapeText(unwritten.message)}\n`);
      else fail(unwritten);
    },
  });
  try {
    const first = await Promise.race([
      exporting.first.then(() => "written" as const),
      limit.enough,
      failed,
      supply.failed,
    ]);
    if (first === "time") throw supply.tooLate(timeoutMs ?? 0);
    if (first !== "written") return first === "broken-pipe" ? 1 : 0;
    isStarted = true;
    await writeBootstrap(options, readDir).catch((error: unknown) => {
      throw unwritable(error, dir);
    });
    if (!watch) return 0;
    return (await until.enough) === "broken-pipe" ? 1 : 0;
  } finally {
    until.stop();
    limit.stop();
    await exporting.close();
    await supply.close();
  }
}

/** The directories and files at the top of an export. */
const ownEntries: ReadonlySet<string> = new Set([
  "bootstrap.json",
  "lds.json",
  "cds.json",
  "rds",
  "eds",
  "sds",
  "ecds",
]);

/** Throws a CliError for a directory with something that is not part of an export, since files in it may be removed. */
async function checkTarget(dir: string): Promise<void> {
  const entries = await readdir(dir).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw unreadable(error, dir, "give a directory");
  });
  const other = entries.find((entry) => !entry.startsWith(".") && !ownEntries.has(entry));
  if (other !== undefined)
    throw new CliError(
      1,
      `${dir} holds ${JSON.stringify(other)}, which is not part of an export; give another directory, or --force`,
    );
}

/** The resources that an export reads, and how their supply may fail. */
interface ExportSupply {
  readonly cache: Cache;
  /** Rejects with a CliError when nothing more will come. Never resolves. */
  readonly failed: Promise<never>;
  /** The error after a timeout. */
  readonly tooLate: (timeoutMs: number) => CliError;
  close(): Promise<void>;
}

async function openSupply(
  supply: AskFlags | string,
  registry: Registry,
  io: CliIo,
): Promise<ExportSupply> {
  return typeof supply === "string" ? folderSupply(supply, registry, io) : serverSupply(supply, io);
}

function folderSupply(dir: string, registry: Registry, { clock }: CliIo): ExportSupply {
  const cache = createCache({ types: envoyTypes, clock });
  const { promise: failed, reject }: PromiseWithResolvers<never> = Promise.withResolvers();
  failed.catch(() => undefined);
  cache.addFeed(
    createFolderFeed({
      dir,
      registry,
      clock,
      onEvent: (event) => {
        if (event.kind === "unreadable") reject(new CliError(1, formatProblem(event.problem)));
        if (event.kind === "rejected" && !event.serving)
          reject(new CliError(1, event.problems.map(formatProblem).join("\n")));
      },
    }),
  );
  return {
    cache,
    failed,
    tooLate: (timeoutMs) => new CliError(1, `${dir} was not read within ${timeoutMs / 1_000} s`),
    close: () => cache.close(),
  };
}

async function serverSupply(ask: AskFlags, io: CliIo): Promise<ExportSupply> {
  const configured = await configuredSources(ask, io);
  const { clock } = io;
  const servers = configured.sources.flatMap((source) => source.servers);
  const hasGlobs = servers.some(({ config }) => config !== undefined && !isHttpServer(config));
  if (servers.length > 0 && !hasGlobs)
    throw new CliError(
      1,
      `${servers.map(({ name }) => name).join(", ")}: an export reads all listeners and clusters, and native HTTP and files of one resource have only single names; give --server HOST:PORT of gRPC`,
    );
  const facts = bootstrapFacts(configured.bootstrap);
  const federation = createFederation({
    sources: [
      ...configured.more,
      ...facts.sources({
        node: encodeNode(configured.node),
        channels: await configured.openChannels(clock, (event) => {
          if (event.kind === "missing")
            io.stderr.write(`xdstp export: ${escapeText(event.message)}\n`);
        }),
        variant: ask.variant,
        // A reader of files has to lose what the server removes.
        keepRemoved: false,
        clock,
      }),
    ],
    clock,
  });
  const cache = createCache({
    types: envoyTypes,
    clock,
    directives: true,
    wildcard: (_, name) => federation.inWildcard(name),
  });
  cache.addFeed(federation);
  // Timers of the clock do not keep the process alive, so this one does.
  const alive = setInterval(() => undefined, 0x7fff_ffff);
  return {
    cache,
    failed: new Promise(() => undefined),
    tooLate: (timeoutMs) => {
      const failures = federation
        .status()
        .flatMap(({ name, failure }) =>
          failure === undefined ? [] : [`${name}: ${failure.text}`],
        );
      return new CliError(
        1,
        `the server has not answered everything within ${timeoutMs / 1_000} s, so nothing is written${failures.length === 0 ? "" : `; ${failures.join("; ")}`}`,
      );
    },
    async close() {
      clearInterval(alive);
      await cache.close();
    },
  };
}

/** Writes the bootstrap after the first state, since Envoy rejects a path that does not exist. */
async function writeBootstrap(options: ExportOptions, readDir: string): Promise<void> {
  const { dir, node, cluster: nodeCluster, admin } = options;
  const bootstrap: JsonObject = {
    node: { id: node, cluster: nodeCluster },
    admin: adminAt(admin),
    dynamic_resources: {
      lds_config: pathSource(join(readDir, "lds.json")),
      cds_config: pathSource(join(readDir, "cds.json")),
    },
  };
  const text = escapeJson(JSON.stringify(bootstrap, undefined, 2));
  await replaceFile(join(dir, "bootstrap.json"), `${text}\n`);
}

function showState(
  { files, notes, changed }: ExportState,
  { dir, json }: ExportOptions,
  { stdout, clock }: CliIo,
): void {
  if (json) {
    const time = new Date(clock.wallTime()).toISOString();
    stdout.write(`${jsonText({ time, dir, changed, files, notes })}\n`);
    return;
  }
  const count = (typeUrl: string): number =>
    files.reduce((sum, one) => sum + (one.typeUrl === typeUrl ? one.resources : 0), 0);
  stdout.write(
    [
      ...notes.map(({ message }) => escapeText(message)),
      `${dir}: ${files.length} files (${count(listener.typeUrl)} listeners, ${count(cluster.typeUrl)} clusters), ${changed} changed`,
      "",
    ].join("\n"),
  );
}

function unwritable(cause: unknown, dir: string): CliError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CliError(1, `${dir} cannot be written: ${reason}`, { cause });
}
