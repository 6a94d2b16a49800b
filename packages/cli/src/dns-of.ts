import { createDnsResolver, type SourceConfig } from "@xdstp/bootstrap";
import { XdsError } from "@xdstp/core";
import {
  createSources,
  type ExplainedPlace,
  type FederationSource,
  type ServerOptions,
} from "@xdstp/federation";
import type { CliIo } from "./cli-io.ts";

/** Looks for authorities in DNS, as `--dns` wants it. */
export function dnsOf({ dns }: CliIo): (authority: string) => Promise<SourceConfig> {
  return createDnsResolver(dns === undefined ? {} : { queries: dns });
}

/** The places of a name, with servers from DNS for authorities without a configured source. `explain` gives the places by these sources. */
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
