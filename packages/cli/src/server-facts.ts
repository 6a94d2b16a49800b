import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { type Any, anyUnpack, StructSchema, timestampMs } from "@bufbuild/protobuf/wkt";
import type {
  ClientConfig,
  ClientConfig_GenericXdsConfig,
  ClientStatusResponse,
} from "@xdstp/protos/status";
import type { Health } from "@xdstp/server";
import { counted, escapeText, formatAge } from "./short-text.ts";
import type { Line } from "./style.ts";

/** The client feature that requests a server's facts about itself, and the `client_scope` of these facts in the answer. */
export const SERVER_FACTS = "xdstp.status.server";

/** The facts that a server has sent about itself. */
export interface ToldFacts {
  /** The number of open streams that the caller may not see. Absent: the server does not report it. */
  readonly hiddenStreams?: number;
  /** The health of what the server serves. Empty: the server does not report it, or the caller may not see it. */
  readonly health: readonly Health[];
}

/** Returns true if a row of client status has facts of the server, and is not a client. */
export function isOfServer({ clientScope, node }: ClientConfig): boolean {
  return clientScope === SERVER_FACTS && node === undefined;
}

/** Returns the facts of the server in an answer. If several processes answered, the numbers of hidden streams are added, and a stale row replaces a row of the same kind and name. */
export function toldFacts({ config }: ClientStatusResponse): ToldFacts {
  const rows = config
    .filter(isOfServer)
    .flatMap(({ genericXdsConfigs }) =>
      genericXdsConfigs.map((row) => ({ row, fields: fieldsOf(row.xdsConfig) })),
    );
  const counts = rows.flatMap(({ fields: { hiddenStreams } }) =>
    typeof hiddenStreams === "number" ? [hiddenStreams] : [],
  );
  const health = new Map<string, Health>();
  for (const { row, fields } of rows.filter(({ row: { name } }) => name !== "")) {
    const one = healthOf(row, fields);
    const key = JSON.stringify([one.kind, one.name]);
    if (health.get(key)?.stale === undefined) health.set(key, one);
  }
  return {
    ...(counts.length > 0 && { hiddenStreams: counts.reduce((sum, count) => sum + count, 0) }),
    health: [...health.values()],
  };
}

/** Returns the fields that a server of this stack adds to a row of client status. Empty: there are none. */
export function fieldsOf(xdsConfig: Any | undefined): JsonObject {
  const struct = xdsConfig && anyUnpack(xdsConfig, StructSchema);
  return struct === undefined ? {} : toJson(StructSchema, struct);
}

function healthOf(
  { name, lastUpdated, errorState }: ClientConfig_GenericXdsConfig,
  { kind, expiresAt }: JsonObject,
): Health {
  const at = errorState?.lastUpdateAttempt;
  return {
    kind: typeof kind === "string" ? kind : "source",
    name,
    ...(lastUpdated !== undefined && { loadedAt: timestampMs(lastUpdated) }),
    ...(errorState !== undefined && {
      stale: { since: at === undefined ? 0 : timestampMs(at), reason: errorState.details },
    }),
    ...(typeof expiresAt === "number" && { expiresAt }),
  };
}

/** The text for each kind that is stale. */
const troubles: Readonly<Record<string, string>> = {
  source: "is broken",
  policy: "is not used",
  certificate: "is not used",
  upstream: "is away",
};

/** The time before its expiry from which a certificate is shown with a warning, in milliseconds. */
const expirySoonMs = 7 * 86_400_000;

/** Returns a line for each problem of what a server serves, for the top of the status. Returns no line without problems. */
export function renderHealth(health: readonly Health[], now: number): readonly Line[] {
  return [
    ...health
      .filter(({ stale }) => stale !== undefined)
      .map((one): Line => [["error", staleText(one, now)]]),
    ...health.flatMap(({ name, expiresAt }): readonly Line[] => {
      if (expiresAt === undefined || expiresAt - now > expirySoonMs) return [];
      return [
        [
          [
            "warning",
            `${escapeText(name)} ${expiresAt <= now ? `expired ${formatAge(now - expiresAt)} ago` : `expires in ${formatAge(expiresAt - now)}`}`,
          ],
        ],
      ];
    }),
  ];
}

/** Returns a text like `CONFIG is broken since 41s: file:line: reason`. */
function staleText({ kind, name, stale }: Health, now: number): string {
  return `${escapeText(name)} ${troubles[kind] ?? "is stale"} since ${formatAge(now - (stale?.since ?? now))}: ${escapeText(stale?.reason ?? "")}`;
}

/** Returns a line with the number of streams that the caller may not see. Returns no line if there are none. */
export function renderHidden({
  hiddenStreams = 0,
}: Pick<ToldFacts, "hiddenStreams">): readonly Line[] {
  return hiddenStreams === 0
    ? []
    : [[["dim", `${counted(hiddenStreams, "stream")} that you may not see`]]];
}
