import { nameKey } from "@xdstp/uri";

import type { Rejection, XdsError } from "@xdstp/core";
import { cutText } from "../text/cut-text.ts";
import type { RejectedName } from "./client-event.ts";
import type { ClientTypeState } from "./client-type-state.ts";
import { commitAside } from "./commit-aside.ts";
import type { Intake } from "./intake.ts";
import { noteError, noteGone, noteHeld, noteRejected, noteWhole } from "./note-want.ts";
import type { ReceivedResponse } from "./received.ts";
import { rejectionText } from "./rejection-text.ts";
import type { Answer } from "./variant.ts";
import type { Want } from "./want.ts";

/** A response has been taken in, or all of it that is good: notes what that means for what is wanted, and the answer. */
export function conclude(
  state: ClientTypeState,
  response: ReceivedResponse,
  intake: Intake,
  rejections: readonly Rejection[],
): void {
  const { host } = state;
  const rejected = [...intake.rejected, ...rejections];
  noteWants(state, response, intake, rejected);
  state.expires ||= intake.put.some(({ resource }) => resource.expireMs !== undefined);
  host.count("validResources", intake.put.length - rejections.length);
  const { ignored } = intake.skipped;
  host.count("ignored", ignored);
  host.count("invalidResources", intake.skipped.rejected);
  if (ignored > 0) host.context.emit?.({ kind: "ignored", typeUrl: state.typeUrl, names: ignored });
  if (rejected.length > 0)
    reject(state, response, rejected, rejectionText(rejected, host.context.limits.errorText), {
      taken: intake.put.length - rejections.length,
      unnamed: intake.skipped.rejected,
    });
  else accept(state, response, intake);
}

/** A NACK (C-ACK-3, C-ACK-4): the version stays that of the last accepted response. Without names the response as a whole was rejected. */
export function reject(
  state: ClientTypeState,
  response: ReceivedResponse,
  names: readonly RejectedName[],
  why: string,
  beside?: { readonly taken: number; readonly unnamed: number },
): void {
  const { host } = state;
  const { typeUrl, nonce, version, resources } = response;
  const reason = cutText(why, host.context.limits.errorText);
  host.count("rejected", 1);
  host.count("invalidResources", names.length);
  answer(state, { nonce, version: state.version, error: reason });
  state.pace.rejected(fingerprint(response, names, reason));
  host.context.emit?.({
    kind: "rejected",
    typeUrl,
    nonce,
    version,
    resources: resources.length,
    names,
    ...beside,
    reason,
  });
}

/** Equal where a server repeats itself (C-ACK-20); cut, since it is kept. */
function fingerprint(
  { version, resources }: ReceivedResponse,
  names: readonly RejectedName[],
  reason: string,
): string {
  const bad = new Set(names.map(({ name }) => name));
  return JSON.stringify([
    reason,
    version,
    ...resources.flatMap((resource) => (bad.has(resource.name) ? [resource.version] : [])),
  ]).slice(0, 10_000);
}

function accept(
  state: ClientTypeState,
  { typeUrl, nonce, version }: ReceivedResponse,
  { put, remove }: Intake,
): void {
  state.version = version;
  answer(state, { nonce, version });
  state.pace.forget();
  state.host.context.emit?.({
    kind: "accepted",
    typeUrl,
    nonce,
    version,
    resources: put.length,
    removed: remove.length,
  });
}

/** One for each response (C-ACK-1). Of a server that sends and does not read, the oldest ACKs are left out: a newer one says as much. */
function answer(
  {
    answers,
    host: {
      context: { limits },
    },
  }: ClientTypeState,
  next: Answer,
): void {
  answers.push(next);
  if (answers.length <= limits.waitingAnswers) return;
  const oldest = answers.findIndex(({ error }) => error === undefined);
  answers.splice(Math.max(0, oldest), 1);
}

function noteWants(
  state: ClientTypeState,
  response: ReceivedResponse,
  intake: Intake,
  rejected: readonly RejectedName[],
): void {
  const now = state.host.context.clock.wallTime();
  const bad = new Set(rejected.map(({ name }) => nameKey(name)));
  for (const want of intake.answered) if (want.kind === "name") want.awaited = false;
  for (const want of [...intake.complete, ...intake.settled]) noteWhole(state, want, bad);
  for (const { key, wants } of intake.putFor)
    if (!bad.has(key)) for (const want of wants) noteCame(state, want, key, now);
  for (const { key, wants } of intake.removeFor)
    for (const want of wants) noteGone(state, want, key);
  for (const [want, error] of intake.errors) noteEnd(state, want, error);
  for (const want of intake.lost) if (state.wants.has(want)) askAgain(state, want);
  if (rejected.length > 0) noteRejections(state, response, rejected);
}

function noteCame(state: ClientTypeState, want: Want, key: string, now: number): void {
  if (want.kind === "name" && want.key !== key) state.wants.link(want, key);
  // Of a collection that had an error as a whole, it is the beginning.
  if (want.kind !== "name" && want.error !== undefined && want.rejected === undefined)
    want.awaited = true;
  noteHeld(state, want, key, now);
}

/** An error stops the timer (C-ERR-4), and nothing is concluded by silence either. */
function noteEnd(state: ClientTypeState, want: Want, error: XdsError): void {
  want.awaited = false;
  want.came = undefined;
  noteError(state, want, error);
}

function askAgain({ subscriptions, unasked }: ClientTypeState, want: Want): void {
  subscriptions.again(want);
  unasked.add(want);
}

function noteRejections(
  state: ClientTypeState,
  { resources, version }: ReceivedResponse,
  rejected: readonly RejectedName[],
): void {
  const {
    wants,
    typeUrl,
    host: { context, sink },
  } = state;
  const received = new Map(resources.map((resource) => [resource.name, resource]));
  for (const name of rejected) {
    const key = nameKey(name.name);
    const came = received.get(name.name);
    const given = came?.version ?? "";
    for (const want of wants.covering(key, came?.aliases))
      noteRejected(state, want, key, name, given === "" ? version : given);
  }
  if (context.dropRejected)
    commitAside(sink, {
      remove: [
        ...new Map(
          rejected.map(({ name, error }) => [nameKey(name), { typeUrl, name, error }]),
        ).values(),
      ],
    });
}
