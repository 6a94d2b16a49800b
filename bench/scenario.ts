/** One situation in which contenders are measured. Data only: it crosses to the child processes. */
export interface Scenario {
  readonly variant: "delta" | "sotw";
  /** Streams, spread evenly over the connections. */
  readonly clients: number;
  readonly connections: number;
  /** Clusters held by the server. */
  readonly resources: number;
  /** Absent: each client asks for `*`. */
  readonly names?: NameSpread;
  /** Absent: no TLS. */
  readonly tls?: boolean;
  /** Clients ask as soon as they are connected. Absent: when all are. */
  readonly storm?: Storm;
  /** Changes come by the clock. Absent: each when everyone has the one before. */
  readonly churn?: Churn;
  /** Rounds that are not counted: code is compiled in them. */
  readonly warmUpRounds: number;
  readonly rounds: number;
}

/** All clients come at once, as after the end of a replica. */
export interface Storm {
  /** True if each client lists what it holds, which is what the server has: not one resource may come. */
  readonly versions: boolean;
}

/** Changes at a rate that does not wait for anybody; needs a connection for each client. */
export interface Churn {
  readonly changesPerSecond: number;
  /** Changes that are not counted, and those that are. */
  readonly warmUpChanges: number;
  readonly changes: number;
  /** One client in so many asks and then reads nothing. */
  readonly mutedOneIn: number;
}

/** Clients that ask by name: client c has the names from `c * perClient`, modulo `distinct`. */
export interface NameSpread {
  readonly perClient: number;
  readonly distinct: number;
  /** Changes in one round; no client has two of them. */
  readonly changesPerRound: number;
}

/** The indexes of the resources that a client asks for. */
export function namesOf({ perClient, distinct }: NameSpread, client: number): readonly number[] {
  return Array.from({ length: perClient }, (_, index) => (client * perClient + index) % distinct);
}

/** The indexes of the resources that change in a round; the same ones in each run. */
export function changesOf({ names, resources }: Scenario, round: number): readonly number[] {
  if (names === undefined) return [(round * 7919) % resources];
  const blocks = names.distinct / names.perClient;
  const step = blocks / names.changesPerRound;
  return Array.from(
    { length: names.changesPerRound },
    (_, index) =>
      ((Math.floor(index * step) + round) % blocks) * names.perClient + (round % names.perClient),
  );
}

/** The number of pushes of a round, over all clients. */
export function pushesPerRound({ clients, names }: Scenario): number {
  return names === undefined
    ? clients
    : (names.changesPerRound * clients * names.perClient) / names.distinct;
}

/** True if a client reads nothing of what it asked for. */
export function isMuted({ churn }: Scenario, client: number): boolean {
  return churn !== undefined && client % churn.mutedOneIn === churn.mutedOneIn - 1;
}

/** The number of clients that read. */
export function readersOf({ clients, churn }: Scenario): number {
  return churn === undefined ? clients : clients - Math.floor(clients / churn.mutedOneIn);
}

/** The number of resources that must come first: none to a client that lists them all. */
export function resourcesDue(scenario: Scenario): number {
  return scenario.storm?.versions === true ? 0 : resourcesPerClient(scenario);
}

/** The number of resources of a client that is in sync. */
export function resourcesPerClient({ resources, names }: Scenario): number {
  return names?.perClient ?? resources;
}
