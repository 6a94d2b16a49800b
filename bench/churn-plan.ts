/** Changes by the clock. Data only: it crosses to the child processes. */
export interface ChurnPlan {
  /** The stamp of the first change; the others count up. */
  readonly first: number;
  readonly count: number;
  readonly changesPerSecond: number;
  /** Resources, each of which changes once in as many changes. */
  readonly resources: number;
  /** When the first change is due, by the clock of {@link now}. */
  readonly begin: number;
}

/** Milliseconds of the clock that all processes of a machine share. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** When the change with this stamp is due. */
export function dueAt({ first, changesPerSecond, begin }: ChurnPlan, stamp: number): number {
  return begin + ((stamp - first) * 1000) / changesPerSecond;
}

/** The resource that the change with this stamp is about. */
export function indexOfChange({ resources }: Pick<ChurnPlan, "resources">, stamp: number): number {
  return stamp % resources;
}
