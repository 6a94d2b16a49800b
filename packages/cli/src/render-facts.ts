import type { Health } from "@xdstp/server";
import { escapeText } from "./escape-text.ts";
import { formatAge } from "./format-age.ts";
import type { Piece } from "./paint-line.ts";
import { counted } from "./short-text.ts";
import type { ToldFacts } from "./told-facts.ts";

type Line = readonly Piece[];

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
export function staleText({ kind, name, stale }: Health, now: number): string {
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
