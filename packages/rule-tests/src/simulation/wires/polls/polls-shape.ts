import type { SeededRandom } from "@xdstp/testing";

/** One client of a world of polls. */
export interface PollClientShape {
  /** `full`: each response has all resources. `names`: those that have changed. */
  readonly type: "full" | "names";
  /** Milliseconds that the server may hold a poll. 0: it answers at once. */
  readonly waitMs: number;
  /** True if it rejects bad resources. */
  readonly rejects: boolean;
  /** The replica that its polls go to. Absent: any of them, for each poll. */
  readonly replica: number | undefined;
  /** The id of its node. Two clients may have the same, on one host. */
  readonly node: string;
}

/** The shape of a world of polls; all of it is drawn from the seed. */
export interface PollsShape {
  readonly replicas: number;
  readonly clients: readonly PollClientShape[];
}

/** Draws a shape. */
export function createPollsShape(random: SeededRandom): PollsShape {
  const replicas = random.between(1, 3);
  const isNodeShared = random.once(3);
  return {
    replicas,
    clients: Array.from({ length: 4 }, (_, index) => ({
      type: index % 2 === 0 ? "full" : "names",
      waitMs: index < 2 ? 0 : 20_000,
      rejects: random.once(3),
      replica: random.once(2) ? random.below(replicas) : undefined,
      node: isNodeShared ? "node" : `node ${index}`,
    })),
  };
}
