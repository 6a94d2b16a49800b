import type { ResourceSink } from "../feed.ts";
import type { Interest } from "../resource.ts";
import type { Want } from "./want.ts";

/** Something of it is held, in whichever variant. */
export function isHeld(sink: ResourceSink, typeUrl: string, interest: Interest): boolean {
  for (const _ of sink.held(typeUrl, interest)) return true;
  return false;
}

/** The same of what is wanted, also by an alias (C-ALIAS-3). */
export function isWantHeld(sink: ResourceSink, typeUrl: string, { interest, realName }: Want): boolean {
  return isHeld(sink, typeUrl, interest) || (realName !== undefined && isHeld(sink, typeUrl, { name: realName }));
}
