import type { ListChange, ListMember, Watch } from "@xdstp/client";
import type { Registry } from "@bufbuild/protobuf";
import { errorText } from "./cli-error.ts";
import { type AskedName, ownTypeUrl } from "./asked-name.ts";
import {
  createWayTeller,
  type HeldResource,
  type WatchEvent,
  type WayTeller,
} from "./watch-event.ts";
import type { AskClient } from "./ask-client.ts";

/** Tells of a list: its order whenever that changes, and of each member what becomes of it. Settles when the watch is closed. */
export async function followList(
  watch: Watch<ListChange<Uint8Array>>,
  telling: Telling,
): Promise<void> {
  const { asked, asking, tell, tellWay } = telling;
  const { name } = asked;
  const held = new Map<string, HeldResource>();
  const tellOwnWay = createWayTeller(asking, ownTypeUrl(asked), tell);
  let [told, failure, wasComplete] = ["", "", false];
  for await (const {
    members,
    added,
    updated,
    removed,
    exists,
    version,
    complete,
    error,
  } of watch) {
    const names = members.map((member) => member.name);
    tellOwnWay([[name, watch.name]]);
    // gRPC goes on with a list that is removed (C-GRPC-9); people want to see that it was removed.
    const isMissing = error?.code === "NOT_FOUND";
    const now = isMissing ? "missing" : exists ? JSON.stringify([version, names]) : told;
    if (now !== told)
      tell(
        isMissing
          ? { kind: "missing", name, reason: errorText(error) }
          : { kind: "list", name, version, members: names },
      );
    tellWay([...added, ...updated].map((member) => [member.name, member.name]));
    for (const member of [...added, ...updated]) tellMember(member, held, telling);
    for (const member of removed) tellRemoved(member, held, telling);
    const reason =
      error === undefined ||
      error.code === "NOT_FOUND" ||
      (error.code === "INVALID_ARGUMENT" && !asking.isUnanswered(asked))
        ? ""
        : errorText(error);
    if (reason !== "" && reason !== failure) tell({ kind: "error", name, reason });
    if (complete !== wasComplete)
      tell({ kind: complete ? "complete" : "incomplete", name, members: members.length });
    [told, failure, wasComplete] = [now, reason, complete];
  }
}

/** Those without a name are known by their version. */
function keyOf({ name, version }: ListMember<Uint8Array>): string {
  return name === "" ? `\n${version}` : name;
}

function tellMember(
  member: ListMember<Uint8Array>,
  held: Map<string, HeldResource>,
  { asked: { typeUrl }, tell }: Telling,
): void {
  const { name, version, value, state, error } = member;
  const before = held.get(keyOf(member));
  if (value !== undefined && error?.code !== "NOT_FOUND") {
    const now = { version, payload: { typeUrl, value } };
    held.set(keyOf(member), now);
    if (before === undefined) tell({ kind: "state", name, now, isListed: false });
    else if (before.version !== version || Buffer.compare(before.payload.value, value) !== 0)
      tell({ kind: "changed", name, before, now });
    return;
  }
  if (state === "pending") return;
  if (before !== undefined) tellRemoved(member, held, { tell });
  const reason = errorText(error);
  if (before === undefined || state === "failed")
    tell({ kind: state === "failed" ? "error" : "missing", name, reason });
}

function tellRemoved(
  member: ListMember<Uint8Array>,
  held: Map<string, HeldResource>,
  { tell }: Pick<Telling, "tell">,
): void {
  const before = held.get(keyOf(member));
  held.delete(keyOf(member));
  if (before !== undefined) tell({ kind: "removed", name: member.name, before });
}

/** What {@link followName} needs. */
export interface FollowNameOptions {
  readonly asking: AskClient;
  /** What can be checked. Absent: Envoy's API. */
  readonly registry?: Registry;
  /** Everything is rejected with this text. Absent: what can be read is taken. */
  readonly nack?: string | undefined;
  readonly tell: (event: WatchEvent) => void;
}

/** What who follows has to tell with. */
export interface Telling extends Pick<FollowNameOptions, "asking" | "tell"> {
  readonly asked: AskedName;
  /** Tells where names lead now, as far as that is new. */
  readonly tellWay: WayTeller;
}
