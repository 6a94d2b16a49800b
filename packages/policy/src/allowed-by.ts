import { nameKey } from "@xdstp/uri";
import type { Policy } from "./policy.ts";

/** Asks a policy for a name in any spelling. Only `true` allows. An error is reported, and forbids like every other result, a promise for instance. */
export function allowedBy(
  policy: Policy,
  typeUrl: string,
  name: string,
  onFault: (error: unknown) => void,
): boolean {
  try {
    return (policy.allows(typeUrl, nameKey(name)) as unknown) === true;
  } catch (error) {
    onFault(error);
    return false;
  }
}
