import type { SeededRandom } from "@xdstp/testing";

import type { HttpClientShape } from "./http-client.ts";

/** The shape of a world of native HTTP; all of it is drawn from the seed. */
export interface HttpShape {
  readonly replicas: number;
  /** The shared caches; true: it lets equal requests wait for one of them. */
  readonly edges: readonly boolean[];
  readonly clients: readonly HttpClientShape[];
}

/** Draws a shape. */
export function createHttpShape(random: SeededRandom): HttpShape {
  const edges = [true, random.once(2)];
  const edge = (): number | undefined => (random.once(2) ? random.below(edges.length) : undefined);
  return {
    replicas: random.between(1, 3),
    edges,
    clients: [
      { kind: "feed", longPolls: 100, edge: edge() },
      { kind: "feed", longPolls: 2, edge: edge() },
      { kind: "follower", longPolls: 1, edge: edge() },
      { kind: "follower", longPolls: 0, edge: edge() },
    ],
  };
}
