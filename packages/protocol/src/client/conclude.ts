import { nameKey } from "@xdstp/uri";

import type { Put, Refresh, Removal, TypedInterest } from "@xdstp/core";
import {
  applyEvent,
  applyToCollection,
  applyToName,
  commitAside,
  type ConcludeSource,
  confirm,
} from "./apply-event.ts";
import { isCachedByAll, isWantedCached, standInOf } from "./cached.ts";
import type { ResponseVerdict } from "./classification.ts";
import type { RejectedName } from "./client-event.ts";
import type { CollectionParts } from "./client-parts.ts";
import type { Repeats } from "./conclude-collection.ts";
import { lateError } from "./errors.ts";
import type { NotedRejection } from "./knowledge.ts";
import { receivedKey, type ReceivedResponse } from "./received.ts";
import {
  changeCollection,
  changeName,
  isPending,
  type Wanted,
  type WantedCollection,
  type WantedName,
} from "./wanted.ts";

/** The transaction of a response. */
export interface ResponseTransaction {
  readonly put: Put[];
  readonly remove: Removal[];
  readonly refresh: Refresh[];
  readonly complete: TypedInterest[];
  readonly settled: TypedInterest[];
}

/** Returns the transaction that applies these verdicts. */
export function transactionOf(
  typeUrl: string,
  verdicts: readonly ResponseVerdict[],
): ResponseTransaction {
  const transaction: ResponseTransaction = {
    put: [],
    remove: [],
    refresh: [],
    complete: [],
    settled: [],
  };
  for (const verdict of verdicts)
    switch (verdict.kind) {
      case "accepted":
        transaction.put.push(verdict.put);
        break;
      case "removed":
        transaction.remove.push(verdict.removal);
        break;
      case "refreshed":
        transaction.refresh.push(verdict.refresh);
        break;
      case "whole": {
        const { collection, exact, error } = verdict;
        const { interest } = collection;
        (exact ? transaction.complete : transaction.settled).push(
          error === undefined ? { typeUrl, interest } : { typeUrl, interest, error },
        );
        break;
      }
      default:
    }
  return transaction;
}

/** Returns true if a transaction has nothing for the sink. */
export function isEmptyTransaction({
  put,
  remove,
  refresh,
  complete,
  settled,
}: ResponseTransaction): boolean {
  return put.length + remove.length + refresh.length + complete.length + settled.length === 0;
}

/** The consequences of a response for the type. */
export interface Conclusion {
  /**
   * True if a collection that is not known to be complete has its first member, or a further one.
   */
  readonly isGrowing: boolean;
  /**
   * Interests whose heartbeats are of resources that are not cached: they have to be requested
   * again.
   */
  readonly lost: readonly Wanted[];
}

/**
 * Concludes from the verdicts of a response after the sink has committed them. `rejected`: the
 * names that the verdicts or the sink rejected.
 */
export function concludeResponse(
  source: ConcludeSource,
  response: ReceivedResponse,
  verdicts: readonly ResponseVerdict[],
  rejected: readonly RejectedName[],
): Conclusion {
  const at = source.context.clock.wallTime();
  const bad = new Set(rejected.map(({ name }) => nameKey(name)));
  const groups = groupsOf(verdicts);
  const before = noteArrivals(groups);
  for (const group of groups) noteNames(source, group, bad, at);
  for (const verdict of verdicts)
    if (verdict.kind === "whole")
      applyToCollection(source, verdict.collection, { kind: "whole", rejected: bad });
  for (const group of groups) noteMembers(source, group, bad, at);
  for (const verdict of verdicts) noteRest(source, verdict, at);
  if (rejected.length > 0) noteRejections(source, response, rejected);
  return {
    isGrowing: [...before].some(
      ([{ state }, size]) =>
        state.request.kind === "partial" && state.request.members.size !== size,
    ),
    lost: verdicts.flatMap((verdict) => (verdict.kind === "lost" ? verdict.covering : [])),
  };
}

/**
 * Consecutive resources of a response that answer the same interests: they make one event, not one
 * for each of a hundred thousand members.
 */
interface Group {
  readonly covering: readonly Wanted[];
  readonly keys: string[];
  readonly isAccepted: boolean;
}

function groupsOf(verdicts: readonly ResponseVerdict[]): readonly Group[] {
  const groups: Group[] = [];
  let last: Group | undefined;
  for (const verdict of verdicts) {
    if (verdict.kind === "accepted") {
      const { covering, key } = verdict;
      if (last?.isAccepted === true && last.covering === covering) last.keys.push(key);
      else groups.push((last = { covering, keys: [key], isAccepted: true }));
    } else if (verdict.kind === "answered") {
      const { covering, member } = verdict;
      last = { covering, keys: member === undefined ? [] : [member], isAccepted: false };
      groups.push(last);
    }
  }
  return groups;
}

/** Returns the number of members that each collection had before; -1: it was not partial. */
function noteArrivals(groups: readonly Group[]): ReadonlyMap<WantedCollection, number> {
  const before = new Map<WantedCollection, number>();
  for (const { covering, keys } of groups) {
    // If a name is awaited, the response may answer that name only: then a collection that was
    // requested later has not begun. A collection that was requested with the first request has
    // begun, since its answer looks the same (C-WILD-12).
    const isOwed =
      covering.length > 1 && covering.some((wanted) => wanted.kind === "name" && isPending(wanted));
    for (const wanted of covering) {
      if (wanted.kind === "name") continue;
      const { request } = wanted.state;
      if (isOwed && "first" in request && !request.first && request.kind !== "silent") continue;
      if (!before.has(wanted))
        before.set(wanted, request.kind === "partial" ? request.members.size : -1);
      changeCollection(wanted, { kind: "arrived", keys });
    }
  }
  return before;
}

function noteNames(
  source: ConcludeSource,
  { covering, keys, isAccepted }: Group,
  bad: ReadonlySet<string>,
  at: number,
): void {
  for (const wanted of covering) {
    if (wanted.kind !== "name") continue;
    changeName(wanted, { kind: "answered" });
    for (const key of isAccepted ? keys : []) {
      if (bad.has(key)) continue;
      if (wanted.key !== key) source.wants.link(wanted, key);
      applyToName(source, wanted, { kind: "came", keys: [key], at });
    }
  }
}

function noteMembers(
  source: ConcludeSource,
  { covering, keys, isAccepted }: Group,
  bad: ReadonlySet<string>,
  at: number,
): void {
  if (!isAccepted) return;
  const good = bad.size === 0 ? keys : keys.filter((key) => !bad.has(key));
  if (good.length === 0) return;
  for (const wanted of covering)
    if (wanted.kind !== "name") applyToCollection(source, wanted, { kind: "came", keys: good, at });
}

function noteRest(source: ConcludeSource, verdict: ResponseVerdict, at: number): void {
  switch (verdict.kind) {
    case "removed":
      for (const wanted of verdict.covering) noteRemoved(source, wanted, verdict.key, at);
      break;
    case "failed":
      applyEvent(source, verdict.wanted, { kind: "failed", error: verdict.error });
      break;
    case "left-out":
      changeName(verdict.wanted, { kind: "left-out" });
      break;
    case "unseen":
      changeCollection(verdict.collection, { kind: "left-out", unseen: verdict.unseen });
      break;
    default:
  }
}

function noteRemoved(source: ConcludeSource, wanted: Wanted, key: string, at: number): void {
  if (wanted.kind === "name" && wanted.key === key) source.wants.unlink(wanted);
  applyEvent(source, wanted, { kind: "removed", keys: [key], at });
}

function noteRejections(
  source: ConcludeSource,
  { resources, version }: ReceivedResponse,
  rejected: readonly RejectedName[],
): void {
  const { wants, typeUrl, context, sink } = source;
  const { limits, clock } = context;
  const received = new Map(resources.map((resource) => [resource.name, resource]));
  const byWanted = new Map<Wanted, [key: string | undefined, rejection: NotedRejection][]>();
  for (const { name, error } of rejected) {
    const key = nameKey(name);
    const came = received.get(name);
    const given = came?.version ?? "";
    const rejection = {
      name,
      version: given === "" ? version : given,
      error,
      moment: clock.now(),
    };
    for (const wanted of wants.covering(key, came?.aliases)) {
      const noted = byWanted.get(wanted) ?? [];
      noted.push([key.length <= limits.nameLength ? key : undefined, rejection]);
      byWanted.set(wanted, noted);
    }
  }
  for (const [wanted, rejections] of byWanted)
    applyEvent(source, wanted, { kind: "rejected", rejections, limit: limits.rejectedMembers });
  if (context.dropRejected)
    commitAside(sink, {
      remove: unique(rejected.map(({ name, error }) => ({ typeUrl, name, error }))),
    });
}

/**
 * Concludes from interests that have not come in time (C-MISS-4). A name does not exist, or is
 * unavailable for now (C-GRPC-10). A collection is complete with the members that have come
 * (C-GLOB-9); if there are none, it may be unavailable for now too.
 * The time limit does not apply to cached resources, except for those that another server has given
 * in place of this one (C-GRPC-6). Returns the interests for which that server still replaces this
 * one: their time starts again.
 */
export function concludeDeadline(
  source: ConcludeSource,
  due: readonly Wanted[],
  repeats: Repeats,
  collections: CollectionParts | undefined,
): readonly Wanted[] {
  const { context, typeUrl, sink } = source;
  const standIns: Wanted[] = [];
  const names: WantedName[] = [];
  const silent: WantedCollection[] = [];
  const overdue: Wanted[] = [];
  const remove: Removal[] = [];
  const settled: TypedInterest[] = [];
  for (const wanted of due) {
    const standIn = wanted.kind === "name" ? standInOf(source, wanted) : undefined;
    if (standIn === true) standIns.push(wanted);
    else if (!repeats(wanted, standIn === false)) {
      overdue.push(wanted);
      if (wanted.kind === "name") {
        const removals = concludeName(source, wanted, standIn === false);
        if (removals !== undefined) names.push(wanted);
        remove.push(...(removals ?? []));
      } else {
        const concluded = collections?.concludeOverdue(source, wanted);
        remove.push(...(concluded?.removals ?? []));
        if (concluded?.whole === undefined) silent.push(wanted);
        else settled.push(concluded.whole);
      }
    }
  }
  if (remove.length + settled.length > 0) commitAside(sink, { remove: unique(remove), settled });
  const unknown = overdue.filter(({ state }) => state.known.kind === "requested");
  const late = new Set<Wanted>([...names, ...silent, ...unknown]);
  if (late.size > 0)
    context.emit?.({
      kind: "timeout",
      typeUrl,
      names: Array.from(late, ({ interest }) => interest.name),
    });
  return standIns;
}

/**
 * Returns what is removed with a name that is late. undefined: nothing is concluded, since the name
 * is cached.
 */
function concludeName(
  source: ConcludeSource,
  wanted: WantedName,
  wasStandIn: boolean,
): readonly Removal[] | undefined {
  const { context, typeUrl, wants } = source;
  const { interest, state } = wanted;
  const leftOut = state.request.kind === "waiting" && state.request.leftOut;
  const isKept = isCachedByAll(source, wanted);
  if (isKept) confirm(source, wanted);
  if (isKept && !leftOut && !wasStandIn) {
    changeName(wanted, { kind: "answered" });
    return undefined;
  }
  const at = context.clock.wallTime();
  // While another server replaces this one, this server may still report that the resource is
  // removed.
  const others = !isKept && isWantedCached(source, wanted);
  if (context.timeoutIsTransient) {
    const error = lateError(context, typeUrl, interest, "UNAVAILABLE", leftOut);
    applyToName(source, wanted, { kind: "late", at, error, others });
    return [];
  }
  const error = lateError(context, typeUrl, interest, "NOT_FOUND", leftOut);
  // As in gRPC, a cached resource stays, with the error next to it (C-GRPC-9).
  if (context.keepRemoved && isKept) {
    applyToName(source, wanted, { kind: "failed", error });
    return [];
  }
  if (!others) wants.unlink(wanted);
  applyToName(source, wanted, { kind: "late", at, error: undefined, others });
  const removal = { typeUrl, name: interest.name, error };
  const variants = Array.from(source.sink.held(typeUrl, interest), ({ constraints }) =>
    constraints === undefined ? removal : { ...removal, constraints },
  );
  return variants.length === 0 ? [removal] : variants;
}

/** Returns each removal once: several parameter sets of a name share it. */
function unique(removals: readonly Removal[]): readonly Removal[] {
  return [...new Map(removals.map((removal) => [receivedKey(removal), removal])).values()];
}
