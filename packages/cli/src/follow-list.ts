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

/** Reports the changes of a list: its members in their order, and each change of a member. Resolves when the watch is closed. */
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
    // A gRPC client keeps using a list that is removed (C-GRPC-9). The removal is reported, since people want to see it.
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

/** Returns the key of a member. A member without a name is identified by its version. */
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

/** The options of {@link followName}. */
export interface FollowNameOptions {
  readonly asking: AskClient;
  /** The message types that are checked. Absent: those of the Envoy API. */
  readonly registry?: Registry;
  /** Every resource is rejected with this text. Absent: every resource that can be decoded is accepted. */
  readonly nack?: string | undefined;
  readonly tell: (event: WatchEvent) => void;
}

/** The functions and the name that the followers of this module use to report changes. */
export interface Telling extends Pick<FollowNameOptions, "asking" | "tell"> {
  readonly asked: AskedName;
  /** Reports where names lead to now, if that has changed. */
  readonly tellWay: WayTeller;
}
