/** How a requested name that does not exist is sent over delta (S-MISS-1, S-MISS-2). */
export type MissingForm = "removed" | "empty-resource" | "nothing";

/** By variant, whether TTLs are taken. Absent: if the client announces it. */
export type TtlByVariant = Readonly<Partial<Record<"delta" | "sotw", boolean>>>;

/** What a difference changes in the state machines. Absent: it is met by a rule that holds for everyone, and the row only says so. */
export interface QuirkEffect {
  /** The form per type URL. */
  readonly missingAs?: Readonly<Record<string, MissingForm>>;
  /** Types sent again on a new stream although the client lists the current version. */
  readonly resendOnReconnect?: readonly string[];
  /** Members of globs are left out of `initial_resource_versions`: tell what was removed. */
  readonly forgetsGlobMembers?: boolean;
  /** An empty first list never means `*`. */
  readonly legacyWildcard?: false;
  /** Whether it takes TTLs in a variant, whatever features it announces (S-TTL-1). */
  readonly ttl?: TtlByVariant;
  /** It reads `resource_errors`, though no feature says so (S-SIZE-4). */
  readonly readsErrors?: true;
  /** It rejects heartbeats for members of globs (B-TTL-10). */
  readonly globHeartbeats?: false;
}

/** One difference of one client from the rules: data, never an `if` in a state machine. */
export interface Quirk {
  /** Beginning of `node.user_agent_name`; empty: every client. */
  readonly client: string;
  /** The rule it belongs to. */
  readonly rule: string;
  /** What the client does, or needs. */
  readonly difference: string;
  /** Why that is so, or what happens otherwise. */
  readonly reason: string;
  /** What the difference changes. Absent: nothing, the row only documents it. */
  readonly effect?: QuirkEffect;
}

/** The effects that concern one client, folded. */
export interface ClientQuirks {
  /** By type URL. */
  readonly missingAs: ReadonlyMap<string, MissingForm>;
  /** `resendOnReconnect` of all rows that apply. */
  readonly resendOnReconnect: readonly string[];
  /** `forgetsGlobMembers`; false where no row says so. */
  readonly forgetsGlobMembers: boolean;
  /** An empty first list means `*`; false where a row says that it does not. */
  readonly legacyWildcard: boolean;
  /** `ttl`; the later row of a variant wins. */
  readonly ttl: TtlByVariant;
  /** The client accepts heartbeats for members of globs; false where a row says that it does not. */
  readonly globHeartbeats: boolean;
  /** `readsErrors`; false where no row says so. */
  readonly readsErrors: boolean;
}

/** What a table says about the client of this name; the same object for clients to whom the same rows apply. Later rows win. */
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

/** Clients may bear any name; more than these, and longer ones, are not kept. */
const MANY = 1_000;
const LONGEST = 64;
/** What was folded, by name and by the rows that apply: there are few sets of rows. */
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
