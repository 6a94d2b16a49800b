import type { JsonObject } from "@bufbuild/protobuf";
import { isDeeperThan, maxMetadataDepth } from "@xdstp/core";
import type { ChannelLimits } from "@xdstp/grpc/client";
import {
  type AskedServer,
  askedServer,
  type ClientTlsFiles,
  clientTlsPaths,
  clientTlsOptions,
} from "./asked-server.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type CommandCall, type CommandOption, countFlag, pathFrom, wordFlag } from "./command.ts";
import { cutText } from "./fit-text.ts";
import { limitsFlag, channelLimits } from "./limits-flag.ts";
import { transportNames } from "./transport-flags.ts";

/** The options of a command that connects to a server as a client: the server, and the node. */
export interface AskFlags {
  /** The server given by `--server` or `XDSTP_SERVER`. Absent: a bootstrap has the servers. */
  readonly server?: AskedServer | undefined;
  /** The certificate files given by the `--tls-*` options. Absent: no TLS, or as the bootstrap configures it. */
  readonly tls?: ClientTlsFiles | undefined;
  /** The path of a bootstrap. If both this and `server` are absent, the bootstrap is read from `GRPC_XDS_BOOTSTRAP` or `GRPC_XDS_BOOTSTRAP_CONFIG`. */
  readonly bootstrap?: string | undefined;
  /** The directory that names of files may lead to. Absent: names of files have no source. */
  readonly files?: string | undefined;
  /** The packages of `--transport`. Absent: none. */
  readonly transports?: readonly string[] | undefined;
  /** The id of the node. Absent: that of the bootstrap, or `xdstp`. `cluster` and `metadata` replace these parts of the node likewise. */
  readonly node?: string | undefined;
  readonly cluster?: string | undefined;
  /** Limits on messages of a server. Absent: the defaults. */
  readonly limits?: Partial<ChannelLimits> | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly variant: "delta" | "sotw";
  /** When an alternative (`#alt=`) is used. Absent: the default of `createClient`. */
  readonly altOn?: "unreachable" | "missing" | undefined;
  /** The number of redirects that are followed. Absent: the default of `createClient`. */
  readonly maxHops?: number | undefined;
  /** true: the servers of authorities without a configured source are looked up in DNS. */
  readonly dns?: boolean | undefined;
  /** Fields of the node that are sent as context parameters of globs. Absent: none. */
  readonly nodeContextParams?: readonly string[] | undefined;
  /** Attributes of the requested names, by key without the prefix `xds.resource.` (C-CTX-5). Absent: none. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  /** Dynamic parameters (C-DYN-1). Absent: none. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  /** false: a redirect itself is shown. Absent: redirects are followed. */
  readonly follow?: boolean | undefined;
  /** Every resource is rejected with this text. Absent: every resource that can be decoded is accepted. */
  readonly nack?: string | undefined;
}

/** The options of a command that connects to a server as a client. */
export const askOptions: Readonly<Record<string, CommandOption>> = {
  server: {
    value: "HOST:PORT",
    help: "whom to ask (default: that of XDSTP_SERVER): HOST:PORT of gRPC, or https://HOST of native HTTP; without it a bootstrap says",
  },
  bootstrap: {
    value: "FILE",
    help: "a bootstrap of gRPC (JSON) or of Envoy (YAML or JSON); default: that of gRPC in the file in GRPC_XDS_BOOTSTRAP, or the JSON in GRPC_XDS_BOOTSTRAP_CONFIG",
  },
  type: {
    value: "TYPE",
    help: "of names that do not say theirs: clusters, listeners, ..., or a full message name",
  },
  sotw: { help: "by the SotW variant of the protocol, where a bootstrap of Envoy does not say it" },
  delta: { help: "by the delta variant (the default)" },
  node: { value: "ID", help: "the node of this client (default xdstp, or as the bootstrap says)" },
  cluster: { value: "NAME", help: "the cluster of the node" },
  "node-metadata": { value: "JSON", help: "the metadata of the node, a JSON object" },
  "node-context-params": {
    value: "FIELD",
    multiple: true,
    help: "a field of the node that becomes a context parameter of globs: id, cluster, locality.zone, metadata, ...",
  },
  "alt-on": {
    value: "unreachable|missing",
    help: "when an alternative (#alt=) is used: when no server that could answer is reachable (the default), or also when the resource does not exist",
  },
  "max-hops": { value: "N", help: "how many redirects are followed (default 5)" },
  dns: {
    help: "look in DNS for the servers of authorities that the bootstrap does not have: SRV records of _xds._tcp, else the host itself, over TLS",
  },
  files: {
    value: "DIR",
    help: "the directory that names of files (file:///PATH) may lead to (default: that of the names that are given)",
  },
  transport: {
    value: "PACKAGE",
    multiple: true,
    help: "a package with another transport, for servers such as ws://HOST; may be given several times",
  },
  "channel-limit": {
    value: "NAME=NUMBER",
    multiple: true,
    help: "another value of a limit on what a server may send, such as maxMessageBytes=200000000; may be given several times. The README has the names, defaults and units",
  },
  ...clientTlsOptions,
};

/** The options of a command that requests names with attributes or dynamic parameters. */
export const lookUpOptions: Readonly<Record<string, CommandOption>> = {
  attribute: {
    value: "KEY=VALUE",
    multiple: true,
    help: "an attribute of this look-up: the context parameter xds.resource.KEY of the name, such as host=example.com; may be given several times",
  },
  parameter: {
    value: "KEY=VALUE",
    multiple: true,
    help: "a dynamic parameter (TP2), which chooses among the variants of a name; may be given several times",
  },
};

/** Throws a CliError for a name that contains an attribute (`xds.resource.KEY`). Only the client may add attributes to a name, when it requests it (N-60). */
export function rejectAttributesIn(names: readonly string[]): void {
  for (const name of names) {
    const [, key, value = ""] =
      /^xdstp:[^#]*[?&]xds\.resource\.([^=&#]+)=([^&#]*)/.exec(name) ?? [];
    if (key !== undefined)
      throw new CliError(
        2,
        `${cutText(JSON.stringify(name), 200)} has the context parameter xds.resource.${key}, which is an attribute of a look-up; leave it out and give --attribute ${key}=${value}`,
        { rule: "N-60" },
      );
  }
}

/** The text of {@link lookUpOptions} in a usage line. */
export const lookUpUsage = "[--attribute KEY=VALUE]... [--parameter KEY=VALUE]...";

/** The option of a command that can reject all resources. */
export const nackOption: Readonly<Record<string, CommandOption>> = {
  nack: { value: "REASON", help: "reject everything that comes, with this text" },
};

/** The text of {@link askOptions} in a usage line. */
export const askUsage =
  "[--server HOST:PORT | --bootstrap FILE] [--type TYPE] [--sotw | --delta] [--node ID] [--cluster NAME] [--node-metadata JSON] [--node-context-params FIELD]... [--alt-on unreachable|missing] [--max-hops N] [--dns] [--files DIR] [--transport PACKAGE]... [--channel-limit NAME=NUMBER]...";

/** The text of the TLS options in a usage line. */
export const tlsUsage = "[--tls] [--tls-ca FILE] [--tls-cert FILE --tls-key FILE]";

/**
 * Reads {@link askOptions}. Throws a CliError for options that contradict each other, such as `--server` and `--bootstrap`.
 * @param names - The requested names. Names of files set the default of `--files`
 */
export async function askFlags(
  call: CommandCall,
  io: CliIo,
  names: readonly string[] = [],
): Promise<AskFlags> {
  const [typed, bootstrap] = [call.text("server"), call.text("bootstrap")];
  if (typed !== undefined && bootstrap !== undefined)
    throw new CliError(2, "--server and --bootstrap both say whom to ask; give one of them");
  if (call.flag("sotw") && call.flag("delta"))
    throw new CliError(2, "--sotw and --delta are two variants; give one of them");
  const transports = call.texts("transport");
  const schemes = await transportNames(transports, io.cwd);
  const server = bootstrap === undefined ? askedServer("--server", typed, io, schemes) : undefined;
  if (server !== undefined && call.flag("dns"))
    throw new CliError(
      2,
      `--dns finds what a bootstrap does not have; ${server.from} gets all requests`,
    );
  const tls = clientTlsPaths(call, io.cwd);
  if (tls !== undefined && server === undefined)
    throw new CliError(
      2,
      "options of TLS go with --server; a bootstrap says by itself how to speak to its servers",
    );
  return {
    limits: await limitsFlag(call, channelLimits),
    metadata: metadataOf(call.text("node-metadata")),
    altOn: wordFlag(call, "alt-on", ["unreachable", "missing"]),
    maxHops: countFlag(call, "max-hops"),
    variant: call.flag("sotw") ? "sotw" : "delta",
    nodeContextParams: call.texts("node-context-params"),
    dns: call.flag("dns"),
    server,
    tls,
    transports,
    files: await filesFlag(call, io, names),
    bootstrap: bootstrap && pathFrom(io.cwd, bootstrap),
    node: call.text("node"),
    cluster: call.text("cluster"),
    nack: call.text("nack"),
    attributes: pairsOf(call, "attribute", (key) => key.replace(/^xds\.resource\./, "")),
    parameters: pairsOf(call, "parameter"),
    follow: call.flag("no-follow") ? false : undefined,
  };
}

async function filesFlag(
  call: CommandCall,
  { cwd }: CliIo,
  names: readonly string[],
): Promise<string | undefined> {
  const dir = call.text("files");
  if (dir !== undefined) return pathFrom(cwd, dir);
  const files = names.filter((name) => name.startsWith("file:"));
  return files.length === 0
    ? undefined
    : (await import("./directory-of-names.ts")).directoryOfNames(files);
}

/** Returns the values of a `KEY=VALUE` option by key, or `undefined` if the option is not given. Throws a CliError for a text without a key or `=`, and for a key that occurs twice. */
function pairsOf(
  call: CommandCall,
  option: string,
  keyOf: (key: string) => string = (key) => key,
): Readonly<Record<string, string>> | undefined {
  const pairs = new Map<string, string>();
  for (const text of call.texts(option)) {
    const at = text.indexOf("=");
    const key = keyOf(text.slice(0, Math.max(at, 0)));
    const shown = `--${option} ${cutText(JSON.stringify(text), 60)}`;
    if (key === "") throw new CliError(2, `${shown}: give KEY=VALUE, such as host=example.com`);
    if (pairs.has(key))
      throw new CliError(
        2,
        `${shown}: the key ${JSON.stringify(key)} is given twice; give it once`,
      );
    pairs.set(key, text.slice(at + 1));
  }
  return pairs.size === 0 ? undefined : Object.fromEntries(pairs);
}

function metadataOf(text: string | undefined): AskFlags["metadata"] {
  if (text === undefined) return undefined;
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === "object" && json !== null && !Array.isArray(json))
      return withinDepth(json as JsonObject);
  } catch (error) {
    if (error instanceof CliError) throw error;
  }
  throw new CliError(
    2,
    `--node-metadata ${cutText(JSON.stringify(text), 60)}: give a JSON object, for instance {"env":"prod"}`,
  );
}

function withinDepth(json: JsonObject): JsonObject {
  if (isDeeperThan(json, maxMetadataDepth))
    throw new CliError(
      2,
      `--node-metadata nests deeper than ${maxMetadataDepth} levels, which no server could read; give a flatter object`,
    );
  return json;
}
