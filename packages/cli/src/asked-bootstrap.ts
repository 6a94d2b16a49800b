import {
  readBootstrap,
  type Bootstrap,
  type BootstrapCredentials,
  type BootstrapNode,
} from "@xdstp/client";
import { XdsError } from "@xdstp/core";
import type { AskFlags } from "./ask-flags.ts";
import { CliError } from "./cli-error.ts";
import { whyNotOfEnvoy } from "./envoy-bootstrap-text.ts";
import { formatEndpoint } from "./parse-endpoint.ts";
import { readPem } from "./read-pem.ts";

/** Whom to ask and as whom, from what was typed, else from a bootstrap. Throws a CliError that says what was tried. */
export async function askedBootstrap(
  flags: AskFlags,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Bootstrap> {
  const bootstrap =
    flags.server === undefined ? givenBootstrap(flags, env) : await bootstrapOf(flags);
  return { ...bootstrap, node: nodeOf(bootstrap.node, flags) };
}

function givenBootstrap(
  { bootstrap: file, dns }: AskFlags,
  env: Readonly<Record<string, string | undefined>>,
): Bootstrap {
  try {
    return readBootstrap({ env, ...(file !== undefined && { file }) });
  } catch (error) {
    const { code, text } = XdsError.from(error);
    if (code === "FAILED_PRECONDITION" && dns === true) return { servers: [], ...own };
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

/** The defaults where no bootstrap is given. */
const own = {
  node: { id: "xdstp", cluster: "" },
  authorities: new Map(),
  certificateProviders: new Map(),
} as const;

async function bootstrapOf({ server, tls }: AskFlags): Promise<Bootstrap> {
  const uri = formatEndpoint(server?.endpoint ?? { host: "", port: 0 });
  return { servers: [{ uri, credentials: await credentialsOf(tls), features: new Set() }], ...own };
}

/** The client reads the files; they are looked at here so that a missing one is named as it was typed. */
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

/** The node as it was typed, else as the bootstrap has it. */
export function nodeOf(own: BootstrapNode, { node, cluster, metadata }: AskFlags): BootstrapNode {
  return {
    ...own,
    ...(node !== undefined && { id: node }),
    ...(cluster !== undefined && { cluster }),
    ...(metadata !== undefined && { metadata: metadata as NonNullable<BootstrapNode["metadata"]> }),
  };
}
