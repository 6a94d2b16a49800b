import type { ClientResource, ClientType, ResourceState, StatusClientRow } from "./client-types.ts";
import { counted, escapeText, formatAge, shortVersion } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import type { StatusRow } from "./status-row.ts";
import type { Tone } from "./style.ts";

/** Returns one row for each type of each client. Rows with errors come first. */
export function clientTypeRows(
  clients: readonly StatusClientRow[],
  now: number,
): readonly StatusRow[] {
  const twins = Map.groupBy(clients, ({ id }) => id);
  const rows = clients.flatMap((client) =>
    rowsOf(client, (twins.get(client.id)?.length ?? 0) > 1, now),
  );
  return [...rows.filter(isTroubled), ...rows.filter((row) => !isTroubled(row))];
}

function rowsOf(client: StatusClientRow, showScope: boolean, now: number): readonly StatusRow[] {
  const label = labelOf(client, showScope);
  const view = escapeText(client.view ?? "");
  if (client.types.length === 0)
    return [
      {
        client: label,
        view,
        type: "-",
        state: "CONNECTED",
        version: "-",
        age: "-",
        reason: "has asked for nothing yet",
        tone: "dim",
      },
    ];
  return client.types.map((type) => ({
    client: label,
    view,
    type: shortType(type.typeUrl),
    state: type.state,
    version: versionsOf(type),
    age: ageOf(type, now),
    reason: reasonOf(type),
    tone: toneOf(type.state),
  }));
}

function isTroubled({ tone }: StatusRow): boolean {
  return tone === "error";
}

/** Returns the label of a client. If several clients have the same node id, the scope is added. */
function labelOf({ id, scope }: StatusClientRow, showScope: boolean): string {
  if (id === "") return escapeText(scope === "" ? "(no id)" : scope);
  return escapeText(showScope && scope !== "" ? `${id} (${scope})` : id);
}

/** Returns the accepted version, and the rejected one if there is one: `a1b2 > c3d4`. */
function versionsOf({ resources }: ClientType): string {
  const held = summary(resources.map(({ version }) => version));
  const rejected = summary(resources.map(({ error }) => error?.version ?? ""));
  return rejected === undefined ? (held ?? "-") : `${held ?? "none"} > ${rejected}`;
}

/** Shortens a set of versions to the first one and the number of the others, for clients that have a version for each resource. */
function summary(versions: readonly string[]): string | undefined {
  const [first, ...more] = new Set(versions.filter((version) => version !== ""));
  if (first === undefined) return undefined;
  return more.length === 0 ? shortVersion(first) : `${shortVersion(first)} +${more.length}`;
}

/** Returns the age of the oldest resource in this state. For `SYNCED`, it is the age of the newest one. */
function ageOf({ state, resources }: ClientType, now: number): string {
  const times = resources
    .filter((resource) => resource.state === state)
    .flatMap(({ updatedAt, error }) => (state === "NACKED" ? error?.at : updatedAt) ?? []);
  if (times.length === 0) return "-";
  return formatAge(now - (state === "SYNCED" ? Math.max(...times) : Math.min(...times)));
}

function reasonOf({ state, resources }: ClientType): string {
  const rejections = [
    ...new Set(
      resources.flatMap(({ error }) =>
        error === undefined || error.message === "" ? [] : [escapeText(error.message)],
      ),
    ),
  ];
  const missing =
    state === "NOT_SENT" || state === "MISSING"
      ? 0
      : countOf(resources, "NOT_SENT") + countOf(resources, "MISSING");
  return [...rejections, ...(missing > 0 ? [`${counted(missing, "name")} not there`] : [])].join(
    "; ",
  );
}

function countOf(resources: readonly ClientResource[], state: ResourceState): number {
  return resources.filter((resource) => resource.state === state).length;
}

function toneOf(state: ResourceState): Tone {
  if (state === "NACKED" || state === "ERROR" || state === "TIMEOUT") return "error";
  return state === "SYNCED" ? "good" : "warning";
}
