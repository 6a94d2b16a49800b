import type { Put, Refresh, Removal, ResourceSink } from "../feed.ts";
import { isDataError } from "../server/resource-error.ts";
import { XdsError } from "../xds-error.ts";
import { nameKey } from "@xdstp/uri";
import type { ClientContext } from "./client-context.ts";
import type { RefusedName } from "./client-event.ts";
import type { ReceivedName, ReceivedResource, ReceivedResponse } from "./received.ts";
import { resourceFault } from "./resource-fault.ts";
import type { Absence } from "./variant.ts";
import type { Want } from "./want.ts";
import type { Wants } from "./wants.ts";

/** What a response amounts to, before anything is done. */
export interface Intake {
  readonly put: Put[];
  readonly remove: Removal[];
  readonly refresh: Refresh[];
  /** Refused before the sink was asked; each with what it is wanted by. */
  readonly refused: RefusedName[];
  /** Collections that are known completely now. */
  readonly complete: Want[];
  /** The same, but what was refused of them keeps its state, so the rest is removed by name. */
  readonly settled: Want[];
  /** Beside what is held, or instead of it for now. */
  readonly errors: [Want, XdsError][];
  /** A heartbeat came for something that is not held. */
  readonly lost: Want[];
  /** What is put or removed: in a transaction each name is once. */
  readonly named: Set<string>;
  /** Something came for these. */
  readonly answered: Set<Want>;
  ignored: number;
}

/** What {@link takeIn} looks at. */
export interface IntakeSource {
  readonly context: ClientContext;
  readonly typeUrl: string;
  readonly wants: Wants;
  readonly sink: ResourceSink;
}

const NO_ALIASES: readonly string[] = [];

/** Sorts what came: what was not asked for is left out (C-SUB-8), and only then judged. */
export function takeIn(source: IntakeSource, response: ReceivedResponse, absence: Absence | undefined): Intake {
  const intake: Intake = { put: [], remove: [], refresh: [], refused: [], complete: [], settled: [], errors: [], lost: [], named: new Set(), answered: new Set(), ignored: 0 };
  for (const resource of response.resources) takeResource(source, intake, resource);
  for (const removed of response.removed) takeRemoved(source, intake, removed);
  for (const { name, constraints, error } of response.errors) takeError(source, intake, name, constraints, error);
  for (const want of absence?.complete ?? []) takeWhole(source, intake, want, response);
  for (const want of absence?.gone ?? []) if (isHeld(source.sink, source.typeUrl, want.interest)) letGo(source, intake, want.interest, source.wants.covering(want.key));
  return intake;
}

function takeResource({ context, typeUrl, wants, sink }: IntakeSource, intake: Intake, resource: ReceivedResource): void {
  const { name, version, payload, aliases = NO_ALIASES, ttlMs } = resource;
  const key = nameKey(name);
  const covering = wants.covering(key, aliases);
  if (covering.length === 0 && name !== "") { intake.ignored++; return; }
  for (const want of covering) intake.answered.add(want);
  const fault = resourceFault(resource, key, typeUrl, context.limits);
  if (fault !== undefined) intake.refused.push({ name, error: new XdsError("INVALID_ARGUMENT", fault, { typeUrl, resource: name }) });
  else if (payload !== undefined && isFirst(intake, resource)) intake.put.push({ typeUrl, resource: { ...resource, payload, ...(ttlMs === undefined ? {} : { expireMs: ttlMs }) } });
  else if (isHeld(sink, typeUrl, resource, version)) intake.refresh.push({ typeUrl, name, ...(ttlMs === undefined ? {} : { expireMs: ttlMs }), ...variantOf(resource) });
  else if (ttlMs !== undefined) intake.lost.push(...covering);
  else letGo({ context, typeUrl, wants, sink }, intake, resource, covering);
}

/** The response is all there is of a collection. */
function takeWhole({ typeUrl, sink }: IntakeSource, intake: Intake, want: Want, { resources }: ReceivedResponse): void {
  intake.answered.add(want);
  if (intake.refused.length === 0) { intake.complete.push(want); return; }
  const present = new Set(resources.map(({ name }) => nameKey(name)));
  for (const { name } of sink.held(typeUrl, want.interest)) if (!present.has(nameKey(name)) && isFirst(intake, { name })) intake.remove.push({ typeUrl, name });
  intake.settled.push(want);
}

/** A name, a glob that has no members, or all of the type. */
function takeRemoved(source: IntakeSource, intake: Intake, removed: ReceivedName): void {
  const key = nameKey(removed.name);
  const covering = source.wants.covering(key);
  const emptied = covering.find((want) => want.kind !== "name" && want.key === key);
  if (covering.length === 0) intake.ignored++;
  for (const want of covering) intake.answered.add(want);
  if (emptied !== undefined) intake.complete.push(emptied);
  else if (covering.length > 0) letGo(source, intake, removed, covering);
}

/** C-REM-2; or, as gRPC has it, what is held stays with the error beside it (C-GRPC-9). */
function letGo({ context, typeUrl, sink }: IntakeSource, intake: Intake, gone: ReceivedName, covering: readonly Want[]): void {
  const exact = covering.filter(({ kind }) => kind === "name");
  if (context.keepRemoved && exact.length === covering.length && isHeld(sink, typeUrl, gone)) {
    const error = gone.error ?? new XdsError("NOT_FOUND", "the server has removed it; what was held is kept", { typeUrl, resource: gone.name });
    for (const want of exact) intake.errors.push([want, error]);
    return;
  }
  if (!isFirst(intake, gone)) return;
  intake.remove.push({ typeUrl, name: gone.name, ...variantOf(gone), ...(gone.error === undefined ? {} : { error: gone.error }) });
}

/** Of a name or a collection (S-ERR-5). An error of the data ends it, another one stands beside what is held (C-ERR-4). */
function takeError(source: IntakeSource, intake: Intake, name: string, constraints: Uint8Array | undefined, error: XdsError | undefined): void {
  const key = nameKey(name);
  const own = source.wants.of(key);
  const covering = own.length > 0 ? own : source.wants.covering(key);
  if (covering.length === 0 || error === undefined) { intake.ignored++; return; }
  for (const want of covering) intake.answered.add(want);
  const collections = own.filter(({ kind }) => kind !== "name");
  if (isDataError(error) && collections.length === 0) { letGo(source, intake, { name, error, ...(constraints === undefined ? {} : { constraints }) }, covering); return; }
  if (isDataError(error)) intake.complete.push(...collections);
  for (const want of covering) intake.errors.push([want, error]);
}

function isFirst({ named }: Intake, { name, constraints }: ReceivedName): boolean {
  const key = constraints === undefined ? nameKey(name) : `${nameKey(name)}\n${Buffer.from(constraints).toString("latin1")}`;
  return named.size < named.add(key).size;
}

function isHeld(sink: ResourceSink, typeUrl: string, { name, constraints }: ReceivedName, version?: string): boolean {
  for (const held of sink.held(typeUrl, { name })) {
    if ((version === undefined || held.version === version) && same(held.constraints, constraints)) return true;
  }
  return false;
}

function same(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && Buffer.compare(one, other) === 0);
}

function variantOf({ constraints }: { readonly constraints?: Uint8Array }): { readonly constraints?: Uint8Array } {
  return constraints === undefined ? {} : { constraints };
}
