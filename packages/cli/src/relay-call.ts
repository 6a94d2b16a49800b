import type { RelayOptions } from "@xdstp/relay";
import type { AnyBootstrap } from "@xdstp/bootstrap";
import type { AskFlags } from "./ask-flags.ts";
import type { ServerFlags } from "./server-flags.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type ConfiguredSources, configuredSources } from "./configured-sources.ts";
import { certificateFiles } from "./health-book.ts";

/** The options of `xdstp relay`. They are plain data, so that they can be sent to other processes. */
export interface RelayCall extends ServerFlags {
  /** The options of its connections upstream: the servers, and the node. */
  readonly ask: AskFlags;
  /** The options of the relay itself. */
  readonly relay: Pick<RelayOptions, "follow" | "lingerMs" | "opaqueKey" | "quorum">;
  /** The directory in which resources from upstream are stored. Absent: they are only in memory. */
  readonly snapshot?: { readonly dir: string; readonly keyFile?: string | undefined } | undefined;
}

/** The configuration of the servers upstream. */
export interface RelayBootstrap {
  readonly bootstrap: AnyBootstrap;
  readonly openChannels: ConfiguredSources["openChannels"];
  /** The servers in their order, and the file, variable or option that configures them. */
  readonly what: { readonly upstreams: readonly string[]; readonly by: string };
  /** The files of the certificates that the relay shows to these servers. */
  readonly certificates: readonly string[];
}

/** Reads a bootstrap of gRPC or Envoy, or the options of the command. Throws a CliError that says what is invalid. */
export async function relayBootstrap(
  flags: AskFlags,
  io: Pick<CliIo, "env" | "cwd">,
): Promise<RelayBootstrap> {
  const { bootstrap, from, sources, openChannels } = await configuredSources(flags, io);
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
    openChannels,
    certificates: certificateFiles(sources),
    what: { upstreams, by: flags.server === undefined ? from : `--server ${upstreams.join()}` },
  };
}
