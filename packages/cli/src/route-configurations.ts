import { fromBinary } from "@bufbuild/protobuf";
import { readFolder, formatProblem } from "@xdstp/folder";
import {
  type HttpConnectionManager,
  HttpConnectionManagerSchema,
} from "@xdstp/protos/envoy/http-connection-manager";
import { type Listener, ListenerSchema } from "@xdstp/protos/envoy/listener";
import { type RouteConfiguration, RouteConfigurationSchema } from "@xdstp/protos/envoy/route";
import { listener, routeConfiguration } from "@xdstp/resource-types";
import { openAskClient } from "./ask-client.ts";
import type { AskFlags } from "./ask-flags.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { loadRegistry } from "./load-registry.ts";

/** A route configuration, and where it was found. */
export interface FoundConfiguration {
  /** The name of the route configuration. For one inside of a listener, also the name of the listener. */
  readonly name: string;
  /** The file, or the name of the server. */
  readonly from: string;
  readonly config: RouteConfiguration;
}

/** Returns the route configurations of a folder, including those inside of listeners. Throws a CliError if the folder has a problem, since the invalid file may contain the route that is looked for. */
export async function configurationsIn(dir: string): Promise<readonly FoundConfiguration[]> {
  const { resources, problems } = await readFolder({ dir, registry: await loadRegistry([]) });
  const [problem, ...more] = problems;
  if (problem !== undefined)
    throw new CliError(
      1,
      `${formatProblem(problem)}${more.length === 0 ? "" : ` (and ${more.length} more)`}`,
    );
  return resources.flatMap(({ file, typeUrl, resource }): readonly FoundConfiguration[] => {
    const { typeUrl: payloadUrl, value } = resource.payload;
    if (payloadUrl !== typeUrl) return []; // A redirect.
    if (typeUrl === routeConfiguration.typeUrl)
      return [
        { name: resource.name, from: file, config: fromBinary(RouteConfigurationSchema, value) },
      ];
    return typeUrl === listener.typeUrl
      ? inlineIn(resource.name, managersOf(fromBinary(ListenerSchema, value)), file)
      : [];
  });
}

/** Returns the route configurations inside of the listeners of a server, and those that the listeners refer to. With `only`, returns the one of that name. Throws a CliError or an XdsError if the server does not send them. */
export async function configurationsOf(
  ask: AskFlags,
  only: string | undefined,
  timeoutMs: number,
  io: CliIo,
): Promise<readonly FoundConfiguration[]> {
  const asking = await openAskClient(ask, io, { fetchMs: timeoutMs });
  const late = new AbortController();
  const timer = io.clock.after(timeoutMs, () => {
    late.abort();
  });
  const { signal } = late;
  const read = async (name: string): Promise<FoundConfiguration> => {
    const { server } = asking.server({ name, typeUrl: routeConfiguration.typeUrl });
    const { value } = await asking.client.read(RouteConfigurationSchema, name, {
      ...asking.nameOptions(routeConfiguration.typeUrl),
      signal,
    });
    return { name, from: server, config: value };
  };
  try {
    if (only !== undefined) return [await read(only)];
    const watch = asking.client.watchAll(ListenerSchema, "*", {
      ...asking.nameOptions(listener.typeUrl),
      signal,
    });
    for await (const { complete, error } of watch) {
      if (error !== undefined && watch.members.size === 0) throw error;
      if (complete) break;
    }
    const { server } = asking.server({ name: "*", typeUrl: listener.typeUrl });
    const found = Array.from(watch.members.values(), ({ name, value }) => ({
      name,
      managers: managersOf(value),
    }));
    const referred = new Set(
      found.flatMap(({ managers }) =>
        managers.flatMap(({ routeSpecifier: { case: kind, value } }) =>
          kind === "rds" ? [value.routeConfigName] : [],
        ),
      ),
    );
    return [
      ...found.flatMap(({ name, managers }) => inlineIn(name, managers, server)),
      ...(await Promise.all(Array.from(referred, read))),
    ];
  } catch (error) {
    throw asking.failure(signal.aborted ? new CliError(1, asking.heard()) : error);
  } finally {
    timer.cancel();
    await asking.close();
  }
}

function inlineIn(
  listenerName: string,
  managers: readonly HttpConnectionManager[],
  from: string,
): readonly FoundConfiguration[] {
  return managers.flatMap(({ routeSpecifier: { case: kind, value } }) =>
    kind === "routeConfig"
      ? [{ name: `${value.name} of listener ${listenerName}`, from, config: value }]
      : [],
  );
}

/** Returns the HTTP connection managers of a listener. */
function managersOf(of: Listener): readonly HttpConnectionManager[] {
  const chains = [...of.filterChains, ...(of.defaultFilterChain ? [of.defaultFilterChain] : [])];
  const filters = chains.flatMap(({ filters: own }) =>
    own.flatMap(({ configType: { case: kind, value } }) => (kind === "typedConfig" ? [value] : [])),
  );
  const api = of.apiListener?.apiListener;
  return [...filters, ...(api ? [api] : [])]
    .filter(({ typeUrl }) => typeUrl.endsWith(`/${HttpConnectionManagerSchema.typeName}`))
    .map(({ value }) => fromBinary(HttpConnectionManagerSchema, value));
}
