import { nameKey } from "@xdstp/uri";
import type { Policy } from "./policy.ts";

/** Asks a policy for a name in any spelling. Only `true` allows: what throws is told, and forbids like everything else that it may give, a promise for instance. */
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
