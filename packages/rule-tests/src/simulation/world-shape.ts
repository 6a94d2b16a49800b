import type { SeededRandom } from "@xdstp/testing";

/** One client of a world. */
export interface ClientShape {
  readonly origin: number;
  readonly variant: "delta" | "sotw";
  /** True if it rejects bad resources. */
  readonly rejects: boolean;
  /** The features that its node announces. */
  readonly features: readonly string[];
}

/** The shape of a world; all of it is drawn from the seed. */
export interface WorldShape {
  readonly origins: number;
  readonly clients: readonly ClientShape[];
  /** The time that removals are remembered, in milliseconds. `tombstoneCount` is their greatest number. */
  readonly tombstoneMs: number;
  readonly tombstoneCount: number;
  /** The greatest size of a response in bytes; a small number makes parts (S-SIZE-2). */
  readonly responseBytes: number;
  /** Relays: the first one of server 0, each other of the one before it. Default: none, and every server has a store of its own. */
  readonly hops?: readonly HopShape[];
}

/** The way in which a relay subscribes upstream. */
export interface HopShape {
  readonly variant: "delta" | "sotw";
}

const WRAPPED = "xds.config.supports-resource-in-sotw";
const TTL = "xds.config.supports-resource-ttl";

/** Returns the shape of a world of servers and clients, or of a chain of relays. */
export function createShape(random: SeededRandom, relays = false): WorldShape {
  return relays ? createRelayShape(random) : createWorldShape(random);
}

/** Servers with stores of their own. */
function createWorldShape(random: SeededRandom): WorldShape {
  const client = (_: unknown, index: number): ClientShape => ({
    origin: index % 2,
    variant: index % 4 < 2 ? "delta" : "sotw",
    rejects: random.once(3),
    features: [...(random.once(2) ? [WRAPPED] : []), ...(random.once(2) ? [TTL] : [])],
  });
  return {
    origins: 2,
    clients: Array.from({ length: 8 }, client),
    tombstoneMs: random.pick([600_000, 600_000, 20_000]),
    tombstoneCount: random.pick([100_000, 20]),
    responseBytes: random.pick([400, 2_000, 4 << 20]),
  };
}

/** A chain of relays behind one server, with clients at each of them. */
function createRelayShape(random: SeededRandom): WorldShape {
  const hops = Array.from({ length: random.between(1, 3) }, (): HopShape => ({
    variant: random.once(3) ? "sotw" : "delta",
  }));
  const shape = createWorldShape(random);
  return {
    ...shape,
    origins: 1 + hops.length,
    clients: shape.clients.map((client) => ({ ...client, origin: random.below(1 + hops.length) })),
    hops,
  };
}

/** Returns the variant that limits the content a client can receive: SotW, on any of the hops, cannot express some of it. */
export function toldIn(
  { hops = [] }: WorldShape,
  { origin, variant }: ClientShape,
): "delta" | "sotw" {
  return hops.slice(0, origin).some((hop) => hop.variant === "sotw") ? "sotw" : variant;
}
