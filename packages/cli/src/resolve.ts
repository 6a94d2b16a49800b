import { nodeParams } from "@xdstp/bootstrap";
import { XdsError } from "@xdstp/core";
import { explain, type ExplainedPlace, type FederationSource } from "@xdstp/federation";
import { lintLocator, parseLocator, typeUrlFromType } from "@xdstp/uri";
import type { AskFlags } from "./ask-flags.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { configuredSources, optionsOf, type ConfiguredSources } from "./configured-sources.ts";
import { placesByDns } from "./dns-of.ts";
import { jsonText } from "./json-text.ts";
import { resolvedJson, resolvedLines } from "./show-resolved.ts";
import type { Resolved } from "./resolved.ts";

/** What `xdstp resolve` was asked to do. */
export interface ResolveOptions {
  readonly name: string;
  /** Of an opaque name, where it matters. */
  readonly typeUrl?: string;
  readonly ask: AskFlags;
  readonly json: boolean;
}

/** Shows which servers would get the request for a name. Returns the exit code, 1 where there is none. Throws a CliError where the name cannot be requested. */
export async function resolve(options: ResolveOptions, io: CliIo): Promise<number> {
  const { name, ask, json } = options;
  const configured = await configuredSources(ask, io.env);
  const parsed = name.startsWith("xdstp:") ? parseLocator(name) : undefined;
  const explained = (found: readonly FederationSource[]): readonly ExplainedPlace[] =>
    placesOf(options, { ...configured, sources: [...configured.sources, ...found] });
  const resolved: Resolved = {
    name,
    from: configured.from,
    altOn: ask.altOn ?? "unreachable",
    places:
      ask.dns === true
        ? await placesByDns(explained, io, optionsOf(configured.node, ask))
        : explained([]),
    warnings: parsed?.ok === true ? lintLocator(parsed.value) : [],
  };
  io.stdout.write(
    json
      ? `${jsonText(resolvedJson(resolved), { indent: 2 })}\n`
      : `${resolvedLines(resolved, io.terminal()?.columns).join("\n")}\n`,
  );
  return resolved.places[0]?.error === undefined ? 0 : 1;
}

function placesOf(
  { name, typeUrl, ask }: ResolveOptions,
  { sources, ownSource, node, nodeContextParams }: ConfiguredSources,
): readonly ExplainedPlace[] {
  try {
    const next = ownSource(typeUrl ?? typeUrlOf(name))?.source;
    return explain(sources, name, {
      layers: { node: nodeParams(node, [...nodeContextParams, ...(ask.nodeContextParams ?? [])]) },
      ...(next !== undefined && { ownSource: next }),
    });
  } catch (error) {
    throw error instanceof XdsError ? new CliError(1, error.text, { cause: error }) : error;
  }
}

function typeUrlOf(name: string): string | undefined {
  const parsed = name.startsWith("xdstp:") ? parseLocator(name) : undefined;
  return parsed?.ok === true && parsed.value.scheme === "xdstp"
    ? typeUrlFromType(parsed.value.resourceType)
    : undefined;
}
