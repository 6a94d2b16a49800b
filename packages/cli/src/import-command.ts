import { isAbsolute, relative, resolve, sep } from "node:path";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { clientTlsFlags, clientTlsOptions } from "./asked-server.ts";
import {
  type Command,
  type CommandCall,
  pathFrom,
  secondsFlag,
  takeNoMore,
  wordFlag,
} from "./command.ts";
import { parseEndpoint, parseListen } from "./endpoint.ts";
import type { ImportKind } from "./import.ts";

/** `xdstp import`: converts a configuration into a folder and a bootstrap. */
export const importCommand: Command = {
  name: "import",
  summary:
    "Move the configuration of an Envoy, or of the Gateway API, into a folder that is served.",
  usage:
    "xdstp import envoy|config-dump|gateway-api FILE|URL... DIR [--bootstrap FILE] [--server HOST:PORT] [--variant sotw|delta] [--admin HOST:PORT] [--node ID] [--cluster NAME] [--tls | --tls-ca FILE] [--tls-cert FILE --tls-key FILE] [--descriptors FILE]... [--force] [--dry-run] [--json] [--timeout SECONDS]",
  notes: [
    "`envoy` reads a configuration with which Envoy starts, YAML or JSON. Its static listeners, clusters and secrets become files of DIR, and the rest a bootstrap that takes them from the server: node, admin page, stats sinks, tracing, runtime, overload manager and all else stay, with comments.",
    "Static stays what other static parts or config sources refer to, and each such resource is reported with the reason.",
    "`config-dump` reads what a running Envoy has, static or from another server: a file or a URL such as http://127.0.0.1:9901, where /config_dump?include_eds is read. Routes, scoped routes, endpoints and extension configurations become files too. Envoy redacts private keys and passwords in a dump, so resources that have them are not imported; each is reported.",
    "`gateway-api` reads objects of Kubernetes in one or more files, as `kubectl get -o yaml` writes them: Gateways with HTTPRoutes, GRPCRoutes, TLSRoutes, TCPRoutes and UDPRoutes, Services with EndpointSlices, Secrets, ReferenceGrants and BackendTLSPolicies. What is not supported is reported with its file and line, and with what becomes of its requests.",
    "All is written, or nothing. Files with private keys or passwords have mode 0600.",
  ],
  options: {
    bootstrap: {
      value: "FILE",
      help: "where the bootstrap is written (default DIR.bootstrap.yaml, next to DIR)",
    },
    server: {
      value: "HOST:PORT",
      help: "where the server will listen (default 127.0.0.1:18000)",
    },
    variant: { value: "sotw|delta", help: "the variant of the protocol (default delta)" },
    admin: {
      value: "HOST:PORT",
      help: "where the admin page listens (default: as it is in the configuration)",
    },
    node: { value: "ID", help: "the id of the node, where it has none (default envoy)" },
    cluster: {
      value: "NAME",
      help: "the cluster of the node, where it has none (default: default)",
    },
    ...clientTlsOptions,
    descriptors: {
      value: "FILE",
      multiple: true,
      help: "messages of extensions that are not part of Envoy, as `buf build -o FILE` writes them",
    },
    force: {
      help: "write into a DIR that holds something, and replace files; files that are not part of the import stay, and links are followed",
    },
    "dry-run": {
      help: "check everything, write nothing, and show what would be written; secrets are not shown",
    },
    json: { help: "one JSON object" },
    timeout: { value: "SECONDS", help: "how long to wait for a URL (default 10)" },
  },
  example: "xdstp import envoy envoy.yaml config && xdstp serve config",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const { kind, from, dir } = whatIsImported(call.positionals);
  const admin = call.text("admin");
  const tls = clientTlsFlags(call);
  const target = pathFrom(io.cwd, dir);
  const bootstrap = pathFrom(
    io.cwd,
    call.text("bootstrap") ?? `${nextTo(io.cwd, dir)}.bootstrap.yaml`,
  );
  if (isInside(bootstrap, target))
    throw new CliError(
      2,
      `--bootstrap ${bootstrap}: this is inside of ${target}, where serve would read it as a resource; name a file elsewhere`,
    );
  const { importInto } = await import("./import.ts");
  return importInto(
    {
      kind,
      from: from.map((one) => (isUrl(one) ? one : pathFrom(io.cwd, one))),
      dir: target,
      bootstrap,
      connection: {
        server: parseEndpoint("--server", call.text("server") ?? "127.0.0.1:18000", 1),
        variant: wordFlag(call, "variant", ["sotw", "delta"]) ?? "delta",
        node: call.text("node") ?? "envoy",
        cluster: call.text("cluster") ?? "default",
        authorities: [],
        ...(tls && { tls }),
      },
      admin: admin === undefined ? undefined : parseListen("--admin", admin),
      descriptors: call.texts("descriptors").map((file) => pathFrom(io.cwd, file)),
      force: call.flag("force"),
      dryRun: call.flag("dry-run"),
      json: call.flag("json"),
      timeoutMs: secondsFlag(call, "timeout") ?? 10_000,
    },
    io,
  );
}

interface WhatIsImported {
  readonly kind: ImportKind;
  readonly from: readonly string[];
  readonly dir: string;
}

/** Reads the arguments. For `gateway-api`, all arguments but the last are files. */
function whatIsImported(positionals: readonly string[]): WhatIsImported {
  const [kind = "", ...rest] = positionals;
  if (!isImportKind(kind))
    throw new CliError(
      2,
      positionals.length === 0
        ? "import what, envoy, config-dump or gateway-api?"
        : `${JSON.stringify(kind)} cannot be imported, only envoy, config-dump and gateway-api`,
    );
  const count = kind === "gateway-api" ? Math.max(1, rest.length - 1) : 1;
  const given = rest.slice(0, count);
  const [dir, ...more] = rest.slice(count);
  if (given.length === 0 || given.includes("")) throw new CliError(2, whichInput[kind]);
  for (const one of given) rejectOtherInput(kind, one);
  if (dir === undefined || dir === "") throw new CliError(2, "into which folder?");
  takeNoMore(more, "; one configuration is imported into one folder");
  return { kind, from: given, dir };
}

const whichInput: Readonly<Record<ImportKind, string>> = {
  envoy: "which configuration?",
  "config-dump": "which dump?",
  "gateway-api": "which files with objects of Kubernetes?",
};

function isImportKind(kind: string): kind is ImportKind {
  return Object.hasOwn(whichInput, kind);
}

/** Returns true if a dump is read from a URL. */
function isUrl(from: string): boolean {
  return /^https?:/i.test(from);
}

/** Throws a CliError for a URL or scheme that this kind does not read. The error does not show a URL, since it may contain a password. */
function rejectOtherInput(kind: ImportKind, from: string): void {
  if (isUrl(from) && kind !== "config-dump")
    throw new CliError(
      2,
      kind === "envoy"
        ? "envoy reads a file, not a URL; what a running Envoy has is read with: xdstp import config-dump URL DIR"
        : "gateway-api reads files, not URLs; write the objects into one: kubectl get -o yaml",
    );
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(from)?.[1];
  if (!isUrl(from) && scheme !== undefined)
    throw new CliError(
      2,
      `${scheme}:// cannot be read; ${kind === "config-dump" ? "write http://HOST:PORT, the admin page of an Envoy, or give a file" : "give a file"}`,
    );
  if (kind === "config-dump" && /^([\w.-]+|\[[\da-f:.]+\]):\d+(\/|$)/i.test(from))
    throw new CliError(2, `write http://${from} for the admin page of an Envoy`);
}

/** Returns the path of a folder, as the beginning of the path of a file next to it: `config/` becomes `config`, and `.` becomes the absolute path. */
function nextTo(cwd: string, dir: string): string {
  const trimmed = dir.replace(/(?<=.)\/+$/, "");
  return /(^|\/)\.{1,2}$/.test(trimmed) ? resolve(cwd, trimmed) : trimmed;
}

function isInside(file: string, dir: string): boolean {
  const way = relative(dir, file);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
