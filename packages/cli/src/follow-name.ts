import type { CollectionChange, Member, Snapshot, Watch } from "@xdstp/client";
import type { XdsError } from "@xdstp/core";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { shownType } from "./ask-client.ts";
import { asCliError, errorText } from "./cli-error.ts";
import type { AskedName } from "./asked-name.ts";
import { followList, type FollowNameOptions, type Telling } from "./follow-list.ts";
import { createWayTeller, type HeldResource, type WatchEvent } from "./watch-event.ts";

/** A name that is followed. */
export interface FollowedName {
  close(): void;
  /** Resolves when it is closed. Rejects only after a defect of this program. */
  readonly ended: Promise<void>;
}

/** Watches a name, a glob or a list and reports its changes. Throws a CliError if it cannot be requested. */
export function followName(
  asked: AskedName,
  { asking, registry = envoyRegistry(), nack, tell }: FollowNameOptions,
): FollowedName {
  const type = shownType(asked.typeUrl, registry);
  const options = {
    ...asking.nameOptions(asked.typeUrl),
    ...(nack !== undefined && { validate: () => nack }),
  };
  const { client } = asking;
  const telling: Telling = {
    asked,
    asking,
    tell,
    tellWay: createWayTeller(asking, asked.typeUrl, tell),
  };
  try {
    switch (asked.kind) {
      case "name":
        return followed(client.watch(type, asked.name, options), telling, followOne);
      case "glob":
        return followed(client.watchAll(type, asked.name, options), telling, followAll);
      case "list":
        return followed(client.watchList(type, asked.name, options), telling, followList);
    }
  } catch (error) {
    throw asCliError(error);
  }
}

function followed<Update, W extends Watch<Update>>(
  watch: W,
  telling: Telling,
  follow: (watch: W, telling: Telling) => Promise<void>,
): FollowedName {
  return {
    close: () => {
      watch.close();
    },
    ended: follow(watch, telling),
  };
}

/** Rejects if following a name fails, which is a defect of this program. Never resolves. */
export async function following(followed: readonly FollowedName[]): Promise<never> {
  await Promise.all(followed.map(({ ended }) => ended));
  return new Promise(() => undefined);
}

async function followOne(
  watch: Watch<Snapshot<Uint8Array>>,
  { asked: { name, typeUrl }, tell, tellWay }: Telling,
): Promise<void> {
  let held: HeldResource | undefined;
  for await (const { value, version, error } of watch) {
    // A gRPC client keeps a resource that is removed, and reports the error with it (C-GRPC-9). The removal is reported, since people want to see it.
    const now =
      value === undefined || error?.code === "NOT_FOUND"
        ? undefined
        : { version, payload: { typeUrl, value } };
    tellWay([[name, watch.name]]);
    for (const event of updatesOf(name, held, now, error)) tell(event);
    held = now;
  }
}

function updatesOf(
  name: string,
  before: HeldResource | undefined,
  now: HeldResource | undefined,
  error: XdsError | undefined,
): readonly WatchEvent[] {
  const ambient =
    error === undefined || error.code === "UNAVAILABLE"
      ? []
      : [{ kind: "error", name, reason: errorText(error) } as const];
  if (now !== undefined && before === undefined)
    return [{ kind: "state", name, now, isListed: false }, ...ambient];
  if (now !== undefined && before !== undefined)
    return isSame(before, now) ? ambient : [{ kind: "changed", name, before, now }, ...ambient];
  // While no server is available the client keeps the value, so a missing value means that its TTL has ended.
  if (before !== undefined) return [{ kind: "removed", name, before }];
  return error?.code === "NOT_FOUND"
    ? [{ kind: "missing", name, reason: errorText(error) }]
    : ambient;
}

function isSame(one: HeldResource, other: HeldResource): boolean {
  return (
    one.version === other.version && Buffer.compare(one.payload.value, other.payload.value) === 0
  );
}

/** The number of members that are shown in one turn of the event loop. A server may send a million at once, and signals have to be handled in between. */
const membersPerTurn = 500;

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

async function followAll(
  watch: Watch<CollectionChange<Uint8Array>>,
  { asked, asking, tell, tellWay }: Telling,
): Promise<void> {
  const { name, typeUrl } = asked;
  const members = new Map<string, HeldResource>();
  const held = ({ version, value }: Member<Uint8Array>): HeldResource => ({
    version,
    payload: { typeUrl, value },
  });
  const put = (member: Member<Uint8Array>, isListed: boolean): void => {
    const before = members.get(member.name);
    const now = held(member);
    members.set(member.name, now);
    tell(
      before === undefined
        ? { kind: "state", name: member.name, now, isListed }
        : { kind: "changed", name: member.name, before, now },
    );
  };
  let wasComplete = false;
  let everComplete = false;
  for await (const { added, updated, removed, complete, error } of watch) {
    const present = [...added, ...updated];
    tellWay(present.map((member) => [member.name, member.name]));
    for (const [at, member] of present.entries()) {
      if (at > 0 && at % membersPerTurn === 0) await nextTurn();
      put(member, !everComplete);
    }
    for (const gone of removed) {
      const before = members.get(gone);
      members.delete(gone);
      if (before !== undefined) tell({ kind: "removed", name: gone, before });
    }
    if (complete !== wasComplete)
      tell({ kind: complete ? "complete" : "incomplete", name, members: members.size });
    if (
      error !== undefined &&
      error.code !== "UNAVAILABLE" &&
      (error.code !== "INVALID_ARGUMENT" || asking.isUnanswered(asked))
    )
      tell({ kind: "error", name, reason: errorText(error) });
    wasComplete = complete;
    everComplete ||= complete;
  }
}
