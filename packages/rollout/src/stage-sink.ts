import {
  XdsError,
  type Committed,
  type Put,
  type Rejection,
  type ResourceSink,
  type StoredResource,
  type Transaction,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { Candidate, type Verdict } from "./vote.ts";
import { heldOf, isSameContent, nameOf, putOf } from "./held-of.ts";
import type { TrialGroup, TrialGroups } from "./trial-groups.ts";
import type { Stage, Trials } from "./trials.ts";

/**
 * The sinks of one place from which resources come: that of the cache that all clients see, and
 * that of the cache ahead.
 */
export interface StageSinks {
  readonly accepted: ResourceSink;
  readonly ahead: ResourceSink;
}

/** The parts of a quorum that each of its sinks uses. */
export interface StageHost {
  readonly groups: TrialGroups;
  readonly trials: Trials;
  /** Both caches, for what is cached of any server. */
  readonly held: {
    readonly accepted: Pick<ResourceSink, "held">;
    readonly ahead: Pick<ResourceSink, "held">;
  };
  /**
   * Returns true if a name was removed so recently that a client may not have been notified yet.
   */
  wasRemoved(typeUrl: string, name: string): boolean;
}

/** A put that is not given to all clients at once. */
interface Waiting {
  readonly put: Put;
  readonly candidate: Candidate;
  /** The resource that all other clients keep in the meantime. */
  readonly before: StoredResource | undefined;
}

/**
 * Creates a sink for both caches. A changed resource is first shown to the clients that see first;
 * everything else is given to all clients at once.
 * Votes decide on what waits. A rejected resource is rejected with the reasons of the clients
 * (B-RELAY-5).
 */
export function stageSink(sinks: StageSinks, host: StageHost): ResourceSink {
  const { accepted, ahead } = sinks;
  const part = (): ResourceSink =>
    stageSink({ accepted: accepted.part?.() ?? accepted, ahead: ahead.part?.() ?? ahead }, host);
  return {
    commit: (transaction) => commit(sinks, host, transaction),
    held: (typeUrl, interest) => accepted.held(typeUrl, interest),
    unavailable(scope, error) {
      for (const sink of [accepted, ahead]) sink.unavailable(scope, error);
    },
    ...(accepted.part !== undefined && { part }),
  };
}

function commit(sinks: StageSinks, host: StageHost, transaction: Transaction): Committed {
  const { trials, groups } = host;
  let rejected: readonly Rejection[] = [];
  const shown = groups.watching(() => {
    rejected = sinks.ahead.commit(transaction).rejected ?? [];
  });
  const over = trials.running.size === 0 ? [] : supersededBy(host, transaction);
  const waiting = waitingOf(host, transaction, shown, rejected);
  const committed = sinks.accepted.commit(
    waiting.length === 0 ? transaction : without(transaction, waiting),
  );
  const fresh = waiting
    .filter(({ candidate }) => trials.of(candidate.held) === undefined)
    .map(({ candidate }) => candidate);
  if (fresh.length > 0) trials.begin(fresh, stageOf(sinks, host, transaction.label));
  supersede(sinks, host, over);
  return waiting.length === 0
    ? committed
    : { ...committed, decided: concluded(sinks, committed, waiting) };
}

/**
 * Returns the candidates that a transaction replaces: those that are no longer in the cache ahead,
 * and withheld ones, which are not in it, that the transaction names.
 */
function supersededBy(
  { trials, held }: StageHost,
  { put = [], remove = [] }: Transaction,
): readonly Candidate[] {
  const named = new Set([
    ...put.map((one) => idOf(one.typeUrl, nameOf(one))),
    ...remove.map(({ typeUrl, name }) => idOf(typeUrl, name)),
  ]);
  return [...trials.running].filter((candidate) => {
    const {
      name,
      put: { typeUrl },
    } = candidate;
    return (
      heldOf(held.ahead, typeUrl, name) !== candidate.held ||
      (trials.of(candidate.held) !== candidate && named.has(idOf(typeUrl, name)))
    );
  });
}

function idOf(typeUrl: string, name: string): string {
  return `${typeUrl}\n${nameKey(name)}`;
}

/**
 * Returns the puts that have changed the cache ahead and that need a vote, and those that repeat a
 * change on which a vote is running.
 */
function waitingOf(
  host: StageHost,
  transaction: Transaction,
  shown: ReadonlyMap<StoredResource, readonly TrialGroup[]>,
  rejected: readonly Rejection[],
): readonly Waiting[] {
  const { trials, held } = host;
  if (transaction.atomic === true || (shown.size === 0 && trials.running.size === 0)) return [];
  const bad = new Set(rejected.map(({ typeUrl, name }) => idOf(typeUrl, name)));
  return (transaction.put ?? []).flatMap((put): readonly Waiting[] => {
    const name = nameOf(put);
    if (bad.has(idOf(put.typeUrl, name)) || isExempt(put)) return [];
    const now = heldOf(held.ahead, put.typeUrl, name);
    const before = heldOf(held.accepted, put.typeUrl, name);
    const running = trials.of(now);
    if (running !== undefined) return [{ put, candidate: running, before }];
    const groups = (now && shown.get(now))?.filter(({ members }) => members.size > 0) ?? [];
    if (now === undefined || groups.length === 0 || !isChange(host, put, before, groups)) return [];
    return [{ put, candidate: new Candidate(put, name, now, groups), before }];
  });
}

/**
 * Returns true if a put cannot wait for a vote: a resource with a time to live, or a variant, which
 * has to come with the removal of the one that it replaces.
 */
function isExempt({ resource: { ttlMs, expireMs, constraints } }: Put): boolean {
  return ttlMs !== undefined || expireMs !== undefined || (constraints?.length ?? 0) > 0;
}

/**
 * Returns true if clients could keep an earlier state: a resource with other content, or the answer
 * that the name does not exist.
 */
function isChange(
  host: StageHost,
  put: Put,
  before: StoredResource | undefined,
  groups: readonly TrialGroup[],
): boolean {
  if (before !== undefined)
    return before.ttlMs === undefined && !isSameContent(before, put.resource);
  return (
    groups.some(({ accepted }) => accepted.settled) && !host.wasRemoved(put.typeUrl, nameOf(put))
  );
}

/** Returns the transaction for the clients that keep the earlier state. */
function without(transaction: Transaction, waiting: readonly Waiting[]): Transaction {
  const kept = new Map(
    waiting.map(({ put, before }) => [
      put,
      before === undefined ? [] : [putOf(put.typeUrl, nameOf(put), before)],
    ]),
  );
  return { ...transaction, put: (transaction.put ?? []).flatMap((put) => kept.get(put) ?? [put]) };
}

function stageOf(sinks: StageSinks, { held }: StageHost, label: string | undefined): Stage {
  const before = (candidates: readonly Candidate[]): Transaction => {
    const all = candidates.map(({ name, put: { typeUrl } }) => ({
      typeUrl,
      name,
      held: heldOf(held.accepted, typeUrl, name),
    }));
    return {
      put: all.flatMap(({ typeUrl, name, held: one }) =>
        one === undefined ? [] : [putOf(typeUrl, name, one)],
      ),
      remove: all
        .filter((one) => one.held === undefined)
        .map(({ typeUrl, name }) => ({ typeUrl, name })),
    };
  };
  const aheadIs = (candidates: readonly Candidate[], transaction: Transaction): void => {
    void sinks.ahead.commit(transaction);
    for (const candidate of candidates)
      candidate.held = heldOf(held.ahead, candidate.put.typeUrl, candidate.name);
  };
  return {
    show: (candidates) => {
      aheadIs(candidates, { put: candidates.map(({ put }) => put) });
    },
    withdraw: (candidates) => {
      aheadIs(candidates, before(candidates));
    },
    conclude(candidates, verdict) {
      if (verdict === "accepted")
        void sinks.accepted.commit({
          put: candidates.map(({ put }) => put),
          ...(label !== undefined && { label }),
        });
      else aheadIs(candidates, before(candidates));
      for (const candidate of candidates) candidate.end(verdict);
    },
  };
}

/**
 * Ends the votes on replaced candidates. A name that was removed in the cache ahead is removed for
 * all clients, even if another server had given it.
 */
function supersede(
  { accepted }: StageSinks,
  { trials, held }: StageHost,
  over: readonly Candidate[],
): void {
  if (over.length === 0) return;
  const names = over.map(({ name, put: { typeUrl } }) => ({ typeUrl, name }));
  const remove = names.filter(
    ({ typeUrl, name }) =>
      heldOf(held.ahead, typeUrl, name) === undefined &&
      heldOf(held.accepted, typeUrl, name) !== undefined,
  );
  if (remove.length > 0) void accepted.commit({ remove });
  trials.supersede(over);
}

async function concluded(
  { accepted }: StageSinks,
  committed: Committed,
  waiting: readonly Waiting[],
): Promise<Committed> {
  const verdicts = await Promise.all(
    waiting.map(async ({ put, candidate }) => ({
      put,
      verdict: await candidate.verdict,
      isOwn: candidate.put === put,
    })),
  );
  const again = verdicts.filter(({ verdict, isOwn }) => verdict === "accepted" && !isOwn);
  const { revision } =
    again.length === 0 ? committed : accepted.commit({ put: again.map(({ put }) => put) });
  const rejected = [
    ...(committed.rejected ?? []),
    ...verdicts.flatMap(({ put, verdict }) => rejectionOf(put, verdict)),
  ];
  return { revision, ...(rejected.length > 0 && { rejected }) };
}

function rejectionOf(put: Put, verdict: Verdict): readonly Rejection[] {
  return verdict instanceof XdsError
    ? [{ typeUrl: put.typeUrl, name: nameOf(put), error: verdict }]
    : [];
}
