import { create, type JsonObject, type JsonValue, type Registry } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { contentVersion } from "@xdstp/cache";
import type { AnyBytes, Put, ResourceType } from "@xdstp/core";
import { anyToJson, withoutSecrets } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";

import { compare, type Pair } from "./compare.ts";
import { type ChangedContent, drainOf } from "./drains.ts";
import { fieldChanges, mostFields } from "./field-changes.ts";
import type {
  ClientGroup,
  FieldChange,
  GroupPlan,
  Plan,
  PlannedHold,
  PlannedResource,
  PlannedResponse,
  ResourceChange,
  ServedState,
} from "./plan.ts";
import { simulate, type SimulatedGroup } from "./simulate.ts";

/** Options of {@link planChange}. */
export interface PlanOptions {
  /** The resources and clients of the server; {@link readServed} reads them. */
  readonly served: ServedState;
  /** The resources that it would have instead. */
  readonly next: readonly PlannedResource[];
  /** The messages in resources, for the differences in their fields. */
  readonly registry: Registry;
  /** The data of the types. Absent: Envoy's. */
  readonly types?: readonly ResourceType[];
  /** The authorities that the server answers for. Absent: any. */
  readonly authorities?: readonly string[];
}

/** Names of clients that are listed for a resource. */
const namedClients = 3;

/**
 * Returns what would change if a server had other content: which resources, what each group of equal clients would be sent in which order, what would wait for what, and what Envoy does with connections.
 * The order is not computed: the change is made on a server in this process, with a client for each group that accepts everything. Nothing is applied elsewhere.
 * Rejects with an XdsError, INVALID_ARGUMENT, where a server would reject a resource.
 */
export async function planChange({
  served,
  next,
  registry,
  types = envoyTypes,
  authorities,
}: PlanOptions): Promise<Plan> {
  const comparison = compare(served.resources, next);
  const { pairs, unchanged } = comparison;
  const simulated =
    pairs.length === 0
      ? served.groups.map(() => undefined)
      : await simulate(comparison, served.groups, types, { authorities });
  const added = pairs.filter(({ before }) => before === undefined);
  const groups = served.groups.map((group, at) => groupPlan(group, simulated[at], added));
  const receivers = receiversOf(groups, ownNames(served.resources), ownNames(next));
  const changes: ResourceChange[] = [];
  // One after another, so that the lines of one file cost one reading.
  for (const pair of pairs)
    changes.push(changeOf(pair, await lineOf(pair.after), receivers, registry));
  const count = (action: ResourceChange["action"]): number =>
    changes.filter((change) => change.action === action).length;
  const affected = groups.filter(({ responses }) => responses.length > 0);
  return {
    added: count("added"),
    changed: count("changed"),
    removed: count("removed"),
    unchanged: unchanged.length,
    changes,
    groups,
    affectedClients: sumOfClients(affected),
    clients: sumOfClients(groups),
    notes: notesOf(served, groups),
  };
}

/** Gives a resource as a feed puts it the version that the cache would give it. */
export function plannedResource(
  { typeUrl, resource }: Put,
  place: Pick<PlannedResource, "view" | "file" | "line"> = {},
): PlannedResource {
  const version = resource.version === "" ? contentVersion(resource) : resource.version;
  return { typeUrl, resource: { ...resource, version }, ...place };
}

function groupPlan(
  group: ClientGroup,
  simulated: SimulatedGroup | undefined,
  added: readonly Pair[],
): GroupPlan {
  const { clients, view, variant, service, behind, node, sees } = group;
  const { responses = [], holds = [], follows = [], problem } = simulated ?? {};
  const version =
    node?.userAgentVersionType.case === "userAgentVersion" ? node.userAgentVersionType.value : "";
  return {
    clients,
    ...(view !== undefined && { view }),
    variant,
    ...(service !== undefined && { service }),
    behind,
    userAgent: [node?.userAgentName ?? "", version].filter((text) => text !== "").join(" "),
    follows,
    responses,
    holds: holds.map((hold) => withEnd(hold, responses)),
    maybeHidden: sees === undefined ? [] : namesIn(added, responses),
    notes: groupNotes(group, problem),
  };
}

function withEnd(hold: PlannedHold, responses: readonly PlannedResponse[]): PlannedHold {
  const until = responses.findIndex(
    ({ typeUrl, added, changed }) =>
      typeUrl === hold.typeUrl && (added.includes(hold.name) || changed.includes(hold.name)),
  );
  return until === -1 ? hold : { ...hold, until };
}

/** Names of these resources that are in the responses. */
function namesIn(added: readonly Pair[], responses: readonly PlannedResponse[]): readonly string[] {
  const sent = new Set(
    responses.flatMap(({ typeUrl, added: names }) => names.map((name) => keyOf(typeUrl, name))),
  );
  return added.flatMap(({ after }) =>
    after !== undefined && sent.has(keyOf(after.typeUrl, after.resource.name))
      ? [after.resource.name]
      : [],
  );
}

function groupNotes(
  { behind, service, subscriptions }: ClientGroup,
  problem: string | undefined,
): readonly string[] {
  const states = [...behind.values()];
  return [
    ...(states.includes("rejected")
      ? ["it rejects some of what it was sent; the plan supposes that it accepts that first"]
      : []),
    ...(states.includes("unanswered")
      ? ["it has not answered yet; the plan supposes that it accepts what it was sent first"]
      : []),
    ...(service === undefined
      ? []
      : [
          "it has a stream of one type; what it requests on other streams because of it is not planned",
        ]),
    ...(subscriptions.size === 0 ? ["it has subscribed to nothing yet"] : []),
    ...(problem === undefined ? [] : [`the server would end its stream: ${problem}`]),
  ];
}

function keyOf(typeUrl: string, name: string): string {
  return `${typeUrl} ${name}`;
}

interface Receivers {
  readonly clients: number;
  readonly names: readonly string[];
}

/** True if a view has a resource of its own under a name, so that its clients do not get the shared one. */
type HasOwn = (view: string, typeUrl: string, name: string) => boolean;

function ownNames(resources: readonly PlannedResource[]): HasOwn {
  const byView = new Map<string, Set<string>>();
  for (const { typeUrl, resource, view } of resources) {
    if (view === undefined) continue;
    const names = byView.get(view) ?? new Set();
    byView.set(view, names.add(keyOf(typeUrl, resource.name)));
  }
  return (view, typeUrl, name) => byView.get(view)?.has(keyOf(typeUrl, name)) === true;
}

/** By type, name and view, the clients that would be sent something about a resource. */
function receiversOf(
  groups: readonly GroupPlan[],
  hadOwn: HasOwn,
  hasOwn: HasOwn,
): (pair: Pair) => Receivers {
  const byKey = new Map<string, GroupPlan[]>();
  for (const group of groups) {
    const keys = new Set(
      group.responses.flatMap(({ typeUrl, added, changed, removed }) =>
        [...added, ...changed, ...removed].map((name) => keyOf(typeUrl, name)),
      ),
    );
    for (const key of keys) {
      const list = byKey.get(key) ?? [];
      list.push(group);
      byKey.set(key, list);
    }
  }
  return ({ before, after }) => {
    const one = after ?? before;
    if (one === undefined) return { clients: 0, names: [] };
    const { typeUrl, resource, view: owner } = one;
    const { name } = resource;
    const found = (byKey.get(keyOf(typeUrl, name)) ?? []).filter(({ view }) =>
      owner !== undefined || view === undefined
        ? owner === undefined || owner === view
        : (before !== undefined && !hadOwn(view, typeUrl, name)) ||
          (after !== undefined && !hasOwn(view, typeUrl, name)),
    );
    return {
      clients: sumOfClients(found),
      names: found.flatMap(({ clients }) => clients.slice(0, namedClients)).slice(0, namedClients),
    };
  };
}

function sumOfClients(groups: readonly Pick<GroupPlan, "clients">[]): number {
  return groups.reduce((sum, { clients }) => sum + clients.length, 0);
}

async function lineOf(resource: PlannedResource | undefined): Promise<number | undefined> {
  const { line } = resource ?? {};
  return typeof line === "function" ? line() : line;
}

function changeOf(
  { before, after, variant }: Pair,
  line: number | undefined,
  receivers: (pair: Pair) => Receivers,
  registry: Registry,
): ResourceChange {
  const { typeUrl = "", resource, view } = after ?? before ?? {};
  const action = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  const { clients, names } = receivers({
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
  });
  const { content, ...compared } =
    before !== undefined && after !== undefined ? fieldsOf(before, after, registry) : {};
  const drains = content?.changed.length === 0 ? undefined : drainOf(typeUrl, action, content);
  return {
    action,
    typeUrl,
    name: resource?.name ?? "",
    ...(view !== undefined && { view }),
    ...(variant !== undefined && { variant }),
    ...(before !== undefined && { before: before.resource.version }),
    ...(after !== undefined && { after: after.resource.version }),
    ...(after?.file !== undefined && { file: after.file }),
    ...(line !== undefined && { line }),
    clients,
    clientNames: names,
    ...compared,
    ...(drains !== undefined && { drains }),
  };
}

function fieldsOf(
  before: PlannedResource,
  after: PlannedResource,
  registry: Registry,
): Pick<ResourceChange, "fields" | "note"> & {
  /** Absent: it cannot be compared. */
  readonly content?: ChangedContent;
} {
  const [old, fresh] = [
    jsonOf(before.resource.payload, registry),
    jsonOf(after.resource.payload, registry),
  ];
  if (old === undefined || fresh === undefined)
    return { note: "its message type is not known here, so its fields are not compared" };
  const around = fieldChanges(aroundOf(before), aroundOf(after));
  const fields: readonly FieldChange[] = [...fieldChanges(old, fresh), ...around];
  const content = contentOf(old, fresh, after.resource.payload, registry);
  if (fields.length === 0)
    return {
      fields,
      ...(content && { content }),
      note: "only values that are not shown differ: secrets, or metadata",
    };
  const compared = { fields, ...(content && { content }) };
  return fields.length >= mostFields
    ? { ...compared, note: `only ${mostFields} differences are listed` }
    : compared;
}

/** If nothing that is shown differs, the fields that differ are those with values that are not shown. */
function contentOf(
  old: JsonObject,
  fresh: JsonObject,
  payload: AnyBytes,
  registry: Registry,
): ChangedContent | undefined {
  const fields = Object.keys(fresh);
  const shown = changedNames(old, fresh);
  if (shown.length > 0) return { changed: shown, fields };
  const full = fullJsonOf(payload, registry);
  return full && { changed: changedNames(full, fresh), fields };
}

/** The fields of a message that differ, however many values differ in each. */
function changedNames(old: JsonObject, fresh: JsonObject): readonly string[] {
  const member = (of: JsonObject, name: string): JsonObject =>
    Object.fromEntries(Object.entries(of).filter(([one]) => one === name));
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])].filter(
    (name) => fieldChanges(member(old, name), member(fresh, name)).length > 0,
  );
}

/** The properties of a resource that a client sees in addition to its content. */
function aroundOf({ resource: { aliases, ttlMs, noStore } }: PlannedResource): JsonValue {
  return {
    ...(aliases && { "(aliases)": [...aliases].sort() }),
    ...(ttlMs !== undefined && { "(ttl)": `${ttlMs / 1_000}s` }),
    ...(noStore === true && { "(do_not_cache)": true }),
  };
}

function jsonOf(payload: AnyBytes, registry: Registry): JsonObject | undefined {
  try {
    return fullJsonOf(withoutSecrets(payload, registry), registry);
  } catch {
    return undefined;
  }
}

/** With secrets, if the payload has some. */
function fullJsonOf({ typeUrl, value }: AnyBytes, registry: Registry): JsonObject | undefined {
  try {
    return anyToJson(create(AnySchema, { typeUrl, value }), registry) as JsonObject;
  } catch {
    return undefined;
  }
}

function notesOf(
  { hiddenStreams, groups }: ServedState,
  plans: readonly GroupPlan[],
): readonly string[] {
  const filtered = groups.filter(({ sees }) => sees !== undefined);
  const hidden = plans.filter(({ maybeHidden }) => maybeHidden.length > 0);
  return [
    ...(hiddenStreams > 0
      ? [`streams that this caller may not see are not planned: ${hiddenStreams}`]
      : []),
    ...(hidden.length > 0
      ? [
          `for ${sumOfClients(filtered)} of the clients a policy decides which added resources they see; the plan supposes that they see all`,
        ]
      : []),
  ];
}
