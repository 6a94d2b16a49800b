import type { RelayOptions } from "@xdstp/relay";
import type { AnyBootstrap } from "@xdstp/bootstrap";
import type { AskFlags } from "./ask-flags.ts";
import type { ServerFlags } from "./server-flags.ts";
import { CliError } from "./cli-error.ts";
import { configuredSources } from "./configured-sources.ts";
import { certificateFiles } from "./health-book.ts";

/** What `xdstp relay` was asked to do. It is plain data. */
export interface RelayCall extends ServerFlags {
  /** Whom it asks, and as whom. */
  readonly ask: AskFlags;
  /** Options of the relay itself. */
  readonly relay: Pick<RelayOptions, "follow" | "lingerMs" | "opaqueKey" | "quorum">;
  /** Where what upstream has said is kept. Absent: in memory only. */
  readonly snapshot?: { readonly dir: string; readonly keyFile?: string | undefined } | undefined;
}

/** Whom a relay asks. */
interface RelayBootstrap {
  readonly bootstrap: AnyBootstrap;
  /** In order, and the file, variable or option that says so. */
  readonly what: { readonly upstreams: readonly string[]; readonly by: string };
  /** Files of the certificates that it shows to them. */
  readonly certificates: readonly string[];
}

/** Reads a bootstrap of gRPC or Envoy, or what was typed. Throws a CliError that says what is wrong in it. */
export async function relayBootstrap(
  flags: AskFlags,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RelayBootstrap> {
  const { bootstrap, from, sources } = await configuredSources(flags, env);
  if (sources.length === 0)
    throw new CliError(
      1,
      `${from} configures only listeners and clusters, and a relay serves everything; give it dynamic_resources.ads_config, config_sources or default_config_source`,
    );
  const upstreams = [
    ...new Set(sources.flatMap((source) => source.servers.map(({ name }) => name))),
  ];
  return {
    bootstrap,
    certificates: certificateFiles(sources),
    what: { upstreams, by: flags.server === undefined ? from : `--server ${upstreams.join()}` },
  };
}
