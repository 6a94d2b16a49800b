import { parseName, printName } from "@xdstp/uri";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type CommandCall, countFlag, pathFrom } from "./command.ts";
import { clash, type Endpoint, formatEndpoint, parseListen } from "./endpoint.ts";
import type { HttpFlags } from "./http-flags.ts";
import { limitsFlag, serverLimits } from "./limits-flag.ts";
import type { NamedLimits } from "./named-limits.ts";
import type { TlsFiles } from "./tls-files.ts";
import { type ServedTransport, servedTransports } from "./transport-flags.ts";

/** The options that all commands which serve have. */
export interface ServerFlags {
  readonly listen: Endpoint;
  readonly json: boolean;
  readonly controlPlane?: string | undefined;
  /** The certificate files. Absent: no TLS. */
  readonly tls?: TlsFiles | undefined;
  /** Limits that differ from the defaults of the server. */
  readonly limits: NamedLimits;
  /** The path of a policy file. Absent: each client sees everything. */
  readonly policy?: string | undefined;
  /** The address for the metrics of Prometheus. Absent: metrics are not served. */
  readonly metrics?: Endpoint | undefined;
  /** The protocols over HTTP. Absent: gRPC only. */
  readonly http?: HttpFlags | undefined;
  /** Other transports, each at an address of its own. Absent: none. */
  readonly transports?: readonly ServedTransport[] | undefined;
}

/** The options for the address and the form of the output. */
export const listenOptions = {
  listen: {
    value: "HOST:PORT",
    help: "where to listen; PORT alone is on loopback, port 0 takes a free one (default 127.0.0.1:18000)",
  },
  json: { help: "one JSON object per event and line, on a terminal too" },
} as const;

/** The other options of a command that serves. */
export const serverOptions = {
  "control-plane": {
    value: "NAME",
    help: "how the server calls itself towards clients (default xdstp)",
  },
  "stream-names": {
    value: "N",
    help: "how many names of one type a stream may ask for, a tenth of them globs (default 100000, and 1000 globs); a relay asks on one stream for all its clients",
  },
  limit: {
    value: "NAME=NUMBER",
    multiple: true,
    help: "another value of a limit, such as messageMs=60000; may be given several times. The README has the names, defaults and units",
  },
  rest: {
    help: "also answer polls of xDS over HTTP, POST /v3/discovery:TYPE, on the same port",
  },
  http: {
    help: "also serve single resources over HTTP, GET /TYPE/ID, on the same port; the host of a request is the authority of its names",
  },
  "http-authority": {
    value: "NAME",
    help: "the authority of the names that --http serves, whatever the host of a request",
  },
  openfeature: {
    value: "NAME",
    help: "also serve feature flags, OFREP over HTTP and flagd.sync.v1 over gRPC, on the same port. NAME is the glob of the flags, such as xdstp://AUTHORITY/google.protobuf.Struct/shop/*, or one resource with a set of flags",
  },
  "http-origin": {
    value: "ORIGIN",
    help: "let pages of this origin, such as https://app.example, or * for all pages, read what --http and --openfeature serve (default: none)",
  },
  "http-host": {
    value: "NAME",
    multiple: true,
    help: "serve --http and --openfeature under this host too; without TLS, only addresses, localhost and the --http-authority are",
  },
  transport: {
    value: "PACKAGE=HOST:PORT",
    multiple: true,
    help: "also serve over the transport of this package, at this address; PORT alone is on loopback; may be given several times",
  },
  metrics: {
    value: "HOST:PORT",
    help: "serve /metrics for Prometheus, /healthz and /readyz there, over HTTP; PORT alone is on loopback",
  },
  "tls-cert": {
    value: "FILE",
    help: "the certificate of the server and those between it and its authority, PEM",
  },
  "tls-key": { value: "FILE", help: "its private key, PEM" },
  "tls-client-ca": {
    value: "FILE",
    help: "serve only clients with a certificate that one of these authorities has signed, PEM",
  },
  policy: {
    value: "FILE",
    help: "rules by the certificate or the address of clients that say which names each may see; the file is followed",
  },
} as const;

/** The text of {@link serverOptions} in a usage line. */
export const serverUsage =
  "[--control-plane NAME] [--stream-names N] [--limit NAME=NUMBER]... [--rest] [--http [--http-authority NAME]] [--openfeature NAME] [--http-host NAME]... [--http-origin ORIGIN] [--transport PACKAGE=HOST:PORT]... [--metrics HOST:PORT] [--tls-cert FILE --tls-key FILE [--tls-client-ca FILE]] [--policy FILE]";

/** The note of the help text on the output and on stopping. */
export const shownNote =
  "On a terminal it shows a table of clients and types; elsewhere one event per line. Ctrl-C ends it in order, a second one at once.";

/** Reads {@link listenOptions} and {@link serverOptions}. Throws a CliError for options that contradict each other. */
export async function serverFlags(
  call: CommandCall,
  { cwd }: CliIo,
  {
    upstream = false,
  }: {
    /** True: a transport without an address is for servers upstream. */
    readonly upstream?: boolean;
  } = {},
): Promise<ServerFlags> {
  const tls = tlsFilesOf(call, cwd);
  const listen = parseListen("--listen", call.text("listen") ?? "18000");
  const metrics = metricsOf(call, listen);
  const policy = call.text("policy");
  const streamNames = countFlag(call, "stream-names");
  const limits = {
    ...(streamNames !== undefined && (await import("./named-limits.ts")).streamLimits(streamNames)),
    ...(await limitsFlag(call, serverLimits)),
  };
  return {
    listen,
    limits,
    json: call.flag("json"),
    tls,
    metrics,
    http: httpOf(call),
    transports: servedTransports(call, cwd, upstream),
    controlPlane: call.text("control-plane"),
    policy: policy && pathFrom(cwd, policy),
  };
}

function httpOf(call: CommandCall): HttpFlags | undefined {
  const rest = call.flag("rest");
  const isGet = call.flag("http");
  const [authority, origin, collection] = ["http-authority", "http-origin", "openfeature"].map(
    (name) => call.text(name),
  );
  const hosts = call.texts("http-host");
  if (authority !== undefined && !isGet)
    throw new CliError(2, "--http-authority says how --http serves resources; add --http");
  const needless = origin !== undefined ? "--http-origin" : hosts.length > 0 ? "--http-host" : "";
  if (needless !== "" && !isGet && collection === undefined)
    throw new CliError(2, `${needless} says how --http and --openfeature serve; add one of them`);
  if (origin !== undefined && origin !== "*" && !isOrigin(origin))
    throw new CliError(
      2,
      `--http-origin ${JSON.stringify(origin)} is not an origin, such as https://app.example, or *`,
    );
  if (!rest && !isGet && collection === undefined) return undefined;
  const pages = { hosts, ...(origin !== undefined && { origin }) };
  return {
    rest,
    ...(isGet && { get: { ...pages, ...(authority !== undefined && { authority }) } }),
    ...(collection !== undefined && {
      openfeature: { ...pages, collection: flagsName(collection) },
    }),
  };
}

const flagsType = "google.protobuf.Struct";

/** Returns the name of flags in its canonical spelling. Throws a CliError for another name. */
function flagsName(text: string): string {
  const read = parseName(text);
  const problem = !read.ok
    ? read.error.message
    : read.value.resourceType !== flagsType
      ? `it is a name of ${read.value.resourceType}, and flags are ${flagsType}`
      : undefined;
  if (read.ok && problem === undefined) return printName(read.value);
  throw new CliError(
    2,
    `--openfeature ${JSON.stringify(text)}: ${problem}; give a name such as xdstp://AUTHORITY/${flagsType}/shop/*`,
    read.ok ? {} : { rule: read.error.rule },
  );
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

function metricsOf(call: CommandCall, listen: Endpoint): Endpoint | undefined {
  const text = call.text("metrics");
  if (text === undefined) return undefined;
  const metrics = parseListen("--metrics", text);
  if (clash(metrics, listen))
    throw new CliError(
      2,
      `--metrics ${formatEndpoint(metrics)} needs another port than --listen ${formatEndpoint(listen)}; port 0 takes a free one`,
    );
  return metrics;
}

function tlsFilesOf(call: CommandCall, cwd: string): TlsFiles | undefined {
  const [cert, key, clientCa] = ["tls-cert", "tls-key", "tls-client-ca"]
    .map((name) => call.text(name))
    .map((file) => (file === undefined ? undefined : pathFrom(cwd, file)));
  if (cert !== undefined && key !== undefined)
    return { cert, key, ...(clientCa !== undefined && { clientCa }) };
  if (cert === undefined && key === undefined && clientCa === undefined) return undefined;
  throw new CliError(2, "TLS needs both --tls-cert and --tls-key");
}
