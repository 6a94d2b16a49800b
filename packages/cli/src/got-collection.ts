import type { ListMember } from "@xdstp/client";
import { XdsError } from "@xdstp/core";
import { CliError, errorText } from "./cli-error.ts";
import { ownTypeUrl } from "./asked-name.ts";
import { type Way, whyNothing } from "./why-nothing.ts";
import type { LackingMember, ShownResource } from "./show-resources.ts";
import type { ShownHop } from "./shown-hop.ts";

/** The resources that a request has returned. */
export interface Got {
  readonly resources: readonly (ShownResource | LackingMember)[];
  /** true: these are all members. */
  readonly complete: boolean;
  /** The reason why the resources may be out of date or incomplete. Absent: none is known. */
  readonly problem?: string;
  /** The redirects and alternatives to the list. Absent: the name leads nowhere else. */
  readonly hops?: readonly ShownHop[];
}

/** Returns the members of a glob or of a type. At the end of the time limit, these are the members that have arrived. Throws an XdsError if none has arrived. */
export async function gotCollection(way: Way): Promise<Got> {
  const {
    asking,
    type,
    options: { asked, maxMembers },
    facts,
    signal,
  } = way;
  const { name, typeUrl } = asked;
  const watch = asking.client.watchAll(type, name, {
    ...asking.nameOptions(typeUrl),
    validate: facts.note,
    signal,
  });
  const resources = (): readonly ShownResource[] => {
    const hops = asking.hops(typeUrl);
    return Array.from(watch.members.values(), ({ name: own, version, value }) => ({
      name: own,
      version,
      payload: { typeUrl: facts.of(own)?.payloadUrl ?? typeUrl, value },
      facts: facts.of(own),
      hops: hops(own),
    }));
  };
  try {
    for await (const { complete, error } of watch) {
      if (watch.members.size > maxMembers)
        throw new CliError(
          1,
          `${JSON.stringify(asked.name)} has more than ${maxMembers} members; ask for a part of it, or allow more with --max-members`,
        );
      if (
        error !== undefined &&
        (error.code !== "INVALID_ARGUMENT" || asking.isUnanswered(asked)) &&
        watch.members.size === 0
      )
        throw whyNothing(way, watch.name, error);
      if (complete) return { resources: resources(), complete, ...problemOf(error) };
    }
  } catch (error) {
    if (error instanceof CliError || !signal.aborted || watch.members.size === 0) throw error;
    return { resources: resources(), complete: false };
  }
  throw new XdsError("CANCELLED", "the client was closed");
}

/** Returns the error of a collection as text. A rejection is reported with the name of the member. */
function problemOf(error: XdsError | undefined): Pick<Got, "problem"> {
  return error === undefined || error.context.reason === "rejected"
    ? {}
    : { problem: errorText(error) };
}

/** Returns the members of a list in its order, also members without a resource. At the end of the time limit, these are the members that are known. Throws an XdsError if the list does not exist. */
export async function gotList(way: Way): Promise<Got> {
  const {
    asking,
    type,
    options: { asked },
    signal,
  } = way;
  const { name, typeUrl } = asked;
  const watch = asking.client.watchList(type, name, { ...asking.nameOptions(typeUrl), signal });
  const resources = (): Got["resources"] => {
    const hops = asking.hops(typeUrl);
    return watch.members.map((member) => shownMember(member, typeUrl, hops(member.name)));
  };
  const got = (complete: boolean): Got => ({
    resources: resources(),
    complete,
    hops: asking.hops(ownTypeUrl(asked))(watch.name),
  });
  let held = false;
  try {
    for await (const { complete, exists, error } of watch) {
      held = exists;
      if (!exists && error !== undefined) throw whyNothing(way, watch.name, error);
      if (complete) return got(complete);
    }
  } catch (error) {
    if (!signal.aborted || !held) throw error;
    return got(false);
  }
  throw new XdsError("CANCELLED", "the client was closed");
}

function shownMember(
  { name, state, version, value, error }: ListMember<Uint8Array>,
  typeUrl: string,
  hops: readonly ShownHop[],
): ShownResource | LackingMember {
  if (value !== undefined) return { name, version, payload: { typeUrl, value }, hops };
  return {
    name,
    state: state === "held" ? "failed" : state,
    reason: errorText(error),
    hops,
  };
}
