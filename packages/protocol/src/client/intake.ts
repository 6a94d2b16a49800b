import { nameKey } from "@xdstp/uri";

import {
  keysOfConstraints,
  matchesConstraints,
  type Put,
  readConstraints,
  type Refresh,
  type Removal,
  type Resource,
  type ResourceSink,
  XdsError,
} from "@xdstp/core";
import { isDataError } from "../is-data-error.ts";
import type { ClientContext } from "./client-context.ts";
import type { RejectedName } from "./client-event.ts";
import { isHeld, standInOf } from "./is-held.ts";
import { lateError } from "./late-error.ts";
import type { ReceivedName, ReceivedResource, ReceivedResponse } from "./received.ts";
import { memberFault } from "./member-limit.ts";
import { receivedKey } from "./received-key.ts";
import { resourceFault } from "./resource-fault.ts";
import type { Absence } from "./variant.ts";
import type { Want } from "./want.ts";
import type { Wants } from "./wants.ts";

/** What a response amounts to, before anything is done. */
export interface Intake {
  readonly put: Put[];
  readonly remove: Removal[];
  readonly refresh: Refresh[];
  /** What each of `put` answers. */
  readonly putFor: Covered[];
  /** The same of `remove`. */
  readonly removeFor: Covered[];
  /** Rejected before the sink was asked. */
  readonly rejected: RejectedName[];
  /** Collections that are known completely now. */
  readonly complete: Want[];
  /** The same, but what came of them is not all that is put, so the rest is removed by name. */
  readonly settled: Want[];
  /** Next to what is held, or instead of it for now. */
  readonly errors: [Want, XdsError][];
  /** A heartbeat came for something that is not held. */
  readonly lost: Set<Want>;
  /** What is put or removed: in a transaction each name is once. Only made where something is removed. */
  named: Set<string> | undefined;
  /** What the server says of names, next to what it gives. */
  readonly reasons: ReadonlyMap<string, XdsError>;
  /** Something came for these. */
  readonly answered: Set<Want>;
  /** Collections that have begun with this response, or have a member in it that had not come before. */
  readonly grown: Set<Want>;
  /** Only counted: what was not asked for, and what was rejected beyond what is told. */
  readonly skipped: { ignored: number; rejected: number };
}

/** A name, and what it is wanted by. */
export interface Covered {
  readonly key: string;
  readonly wants: readonly Want[];
}

/** What {@link takeIn} looks at. */
export interface IntakeSource {
  readonly context: ClientContext;
  readonly typeUrl: string;
  readonly wants: Wants;
  readonly sink: ResourceSink;
}

const NO_ALIASES: readonly string[] = [];
const NOTHING_REJECTED: NonNullable<Want["rejected"]> = new Map();

/** Sorts what came: what was not asked for is left out (C-SUB-8), and only then judged. */
export function takeIn(
  source: IntakeSource,
  response: ReceivedResponse,
  absence: Absence | undefined,
): Intake {
  const intake: Intake = {
    put: [],
    remove: [],
    refresh: [],
    putFor: [],
    removeFor: [],
    rejected: [],
    complete: [],
    settled: [],
    errors: [],
    lost: new Set(),
    named: undefined,
    reasons: reasonsIn(response),
    answered: new Set(),
    grown: new Set(),
    skipped: { ignored: 0, rejected: 0 },
  };
  for (const resource of response.resources) takeResource(source, intake, resource);
  for (const removed of response.removed) takeRemoved(source, intake, removed);
  for (const error of response.errors) takeError(source, intake, error);
  if (isEmpty(response)) noteEmpty(source.wants, intake);
  // Of what has no name that can be read nobody knows what it is, so nothing is known to be absent.
  if (absence !== undefined && !response.resources.some(({ name }) => name === ""))
    takeAbsence(source, intake, absence, response);
  return intake;
}

function reasonsIn({ errors }: ReceivedResponse): ReadonlyMap<string, XdsError> {
  return new Map(
    errors.flatMap((received) =>
      received.error === undefined ? [] : [[receivedKey(received), received.error] as const],
    ),
  );
}

function takeResource(source: IntakeSource, intake: Intake, resource: ReceivedResource): void {
  const { context, typeUrl, sink } = source;
  const { name, key, version, ttlMs } = resource;
  const covering = coveringOf(source.wants, resource);
  if (covering.length === 0 && name !== "") {
    intake.skipped.ignored++;
    return;
  }
  noteAnswered(intake, covering, key);
  const fault =
    resourceFault(resource, typeUrl, context.limits) ??
    (hasBody(resource)
      ? memberFault(source, covering, name, (want) => newMembers(source, intake, want))
      : undefined);
  if (fault !== undefined) reject(source, intake, name, fault, covering);
  else if (hasBody(resource)) {
    intake.named?.add(receivedKey(resource));
    intake.put.push({
      typeUrl,
      resource: ttlMs === undefined ? resource : { ...resource, expireMs: ttlMs },
    });
    intake.putFor.push({ key, wants: covering });
  } else if (isVersionHeld(sink, typeUrl, resource, version))
    intake.refresh.push({
      typeUrl,
      name,
      ...(ttlMs === undefined ? {} : { expireMs: ttlMs }),
      ...variantOf(resource),
    });
  else if (ttlMs !== undefined) for (const want of covering) intake.lost.add(want);
  else letGo(source, intake, resource, covering);
}

/** Of a collection, among what is put already and is not held yet. */
function newMembers({ sink, typeUrl }: IntakeSource, { put, putFor }: Intake, want: Want): number {
  return putFor.filter(
    ({ wants }, nth) =>
      wants.includes(want) && !isHeld(sink, typeUrl, { name: put[nth]?.resource.name ?? "" }),
  ).length;
}

/** What is wanted by name is always told; of the rest, which may be as much as the server likes, some. */
function reject(
  { context: { limits }, typeUrl }: IntakeSource,
  { rejected, skipped }: Intake,
  name: string,
  fault: string,
  covering: readonly Want[],
): void {
  if (rejected.length >= limits.rejectedMembers && !covering.some(({ kind }) => kind === "name"))
    skipped.rejected++;
  else
    rejected.push({
      name,
      error: new XdsError("INVALID_ARGUMENT", fault, { typeUrl, resource: name }),
    });
}

/** Those that it answers. A variant is for those whose parameters match it (C-DYN-7), as far as they say: the node may have more. One that cannot be read is for the sink to reject. */
function coveringOf(
  wants: Wants,
  { key, aliases = NO_ALIASES, constraints }: ReceivedResource,
): readonly Want[] {
  const covering = wants.covering(key, aliases);
  if (constraints === undefined || covering.length === 0) return covering;
  const read = readConstraints(constraints);
  if (read.fault !== undefined) return covering;
  const keys = keysOfConstraints(read.constraints);
  return covering.filter(
    ({ interest: { parameters } }) =>
      parameters === undefined ||
      !keys.isSubsetOf(new Set(parameters.keys())) ||
      matchesConstraints(read.constraints, parameters),
  );
}

/** A name that is waited for may be all that was answered: then nothing has come of a collection that was asked for later. */
function noteAnswered(
  { answered, grown }: Intake,
  covering: readonly Want[],
  member?: string,
): void {
  const isOwed =
    covering.length > 1 && covering.some(({ kind, awaited }) => kind === "name" && awaited);
  for (const want of covering) {
    if (want.kind !== "name" && isOwed && !want.askedFirst && !isGivenUp(want)) continue;
    if (want.kind !== "name" && (noteMember(want, member) || !want.begun)) grown.add(want);
    noteBegun(want);
    answered.add(want);
  }
}

/** A collection of which nothing came in time. The server has had its request since, so what comes now is of it too. */
function isGivenUp({ asked, awaited, begun }: Want): boolean {
  return asked && !awaited && !begun;
}

/** Whether this member had not come before: a change of one that had may come at any time, and says nothing about the rest (C-GLOB-9). Kept only until the collection is concluded. */
function noteMember(want: Want, member: string | undefined): boolean {
  if (member === undefined || want.came?.has(member) === true) return false;
  if (want.awaited || !want.begun) (want.came ??= new Set()).add(member);
  return true;
}

/** A wildcard of which there is nothing, or nothing new, is answered so (S-WILD-7, S-RECON-6). */
function noteEmpty(wants: Wants, { answered, grown }: Intake): void {
  for (const want of wants.of("*")) {
    if (!want.begun) grown.add(want);
    noteBegun(want);
    answered.add(want);
  }
}

/** A collection of which nothing had come in time is waited for again: this is the first of what will be all of it (C-GLOB-9). */
function noteBegun(want: Want): void {
  if (want.kind !== "name" && want.asked && !want.begun) want.awaited = true;
  want.begun = true;
}

function isEmpty({ resources, removed, errors }: ReceivedResponse): boolean {
  return resources.length + removed.length + errors.length === 0;
}

/** What a response says by what it leaves out. What it has an error for that will pass is not left out (C-ERR-4). */
function takeAbsence(
  source: IntakeSource,
  intake: Intake,
  { complete, late, gone, missing }: Absence,
  response: ReceivedResponse,
): void {
  const { context, sink, typeUrl, wants } = source;
  const isSpokenOf = ({ key }: Want): boolean => intake.reasons.has(key);
  for (const want of late)
    want.unseen = isSpokenOf(want)
      ? []
      : [...leftOut(source, intake, want, response), ...rejectedLeftOut(source, want, response)];
  for (const want of complete) if (!isSpokenOf(want)) takeWhole(source, intake, want, response);
  for (const want of gone)
    if (!isSpokenOf(want)) {
      if (
        isGone(want)
          ? standInOf(sink, typeUrl, want) !== undefined
          : isHeld(sink, typeUrl, want.interest)
      )
        letGo(source, intake, want.interest, wants.covering(want.key));
      else if (wasSilence(want))
        letGo(
          source,
          intake,
          { name: want.interest.name, error: lateError(context, typeUrl, want, "NOT_FOUND", true) },
          [want],
        );
    }
  for (const want of missing) if (!isSpokenOf(want)) letGo(source, intake, want.interest, [want]);
}

/** By what this server has said last; what is held of it another one gave since. */
function isGone({ state }: Want): boolean {
  return state === "missing" || state === "timeout";
}

/** That it does not exist was concluded from silence, and is said now: for who does not believe silence, as a relay that serves it from its snapshot (B-RELAY-10). */
function wasSilence({ state, awaited, error }: Want): boolean {
  return state === "timeout" && !awaited && error === undefined;
}

/** The response is all there is of a collection. */
function takeWhole(
  source: IntakeSource,
  intake: Intake,
  want: Want,
  response: ReceivedResponse,
): void {
  want.begun = true;
  intake.answered.add(want);
  if (
    intake.rejected.length + intake.refresh.length + intake.lost.size + intake.reasons.size ===
    0
  ) {
    intake.complete.push(want);
    return;
  }
  for (const gone of leftOut(source, intake, want, response))
    if (isFirst(intake, gone)) {
      intake.remove.push(gone);
      intake.removeFor.push({ key: nameKey(gone.name), wants: [want] });
    }
  intake.settled.push(want);
}

/** What is held of a collection, and not in a full state. */
function leftOut(
  { typeUrl, sink }: IntakeSource,
  { reasons }: Intake,
  { interest }: Want,
  { resources }: ReceivedResponse,
): readonly Removal[] {
  const present = new Set([...resources.map(receivedKey), ...reasons.keys()]);
  return Array.from(sink.held(typeUrl, interest))
    .filter((held) => !present.has(receivedKey(held)))
    .map((held) => ({ typeUrl, name: held.name, ...variantOf(held) }));
}

/** What was rejected of a collection, is not held, and not in a full state. */
function rejectedLeftOut(
  { typeUrl, sink }: IntakeSource,
  { rejected = NOTHING_REJECTED }: Want,
  { resources }: ReceivedResponse,
): readonly Removal[] {
  const present = new Set(resources.map(({ key }) => key));
  return [...rejected]
    .filter(([key, { name }]) => !present.has(key) && !isHeld(sink, typeUrl, { name }))
    .map(([, { name }]) => ({ typeUrl, name }));
}

/** A name, a glob that has no members, or all of the type. */
function takeRemoved(source: IntakeSource, intake: Intake, removed: ReceivedName): void {
  const key = nameKey(removed.name);
  const covering = source.wants.covering(key);
  const emptied = covering.filter((want) => want.kind !== "name" && want.key === key);
  if (covering.length === 0) intake.skipped.ignored++;
  noteAnswered(intake, covering);
  if (emptied.length > 0) intake.complete.push(...emptied);
  else if (
    covering.length > 0 &&
    !letGoOfReal(
      source,
      intake,
      covering.filter((want) => want.key === key),
    )
  )
    letGo(source, intake, removed, covering);
}

/** An alias has gone: so has the resource that was held for it, unless it is wanted otherwise (C-ALIAS-3). true: that is all there is to do. */
function letGoOfReal(source: IntakeSource, intake: Intake, gone: readonly Want[]): boolean {
  const { context, wants } = source;
  let isKept = false;
  for (const { realName } of gone) {
    if (realName === undefined || wants.covering(realName).some((want) => !gone.includes(want)))
      continue;
    letGo(source, intake, { name: realName }, gone);
    isKept = context.keepRemoved;
  }
  return isKept;
}

/** C-REM-2; or, as gRPC has it, what is held stays with the error next to it (C-GRPC-9). */
function letGo(
  { context, typeUrl, sink }: IntakeSource,
  intake: Intake,
  gone: ReceivedName,
  covering: readonly Want[],
): void {
  const error = gone.error ?? intake.reasons.get(receivedKey(gone));
  const exact = covering.filter(({ kind }) => kind === "name");
  if (
    context.keepRemoved &&
    exact.length === covering.length &&
    isVersionHeld(sink, typeUrl, gone)
  ) {
    const kept =
      error ??
      new XdsError("NOT_FOUND", "the server has removed it; what was held is kept", {
        typeUrl,
        resource: gone.name,
      });
    for (const want of exact) intake.errors.push([want, kept]);
    return;
  }
  if (!isFirst(intake, gone)) return;
  intake.remove.push({
    typeUrl,
    name: gone.name,
    ...variantOf(gone),
    ...(error === undefined ? {} : { error }),
  });
  intake.removeFor.push({ key: nameKey(gone.name), wants: covering });
}

/** Of a name or a collection (S-ERR-5). An error of the data ends it, another one stands next to what is held (C-ERR-4). */
function takeError(
  source: IntakeSource,
  intake: Intake,
  { name, constraints, error }: ReceivedName,
): void {
  const key = nameKey(name);
  const own = source.wants.of(key);
  const covering = own.length > 0 ? own : source.wants.covering(key);
  if (covering.length === 0 || error === undefined) {
    intake.skipped.ignored++;
    return;
  }
  noteAnswered(intake, covering, key);
  const collections = own.filter(({ kind }) => kind !== "name");
  if (isDataError(error) && collections.length === 0) {
    letGo(
      source,
      intake,
      { name, error, ...(constraints === undefined ? {} : { constraints }) },
      covering,
    );
    return;
  }
  if (isDataError(error)) intake.complete.push(...collections);
  for (const want of covering) intake.errors.push([want, error]);
}

function isFirst(intake: Intake, name: ReceivedName): boolean {
  const named = (intake.named ??= new Set(intake.put.map(({ resource }) => receivedKey(resource))));
  return named.size < named.add(receivedKey(name)).size;
}

function hasBody(resource: ReceivedResource): resource is ReceivedResource & Resource {
  return resource.payload !== undefined;
}

function isVersionHeld(
  sink: ResourceSink,
  typeUrl: string,
  { name, constraints }: ReceivedName,
  version?: string,
): boolean {
  for (const held of sink.held(typeUrl, { name })) {
    if ((version === undefined || held.version === version) && same(held.constraints, constraints))
      return true;
  }
  return false;
}

function same(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return (
    one === other || (one !== undefined && other !== undefined && Buffer.compare(one, other) === 0)
  );
}

function variantOf({ constraints }: { readonly constraints?: Uint8Array }): {
  readonly constraints?: Uint8Array;
} {
  return constraints === undefined ? {} : { constraints };
}
