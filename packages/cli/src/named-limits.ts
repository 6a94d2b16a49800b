import { defaultServerLimits, type ServerLimitOptions, type ServerLimits } from "@xdstp/server";

/** Limits of a server by name alone, as `--limit` and files have them. A name is in one group only. */
export type NamedLimits = Partial<
  ServerLimits["stream"] &
    ServerLimits["admission"] &
    ServerLimits["access"] &
    ServerLimits["answers"] &
    ServerLimits["wire"]
>;

/** The default of each limit, by name. */
export const defaultNamedLimits: Required<NamedLimits> = {
  ...defaultServerLimits.stream,
  ...defaultServerLimits.admission,
  ...defaultServerLimits.access,
  ...defaultServerLimits.answers,
  ...defaultServerLimits.wire,
};

/** Returns limits in the groups that `createServer` has. */
export function groupLimits(limits: NamedLimits): ServerLimitOptions {
  const groups = Object.entries(defaultServerLimits).map(([group, defaults]) => [
    group,
    Object.fromEntries(
      Object.entries(limits).filter(([name]) => Object.hasOwn(defaults as object, name)),
    ),
  ]);
  return Object.fromEntries(groups) as ServerLimitOptions;
}
