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

/** The client feature that requests a server's facts about itself, and the scope of these facts in its answer. */
export const SERVER_FACTS = "xdstp.status.server";

/** What a server has said of itself. */
export interface ToldFacts {
  /** The number of open streams that the caller may not see. Absent: the server does not say. */
  readonly hiddenStreams?: number;
  /** How things stand with what it serves. Empty: the server does not say, or the caller may not see it. */
  readonly health: readonly Health[];
}

/** Whether a row of client status is the server itself. */
export function isOfServer({ clientScope, node }: ClientConfig): boolean {
  return clientScope === SERVER_FACTS && node === undefined;
}

/** What an answer says of the server. Of several processes the hidden streams are added up, and of equal things the one that is stale counts. */
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

/** The fields that a server of ours adds to a row of client status. Empty: there are none. */
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

/** What is wrong with a thing of each kind, and what holds meanwhile. */
const troubles: Readonly<Record<string, string>> = {
  source: "is broken",
  policy: "is not used",
  certificate: "is not used",
  upstream: "is away",
};

/** How long before its end a certificate is warned of. */
const expirySoonMs = 7 * 86_400_000;

/** What is wrong with what a server serves: a line for each thing, for the top of a status. Nothing wrong: no line. */
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

/** `CONFIG is broken since 41s: file:line: reason`. */
function staleText({ kind, name, stale }: Health, now: number): string {
  return `${escapeText(name)} ${troubles[kind] ?? "is stale"} since ${formatAge(now - (stale?.since ?? now))}: ${escapeText(stale?.reason ?? "")}`;
}

/** How many streams there are that the caller may not see; none: no line. */
export function renderHidden({
  hiddenStreams = 0,
}: Pick<ToldFacts, "hiddenStreams">): readonly Line[] {
  return hiddenStreams === 0
    ? []
    : [[["dim", `${counted(hiddenStreams, "stream")} that you may not see`]]];
}
