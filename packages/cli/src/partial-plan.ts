import { join, relative, sep } from "node:path";
import type { FolderContent } from "@xdstp/folder";
import type { AskStatus, PlannedResource, ServedState } from "@xdstp/plan";
import type { Found } from "./sarif.ts";
import { EXPLAIN, objectOf, textOf, toldExplanation } from "./told-explanation.ts";

/** The resources that `xdstp serve --partial` keeps when it reads a folder with errors. */
export interface KeptResources {
  /** Resources that stay as they are served. */
  readonly kept: readonly PlannedResource[];
  /** The number of further resources whose files the server does not name, so it is not known whether they stay. They are in `kept`. */
  readonly unclear: number;
}

/** The input of {@link keptResources}. */
export interface KeptResourcesOptions {
  readonly dir: string;
  /** All resources of the folder, with those that are not applied. */
  readonly content: Pick<FolderContent, "resources">;
  /** The errors of the folder. */
  readonly errors: readonly Found[];
  readonly served: ServedState;
  readonly ask: AskStatus;
}

/**
 * Returns the resources that stay as they are served: those with the name of a resource that is not applied, and those whose file has an error, unless a good resource has the name now.
 * It sends the server a request for each resource that the folder does not have, for the file that the server has it from.
 */
export async function keptResources({
  dir,
  content,
  errors,
  served,
  ask,
}: KeptResourcesOptions): Promise<KeptResources> {
  const good = new Set<string>();
  const unserved = new Set<string>();
  for (const { typeUrl, resource, node, isUnserved } of content.resources)
    (isUnserved === true ? unserved : good).add(keyOf(typeUrl, resource.name, node));
  const broken = errors.map(({ file }) => relative(dir, file).split(sep).join("/"));
  const kept: PlannedResource[] = [];
  let unclear = 0;
  for (const one of served.resources) {
    const key = keyOf(one.typeUrl, one.resource.name, one.view);
    if (good.has(key)) continue;
    if (unserved.has(key)) {
      kept.push(one);
      continue;
    }
    const file = one.view === undefined ? await fileOf(one, ask) : undefined;
    const isBroken =
      file === undefined
        ? broken.some((path) => isOfView(path, one.view))
        : broken.some((path) => isAt(file, path));
    if (!isBroken) continue;
    kept.push(one);
    if (file === undefined) unclear++;
  }
  return { kept, unclear };
}

function keyOf(typeUrl: string, name: string, view: string | undefined): string {
  return JSON.stringify([typeUrl, name, view ?? null]);
}

/** True if a file below a folder may have resources of a view, or of all clients. */
function isOfView(path: string, view: string | undefined): boolean {
  return path === "" || path.startsWith("_nodes/") === (view !== undefined);
}

/** True if a file of the folder of the server is at this path below it, or in a directory that is. */
function isAt(file: string, path: string): boolean {
  return path === "" || `${file}/`.includes(`/${path}/`);
}

/** A node that does not exist. */
const noClient = "xdstp.plan: no client";

/** Returns the file that the server has a resource from, as a path from its root. undefined: the server does not report it. */
async function fileOf(resource: PlannedResource, ask: AskStatus): Promise<string | undefined> {
  const place = await placeOnServer(resource.typeUrl, resource.resource.name, ask);
  return place === undefined
    ? undefined
    : join("/", place.replace(/:\d+$/, "")).split(sep).join("/");
}

/** Returns the place that the server has a resource for all views from: a path of the server, and a line if it knows it. undefined: the server does not report it. */
export async function placeOnServer(
  typeUrl: string,
  name: string,
  ask: AskStatus,
): Promise<string | undefined> {
  const response = await ask({
    node: {
      userAgentName: "xdstp",
      clientFeatures: [EXPLAIN],
      metadata: { [EXPLAIN]: { node: noClient, type_url: typeUrl, name } },
    },
    nodeMatchers: [{ nodeId: { matchPattern: { case: "exact", value: noClient } } }],
  });
  const { source } = toldExplanation(response)?.json ?? {};
  const place = textOf(objectOf(objectOf(source).origin).place);
  return place === "" ? undefined : place;
}
