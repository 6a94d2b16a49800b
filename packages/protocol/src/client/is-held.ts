import type { Interest, ResourceSink } from "@xdstp/core";
import type { Want } from "./want.ts";

/** Something of it is held, in whichever variant. */
export function isHeld(sink: ResourceSink, typeUrl: string, interest: Interest): boolean {
  for (const _ of sink.held(typeUrl, interest)) return true;
  return false;
}

/** The same of what is wanted, also by an alias (C-ALIAS-3). */
export function isWantHeld(
  sink: ResourceSink,
  typeUrl: string,
  { interest, realName }: Want,
): boolean {
  return (
    isHeld(sink, typeUrl, interest) ||
    (realName !== undefined && isHeld(sink, typeUrl, { name: realName }))
  );
}

/** The same, where each of those that share the sink has it ({@link Held.lacking}): time counts for who has not. */
export function isWantHeldByAll(
  sink: ResourceSink,
  typeUrl: string,
  { interest, realName }: Want,
): boolean {
  return (
    isHeldByAll(sink, typeUrl, interest) ||
    (realName !== undefined && isHeldByAll(sink, typeUrl, { name: realName }))
  );
}

function isHeldByAll(sink: ResourceSink, typeUrl: string, interest: Interest): boolean {
  for (const { lacking } of sink.held(typeUrl, interest)) if (lacking !== true) return true;
  return false;
}

/** What only another server has given, in the place of this one ({@link Held.standIn}): whether that stands in still. undefined: nothing is held, or something that is not of that kind. */
export function standInOf(
  sink: ResourceSink,
  typeUrl: string,
  { interest, realName }: Want,
): boolean | undefined {
  let found: boolean | undefined;
  for (const name of realName === undefined ? [interest] : [interest, { name: realName }])
    for (const { standIn } of sink.held(typeUrl, name)) {
      if (standIn === undefined) return undefined;
      found = standIn || found === true;
    }
  return found;
}
