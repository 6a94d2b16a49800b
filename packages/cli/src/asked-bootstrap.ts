import { readFileSync } from "node:fs";
import {
  type Bootstrap,
  type BootstrapCredentials,
  type BootstrapNode,
  readBootstrap,
} from "@xdstp/client";
import { XdsError } from "@xdstp/core";
import { load, YAMLException } from "js-yaml";
import { createDnsResolver, type SourceConfig } from "@xdstp/bootstrap";
import {
  createSources,
  type ExplainedPlace,
  type FederationSource,
  type ServerOptions,
} from "@xdstp/federation";
import type { AskFlags } from "./ask-flags.ts";
import { CliError } from "./cli-error.ts";
import { readPem } from "./tls-files.ts";
import type { CliIo } from "./cli-io.ts";

/**
 * Returns the servers and the node: from `--server`, else from a bootstrap. Throws a CliError that says what was tried.
 * @param transports - The types of `channel_creds` of transports
 */
export async function askedBootstrap(
  flags: AskFlags,
  env: Readonly<Record<string, string | undefined>>,
  transports: readonly string[],
): Promise<Bootstrap> {
  const bootstrap =
    flags.server === undefined
      ? givenBootstrap(flags, env, transports)
      : await bootstrapOf(flags.server.uri, flags);
  return { ...bootstrap, node: nodeOf(bootstrap.node, flags) };
}

function givenBootstrap(
  { bootstrap: file, dns, files }: AskFlags,
  env: Readonly<Record<string, string | undefined>>,
  transports: readonly string[],
): Bootstrap {
  try {
    return readBootstrap({ env, transports, ...(file !== undefined && { file }) });
  } catch (error) {
    const { code, text } = XdsError.from(error);
    if (code === "FAILED_PRECONDITION" && (dns === true || files !== undefined))
      return { servers: [], ...own };
    if (code === "FAILED_PRECONDITION")
      throw new CliError(
        2,
        "which server? Give --server HOST:PORT or --bootstrap FILE; XDSTP_SERVER (HOST:PORT), GRPC_XDS_BOOTSTRAP (a path) and GRPC_XDS_BOOTSTRAP_CONFIG (JSON) are not set",
        { cause: error },
      );
    const tried =
      file === undefined || code !== "INVALID_ARGUMENT" ? undefined : whyNotOfEnvoy(file);
    throw new CliError(
      1,
      tried === undefined ? text : `${text} (read as a bootstrap of gRPC; ${tried})`,
      { cause: error },
    );
  }
}

/** The node and the defaults of a command that is given no bootstrap. */
const own = {
  node: { id: "xdstp", cluster: "" },
  authorities: new Map(),
  certificateProviders: new Map(),
} as const;

async function bootstrapOf(uri: string, { tls }: AskFlags): Promise<Bootstrap> {
  const credentials = await credentialsOf(/^https:/i.test(uri) ? (tls ?? {}) : tls);
  return { servers: [{ uri, credentials, features: new Set() }], ...own };
}

/** Returns the credentials for the given files. The client reads these files later. They are also read here, so that the error for a missing file names its option. */
async function credentialsOf(tls: AskFlags["tls"]): Promise<BootstrapCredentials> {
  if (tls === undefined) return { type: "insecure" };
  const { ca, cert, key } = tls;
  for (const [option, file] of [
    ["--tls-ca", ca],
    ["--tls-cert", cert],
    ["--tls-key", key],
  ] as const)
    if (file !== undefined) await readPem(option, file);
  return {
    type: "tls",
    refreshIntervalMs: 600_000,
    ...(ca !== undefined && { caCertificateFile: ca }),
    ...(cert !== undefined && { certificateFile: cert }),
    ...(key !== undefined && { privateKeyFile: key }),
  };
}

/** Returns the node of the bootstrap with the values of `--node`, `--cluster` and `--node-metadata`. */
export function nodeOf(own: BootstrapNode, { node, cluster, metadata }: AskFlags): BootstrapNode {
  return {
    ...own,
    ...(node !== undefined && { id: node }),
    ...(cluster !== undefined && { cluster }),
    ...(metadata !== undefined && { metadata: metadata as NonNullable<BootstrapNode["metadata"]> }),
  };
}

/** Returns the text of a file that is an Envoy bootstrap. Returns `undefined` for another file, or one that cannot be read; the reader of gRPC bootstraps then reports the error. */
export function envoyBootstrapText(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8");
    return isOfEnvoy(load(text)) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Explains why a readable file is not an Envoy bootstrap, without showing its content. Returns `undefined` for a gRPC bootstrap (it has `xds_servers`). */
function whyNotOfEnvoy(file: string): string | undefined {
  try {
    const whole = load(readFileSync(file, "utf8"));
    if (typeof whole === "object" && whole !== null && "xds_servers" in whole) return undefined;
    return `as one of Envoy it lacks ${keys.filter((key) => key.includes("_")).join(", ")}`;
  } catch (error) {
    const mark = error instanceof YAMLException ? error.mark : undefined;
    return `as one of Envoy it is not valid YAML${mark === undefined ? "" : ` at line ${mark.line + 1} column ${mark.column + 1}`}`;
  }
}

function isOfEnvoy(whole: unknown): boolean {
  return typeof whole === "object" && whole !== null && keys.some((key) => key in whole);
}

/** Fields of an Envoy bootstrap that a gRPC bootstrap does not have. */
const keys = [
  "dynamic_resources",
  "dynamicResources",
  "static_resources",
  "staticResources",
  "config_sources",
  "configSources",
  "default_config_source",
  "defaultConfigSource",
  "admin",
];

/** Returns the DNS look-up of authorities for `--dns`. */
export function dnsOf({ dns }: CliIo): (authority: string) => Promise<SourceConfig> {
  return createDnsResolver(dns === undefined ? {} : { queries: dns });
}

/** Returns the places of a name, with servers from DNS for authorities without a configured source. `explain` computes the places with the sources that were found so far. */
export async function placesByDns(
  explain: (found: readonly FederationSource[]) => readonly ExplainedPlace[],
  io: CliIo,
  options: ServerOptions,
): Promise<readonly ExplainedPlace[]> {
  const found: FederationSource[] = [];
  for (;;) {
    const places = explain(found);
    const last = places.at(-1);
    if (last?.error === undefined || last.authority === null) return places;
    const source = await dnsOf(io)(last.authority).catch((error: unknown) => XdsError.from(error));
    if (source instanceof XdsError)
      return [
        ...places.slice(0, -1),
        {
          ...last,
          error: new XdsError(
            "INVALID_ARGUMENT",
            `${last.error.text.replace(/; add a source for it$/, "")}; the search for a server failed: ${source.text}`,
            { rule: last.error.context.rule },
          ),
        },
      ];
    found.push(...createSources([source], options));
  }
}
