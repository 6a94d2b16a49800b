/**
 * The form in which a requested name that does not exist is sent over delta (S-MISS-1, S-MISS-2).
 */
export type MissingForm = "removed" | "empty-resource" | "nothing";

/** TTLs by variant: true if sent, false if not. Absent: sent if the client announces support. */
export type TtlByVariant = Readonly<Partial<Record<"delta" | "sotw", boolean>>>;

/**
 * The effect of a difference on the state machines. An absent member has no effect: a rule that
 * holds for all clients covers the difference, and the row documents it.
 */
export interface QuirkEffect {
  /** The form of a missing name, by type URL. */
  readonly missingAs?: Readonly<Record<string, MissingForm>>;
  /** Types that are sent again on a new stream although the client lists their current version. */
  readonly resendOnReconnect?: readonly string[];
  /**
   * True if the client leaves members of globs out of `initial_resource_versions`, so that it has
   * to be sent their removals.
   */
  readonly forgetsGlobMembers?: boolean;
  /** False if an empty first list never means `*`. */
  readonly legacyWildcard?: false;
  /** TTLs by variant: sent or not, whatever features the client announces (S-TTL-1). */
  readonly ttl?: TtlByVariant;
  /** True if the client reads `resource_errors`, though no feature announces it (S-SIZE-4). */
  readonly readsErrors?: true;
  /** False if the client rejects heartbeats for members of globs (B-TTL-10). */
  readonly globHeartbeats?: false;
}

/** A difference of one client from the rules. It is data: no state machine tests for a client. */
export interface Quirk {
  /** The beginning of `node.user_agent_name`; empty: every client. */
  readonly client: string;
  /** The id of the rule. */
  readonly rule: string;
  /** The behaviour of the client, or what it needs. */
  readonly difference: string;
  /** The cause, or what happens without the row. */
  readonly reason: string;
  /** The effect. Absent: none, the row is documentation. */
  readonly effect?: QuirkEffect;
}

/** The combined effects for one client. */
export interface ClientQuirks {
  /** The form of a missing name, by type URL. */
  readonly missingAs: ReadonlyMap<string, MissingForm>;
  /** `resendOnReconnect` of all rows that apply. */
  readonly resendOnReconnect: readonly string[];
  /** `forgetsGlobMembers`; false if no row sets it. */
  readonly forgetsGlobMembers: boolean;
  /** False if a row says that an empty first list does not mean `*`. */
  readonly legacyWildcard: boolean;
  /** `ttl`; for each variant the last row counts. */
  readonly ttl: TtlByVariant;
  /** False if a row says that the client rejects heartbeats for members of globs. */
  readonly globHeartbeats: boolean;
  /** `readsErrors`; false if no row sets it. */
  readonly readsErrors: boolean;
}

/**
 * Returns the effects of a table on clients with this name; the same object for clients to which
 * the same rows apply. Later rows replace earlier ones.
 */
export function quirksOf(table: readonly Quirk[], userAgentName: string): ClientQuirks {
  const known = tables.get(table) ?? {
    byName: new Map<string, ClientQuirks>(),
    byRows: new Map<string, ClientQuirks>(),
  };
  tables.set(table, known);
  const quirks = known.byName.get(userAgentName) ?? lookUp(table, userAgentName, known.byRows);
  if (known.byName.size < MANY && userAgentName.length <= LONGEST)
    known.byName.set(userAgentName, quirks);
  return quirks;
}

/** The greatest number and length of the names that are kept, since a client may have any name. */
const MANY = 1_000;
const LONGEST = 64;
/** The combined effects, by name and by the rows that apply. There are few sets of rows. */
const tables = new WeakMap<
  readonly Quirk[],
  Record<"byName" | "byRows", Map<string, ClientQuirks>>
>();

function lookUp(
  table: readonly Quirk[],
  userAgentName: string,
  byRows: Map<string, ClientQuirks>,
): ClientQuirks {
  const rows = table.flatMap(({ client }, index) =>
    userAgentName.startsWith(client) ? [index] : [],
  );
  const key = rows.join();
  const quirks = byRows.get(key) ?? fold(rows.map((index) => table[index]?.effect ?? {}));
  byRows.set(key, quirks);
  return quirks;
}

function fold(effects: readonly QuirkEffect[]): ClientQuirks {
  return {
    missingAs: new Map(effects.flatMap((effect) => Object.entries(effect.missingAs ?? {}))),
    resendOnReconnect: effects.flatMap((effect) => effect.resendOnReconnect ?? []),
    forgetsGlobMembers: effects.some((effect) => effect.forgetsGlobMembers),
    legacyWildcard: effects.every((effect) => effect.legacyWildcard !== false),
    ttl: effects.reduce<TtlByVariant>((ttl, effect) => ({ ...ttl, ...effect.ttl }), {}),
    globHeartbeats: effects.every((effect) => effect.globHeartbeats !== false),
    readsErrors: effects.some((effect) => effect.readsErrors),
  };
}
