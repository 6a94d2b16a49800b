import { XdsError } from "@xdstp/core";
import {
  checkFolder,
  createLineFinder,
  type FolderContent,
  looksLikeAccident,
} from "@xdstp/folder";
import {
  type AskStatus,
  type Plan,
  planChange,
  plannedResource,
  readServed,
  type ResourceChange,
} from "@xdstp/plan";
import { allowedCodes } from "./allowed-codes.ts";
import type { ClientTlsFiles } from "./asked-server.ts";
import { checkNodeKey } from "./check-node-key.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";
import { jsonText } from "./json-text.ts";
import { loadRegistry } from "./load-registry.ts";
import { type KeptResources, keptResources, placeOnServer } from "./partial-plan.ts";
import { renderPlan } from "./render-plan.ts";
import type { Found } from "./sarif.ts";
import { readClientTls } from "./status.ts";
import { openStatusClient, type StatusLimits } from "./status-client.ts";
import { foundIn, isError, lineOf } from "./validate.ts";

/** The options of `xdstp plan`. */
export interface PlanCommandOptions {
  readonly dir: string;
  readonly server: Endpoint;
  /** The changes for which the exit code is 1. `undefined`: it is 1 only after errors. */
  readonly failOn: "removals" | "changes" | undefined;
  readonly json: boolean;
  /** Of a folder with errors, what `xdstp serve --partial` would apply is planned. */
  readonly partial: boolean;
  /** The paths of descriptor sets. */
  readonly descriptors: readonly string[];
  /** The codes of problems that count as warnings. */
  readonly allow: readonly string[];
  /** The authorities that the server serves. Empty: all authorities of the folder. */
  readonly authorities: readonly string[];
  /** The field of a node that selects `_nodes/KEY`. */
  readonly nodeKey: string;
  /** Milliseconds to wait for one answer. */
  readonly timeoutMs: number;
  /** Limits on the answers of the server. */
  readonly limits: Partial<StatusLimits>;
  /** The certificate files of the client, PEM. Absent: no TLS. */
  readonly tls: ClientTlsFiles | undefined;
}

/** Shows what would change if a server served a folder. Returns the exit code. */
export async function plan(options: PlanCommandOptions, io: CliIo): Promise<number> {
  const { dir, server, failOn, json, tls, timeoutMs, limits, nodeKey } = options;
  checkNodeKey(nodeKey);
  const allow = allowedCodes(options.allow);
  const registry = await loadRegistry(options.descriptors);
  const authorities = options.authorities.length > 0 ? { authorities: options.authorities } : {};
  const content = await checkFolder({ dir, registry, allow, ...authorities });
  const errors = foundIn(content, allow).filter(isError);
  if (errors.length > 0 && (!options.partial || isUnreadable(errors, dir))) {
    showErrors(errors, options, io);
    return 1;
  }
  const client = openStatusClient({
    server,
    clock: io.clock,
    timeoutMs,
    byType: true,
    limits,
    tls: tls && (await readClientTls(tls)),
  });
  const good = resourcesOf(content);
  const ask: AskStatus = async (request) => client.ask(request);
  try {
    const served = await readServed(ask, good, { nodeKey });
    const rest =
      errors.length === 0 ? undefined : await keptResources({ dir, content, errors, served, ask });
    const next = [...good, ...(rest?.kept ?? [])];
    const change = await planChange({ served, next, registry, ...authorities });
    const planned = withNotes(await withFormerPlaces(change, ask), rest);
    io.stdout.write(
      json
        ? `${jsonText(
            {
              dir,
              server: formatEndpoint(server),
              ...asJson(planned),
              ...(errors.length > 0 && { problems: errors }),
            },
            { indent: 2 },
          )}\n`
        : [
            ...errors.map((error) => `${lineOf(error)}\n`),
            renderPlan(planned, { dir, server: formatEndpoint(server), io }),
          ].join(""),
    );
    return isFailing(planned, failOn) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof XdsError)) throw error;
    const what = error.code === "INVALID_ARGUMENT" ? dir : formatEndpoint(server);
    throw new CliError(1, `${what} ${error.text}`, { cause: error });
  } finally {
    client.close();
  }
}

function resourcesOf({ resources }: FolderContent): readonly ReturnType<typeof plannedResource>[] {
  const lineAt = createLineFinder();
  return resources.flatMap(({ file, node, place, isUnserved, ...put }) =>
    isUnserved === true
      ? []
      : plannedResource(put, {
          file,
          line: async () => lineAt({ file, place }),
          ...(node !== undefined && { view: node }),
        }),
  );
}

/** True if nothing of a folder can be read. Then nothing of it is applied. */
function isUnreadable(errors: readonly Found[], dir: string): boolean {
  return errors.some(({ file }) => file === dir);
}

function showErrors(
  errors: readonly Found[],
  { dir, json }: PlanCommandOptions,
  { stdout }: CliIo,
): void {
  stdout.write(
    json
      ? `${jsonText({ dir, problems: errors }, { indent: 2 })}\n`
      : [
          ...errors.map(lineOf),
          `${dir} is not planned: ${errors.length === 1 ? "it has an error" : `it has ${errors.length} errors`}\n`,
        ].join("\n"),
  );
}

function isFailing(
  { added, changed, removed }: Plan,
  failOn: PlanCommandOptions["failOn"],
): boolean {
  if (failOn === undefined) return false;
  return failOn === "removals" ? removed > 0 : added + changed + removed > 0;
}

/** The number of removed resources whose places are requested from the server, one by one. */
const mostPlaces = 200;

/** Adds to removed resources the places that the server has them from. The folder does not have these files any more. */
async function withFormerPlaces(planned: Plan, ask: AskStatus): Promise<Plan> {
  const changes: ResourceChange[] = [];
  let requested = 0;
  for (const change of planned.changes) {
    const { action, typeUrl, name, view } = change;
    const isRequested = action === "removed" && view === undefined && requested < mostPlaces;
    if (isRequested) requested++;
    const place = isRequested ? await placeOnServer(typeUrl, name, ask) : undefined;
    changes.push(place === undefined ? change : { ...change, ...fileAndLine(place) });
  }
  return { ...planned, changes };
}

/** Splits a place such as `config/web.yaml:3`. */
function fileAndLine(place: string): Pick<ResourceChange, "file" | "line"> {
  const [, file = place, line] = /^(.+):(\d+)$/.exec(place) ?? [];
  return { file, ...(line !== undefined && { line: Number(line) }) };
}

/** Adds notes on how `xdstp serve` would treat such an edit. */
function withNotes(planned: Plan, rest: KeptResources | undefined): Plan {
  const { added, changed, removed, unchanged, notes } = planned;
  const more: string[] = [];
  if (rest !== undefined)
    more.push(
      `only \`xdstp serve --partial\` applies this: the folder has errors; ${rest.kept.length} of the resources stay as they are served`,
    );
  if (rest !== undefined && rest.unclear > 0)
    more.push(
      `for ${rest.unclear} of these the server does not say which file they are from; they are removed if their files have no error`,
    );
  if (looksLikeAccident({ held: changed + removed + unchanged, removed }))
    more.push(
      "`xdstp serve` applies this only with --allow-mass-delete: more than half of the resources are removed at once, which looks like an accident",
    );
  else if (removed > 0 && added + changed + unchanged === 0)
    more.push(
      "`xdstp serve` applies this only with --allow-mass-delete, or if an empty sub-folder is left in its folder: without one, it looks like a volume that is not mounted",
    );
  return more.length === 0 ? planned : { ...planned, notes: [...notes, ...more] };
}

/** Returns the plan with objects in place of maps, for JSON. */
function asJson({ groups, ...rest }: Plan): object {
  return {
    ...rest,
    groups: groups.map(({ behind, ...group }) => ({
      ...group,
      behind: Object.fromEntries(behind),
    })),
  };
}
