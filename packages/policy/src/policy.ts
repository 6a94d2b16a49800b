/** Decides which resources a client may see. The option `authorize` of a server returns one for each stream. */
export interface Policy {
  /**
   * The key of the policy. Equal keys mean equal rights: their streams share one filtered view and
   * its bytes, and the first policy with a key decides for all of them. So the key has to contain
   * everything that the answers depend on, such as a role or a tenant.
   */
  readonly key: string;
  /**
   * Returns whether a client may see a resource. It is called for each subscribed name, and for
   * each member of a glob and of `*` (S-LIM-8). A forbidden name is answered as one that does not
   * exist.
   * Names inside a payload are not checked. A client that may see a route sees its virtual hosts,
   * and one that may see a list sees its inline entries, whatever their names. If the members of a
   * list have rights of their own, the list has to refer to them by locators.
   * It has to return the same until `watch` reports a change. Only `true` allows; if it throws, the
   * name is forbidden.
   * @param name - The name in canonical spelling (N-40). An alias is checked as a name of its own,
   * and so is the name of its resource
   */
  allows(typeUrl: string, name: string): boolean;
  /**
   * Returns the name of the rule that decides, for people who want to know why a client does not
   * have a resource. Absent: the policy has no rule with a name.
   */
  rule?(): string;
  /**
   * Calls back when answers of `allows` may have changed; returns a function that ends that. Each
   * call costs a check of all names that are subscribed under this key. Absent: the answers never
   * change.
   */
  watch?(onChange: () => void): () => void;
  /**
   * Aborts when the client loses every right: its streams then end with PERMISSION_DENIED. Each
   * policy has a signal of its own, even if keys are equal. Absent: the policy is never revoked.
   */
  readonly revoked?: AbortSignal;
  /**
   * The answer to a forbidden name: as missing, or as missing with the error PERMISSION_DENIED.
   * Neither tells whether the name exists. Default: `missing`.
   */
  readonly forbidden?: "missing" | "denied";
  /**
   * The clients that client status shows to a caller with this policy. `own`: clients with an equal
   * policy, and the names that it allows. `all`: every client of the same source, with every name;
   * for operators only. Default: `own`.
   */
  readonly status?: "own" | "all";
}

/** A policy whose answers can be replaced while streams are open. */
export interface ChangeablePolicy extends Policy {
  /**
   * Replaces the answers: names that are forbidden now are removed from the clients, and names that
   * are allowed now are sent.
   */
  replace(allows: Policy["allows"]): void;
  /** Ends all streams that were opened with this object; no further ones can be opened with it. */
  revoke(): void;
}

/**
 * Creates a policy that can be replaced and revoked. Return the same object for all streams with
 * its key.
 */
export function createPolicy(
  options: Pick<Policy, "key" | "allows" | "forbidden" | "status" | "rule">,
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
