import type { ClientTypeState } from "./client-type-state.ts";
import { isWantHeldByAll } from "./is-held.ts";
import type { Want } from "./want.ts";

/**
 * Nothing has come of it, which may be since the server takes it for known: whether it is asked for again, and nothing concluded yet.
 * @param isOfOther - what is held of it another server has given
 */
export function retries(
  { typeUrl, unasked, subscriptions, host }: ClientTypeState,
  want: Want,
  isOfOther: boolean,
): boolean {
  if (
    (!isOfOther && isWantHeldByAll(host.sink, typeUrl, want)) ||
    subscriptions.retry?.(want) !== true
  )
    return false;
  unasked.add(want);
  host.schedule();
  return true;
}
