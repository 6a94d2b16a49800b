import type { ResourceSink } from "../feed.ts";
import type { Interest } from "../resource.ts";

/** Something of it is held, in whichever variant. */
export function isHeld(sink: ResourceSink, typeUrl: string, interest: Interest): boolean {
  for (const _ of sink.held(typeUrl, interest)) return true;
  return false;
}
