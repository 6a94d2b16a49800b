import { nameKey } from "@xdstp/uri";

import type { Put, Refresh, Removal, ResourceSink, Transaction, TypedInterest } from "@xdstp/core";
import { isCached, isCachedByAll, isWantedCached, standInOf } from "./cached.ts";
import type { ClassifySource, ResponseVerdict } from "./classification.ts";
import type { RejectedName } from "./client-event.ts";
import { lateError } from "./errors.ts";
import { receivedKey, type ReceivedResponse } from "./received.ts";
import {
  changeCollection,
  changeName,
  type CollectionEvent,
  isPending,
  type NameEvent,
  type NotedRejection,
  type Wanted,
  type WantedCollection,
  type WantedEvent,
  type WantedName,
} from "./wanted.ts";

/**
 * The parts that a conclusion may change: the states of subscribed interests, by events, and the sink.
 * Conclusions are drawn from a response, a deadline and an idle collection only; each has one
 * function here.
 */
export interface ConcludeSource extends ClassifySource {
  readonly sink: ResourceSink;
  /**
   * When the stream began, by `Clock.now()`. undefined: nothing can be concluded from a server that
   * sends nothing ({@link ClientVariant.silenceConfirms}).
   */
  readonly confirmsSince: number | undefined;
}

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
 * Returns true if an interest that seems late was requested again, so that nothing is concluded
 * yet. `isOfOther`: its cached resource is from another server.
 */
export type Repeats = (wanted: Wanted, isOfOther: boolean) => boolean;

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
        const { removals, whole } = concludeCollection(source, wanted);
        remove.push(...removals);
        if (whole === undefined) silent.push(wanted);
        else settled.push(whole);
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

/**
 * Completes a collection with the members that have come. Without `whole`: none have come, and the
 * collection is unavailable for now.
 */
function concludeCollection(
  source: ConcludeSource,
  wanted: WantedCollection,
): { readonly removals: readonly Removal[]; readonly whole: TypedInterest | undefined } {
  const { context, typeUrl, wants } = source;
  const { interest, state } = wanted;
  const { request } = state;
  const hasBegun = request.kind === "partial";
  applyToCollection(source, wanted, { kind: "overdue" });
  confirm(source, wanted);
  const isSilent = context.timeoutIsTransient && !hasBegun && !isWantedCached(source, wanted);
  if (isSilent) {
    const error = lateError(context, typeUrl, interest, "UNAVAILABLE", false);
    applyToCollection(source, wanted, { kind: "failed", error });
  }
  // The server has read the request by now, so its last full state is complete (C-FULL-3). Names
  // that are also subscribed by name have a time limit of their own.
  const removed = ("unseen" in request ? request.unseen : []).filter(({ name }) =>
    wants.covering(nameKey(name)).every(({ kind }) => kind !== "name"),
  );
  const keys = removed.map(({ name }) => nameKey(name));
  if (keys.length > 0)
    applyToCollection(source, wanted, { kind: "removed", keys, at: context.clock.wallTime() });
  return {
    removals: removed.filter(({ name }) => isCached(source, { name })),
    whole: isSilent ? undefined : { typeUrl, interest, ...(!hasBegun && { timedOut: true }) },
  };
}

/**
 * Concludes that collections are complete, since no further member has come for some time
 * (C-GLOB-9).
 */
export function concludeIdle(source: ConcludeSource, repeats: Repeats): void {
  const { typeUrl, sink, wants } = source;
  const settled: TypedInterest[] = [];
  for (const wanted of wants) {
    const { request, known } = wanted.state;
    if (wanted.kind === "name" || request.kind !== "partial") continue;
    if (known.kind === "requested" && repeats(wanted, false)) continue;
    applyToCollection(source, wanted, { kind: "idle" });
    confirm(source, wanted);
    settled.push({ typeUrl, interest: wanted.interest });
  }
  if (settled.length > 0) commitAside(sink, { settled });
}

/** Notes that the server knows the cached state and has sent nothing else in time. */
function confirm(source: ConcludeSource, wanted: Wanted): void {
  if (source.confirmsSince !== undefined)
    applyEvent(source, wanted, { kind: "confirmed", since: source.confirmsSince });
}

/**
 * Applies an event. If that changes the error of the interest, or ends it, reports it to the sink.
 */
export function applyEvent(source: ConcludeSource, wanted: Wanted, event: WantedEvent): void {
  if (wanted.kind === "name") applyToName(source, wanted, event);
  else applyToCollection(source, wanted, event);
}

function applyToName(source: ConcludeSource, wanted: WantedName, event: NameEvent): void {
  const before = wanted.state.known.reports;
  changeName(wanted, event);
  report(source, wanted, before);
}

function applyToCollection(
  source: ConcludeSource,
  wanted: WantedCollection,
  event: CollectionEvent,
): void {
  const before = wanted.state.known.reports;
  changeCollection(wanted, event);
  report(source, wanted, before);
}

function report(
  { sink, typeUrl }: ConcludeSource,
  { interest, state }: Wanted,
  before: number,
): void {
  const { error, reports } = state.known;
  if (reports !== before) sink.unavailable({ typeUrl, interest }, error);
}

/**
 * Commits a transaction that does not belong to a response. Its result is not sent to a server:
 * neither rejections nor the failure of a sink.
 */
export function commitAside(sink: ResourceSink, transaction: Transaction): void {
  try {
    sink.commit(transaction).decided?.catch(() => undefined);
  } catch {
    // The server is not informed of a failure: see above.
  }
}

/** Returns each removal once: several parameter sets of a name share it. */
function unique(removals: readonly Removal[]): readonly Removal[] {
  return [...new Map(removals.map((removal) => [receivedKey(removal), removal])).values()];
}
