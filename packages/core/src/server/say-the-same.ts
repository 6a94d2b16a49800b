import type { Entry } from "../resource.ts";
import type { XdsError } from "../xds-error.ts";
import { entryKey } from "./entry-key.ts";

/** Whether a client is told of an error, or no more than that there is no resource. */
type IsTold = (error: XdsError) => boolean;

/** Whether these entries tell a client the same as those, in whatever order. Looked at only after a refusal. */
export function sayTheSame(a: readonly Entry[], b: readonly Entry[], isTold: IsTold): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  const said = new Map(a.map((entry) => [keyOf(entry), entry]));
  return b.every((entry) => isSame(said.get(keyOf(entry)), entry, isTold));
}

function keyOf(entry: Entry): string {
  return entryKey(entry, entry.name);
}

/** The encoded form has all in it that is said of a resource; what is wrong with one is said beside it. */
function isSame(a: Entry | undefined, b: Entry, isTold: IsTold): boolean {
  if (a === undefined || a === b) return a !== undefined;
  const [first, second] = [a.error, b.error].map((error) => (error !== undefined && isTold(error) ? error : undefined));
  if (first?.code !== second?.code || toldText(first) !== toldText(second)) return false;
  if (a.resource === undefined || b.resource === undefined) return a.resource === b.resource;
  return Buffer.compare(a.resource.wire, b.resource.wire) === 0;
}

/** What another server said goes on in its words. */
function toldText(error: XdsError | undefined): string | undefined {
  return error?.context.said ?? error?.text;
}
