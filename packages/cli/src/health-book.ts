import type { Clock } from "@xdstp/core";
import { type FolderEvent, formatProblem } from "@xdstp/folder";
import type { Health } from "@xdstp/server";

/** How things stand with what a command serves and uses, by kind and name. */
export interface HealthBook {
  /** As of now; what was never noted is absent. */
  rows(): readonly Health[];
  /** The newest state is in use. */
  good(kind: Health["kind"], name: string, more?: Pick<Health, "expiresAt">): void;
  /** The newest state is not used; the one before stays. Since when is that of the first such state. */
  bad(
    kind: Health["kind"],
    name: string,
    reason: string,
    more?: Pick<NonNullable<Health["stale"]>, "brokenFiles">,
  ): void;
}

/** Nothing is noted yet. */
export function createHealthBook({ wallTime }: Pick<Clock, "wallTime">): HealthBook {
  const noted = new Map<string, Health>();
  const keyOf = (kind: string, name: string): string => `${kind} ${name}`;
  return {
    rows: () => [...noted.values()],
    good(kind, name, more) {
      noted.set(keyOf(kind, name), { kind, name, loadedAt: wallTime(), ...more });
    },
    bad(kind, name, reason, more) {
      const before = noted.get(keyOf(kind, name));
      noted.set(keyOf(kind, name), {
        ...before,
        kind,
        name,
        stale: { since: before?.stale?.since ?? wallTime(), reason, ...more },
      });
    },
  };
}

/** Notes an event of the folder feed that serves `dir`. */
export function noteFolder(book: HealthBook, dir: string, event: FolderEvent): void {
  switch (event.kind) {
    case "loaded":
      book.good("source", dir);
      break;
    case "rejected":
      book.bad("source", dir, reasonOf(event.problems.map(formatProblem)), {
        brokenFiles: new Set(event.problems.map(({ file }) => file)).size,
      });
      break;
    case "kept":
      book.bad("source", dir, event.message);
      break;
    case "unreadable":
      book.bad("source", dir, formatProblem(event.problem));
      break;
    case "polling":
    case "foreign-reference":
      break;
  }
}

function reasonOf([first = "", ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first}; and ${more.length} more`;
}
