import type { Policy } from "./policy.ts";

/** A policy whose answers can be replaced while streams live. */
export interface ChangeablePolicy extends Policy {
  /** From now on these are the answers: what is forbidden by them is removed at the clients, what is allowed arrives. */
  replace(allows: Policy["allows"]): void;
  /** Ends all streams that were opened with this object, and opens no more. */
  revoke(): void;
}

/** Makes a policy that can be replaced and revoked. Give the same object to all streams with its key. */
export function createPolicy(
  options: Pick<Policy, "key" | "allows" | "forbidden" | "status">,
): ChangeablePolicy {
  const listeners = new Set<() => void>();
  const revoking = new AbortController();
  let { allows } = options;
  return {
    ...options,
    revoked: revoking.signal,
    allows: (typeUrl, name) => allows(typeUrl, name),
    watch(onChange) {
      const listener = (): void => {
        onChange();
      };
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    replace(next) {
      allows = next;
      for (const listener of listeners) listener();
    },
    revoke() {
      revoking.abort();
    },
  };
}
