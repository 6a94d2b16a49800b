/** Decides which resources a client may see. The option `authorize` of a server returns one for each stream. */
export interface Policy {
  /**
   * Equal keys mean equal rights: their streams share one filtered view and its bytes, and the first policy that came with a key decides for all of them.
   * So the key holds everything that the answers depend on: a role, a tenant.
   */
  readonly key: string;
  /**
   * Whether a resource may be seen; asked for each name that is subscribed, and for each member of a glob and of `*` (S-LIM-8). A name that may not be seen is
   * answered as one that does not exist. Names inside a payload are not checked: a client that may see a route sees its virtual hosts, and one that may see a list its inline
   * entries, whatever their names; a list whose members have rights of their own names them by locators. It has to give the same answer until `watch` tells of a change. Only `true` allows; what throws forbids.
   * @param name - In canonical spelling (N-40); an alias is checked by itself, and its resource under its own name
   */
  allows(typeUrl: string, name: string): boolean;
  /** Names the rule that decides, for people who ask why a client does not have a resource. Absent: the policy has no rule with a name. */
  rule?(): string;
  /** Says that answers of `allows` may have changed; returns a function that ends it. Absent: they never change. Costs one look at all that is subscribed under this key. */
  watch?(onChange: () => void): () => void;
  /** Aborted: the client has lost every right, and its streams end with PERMISSION_DENIED. Each policy has its own, also where keys are equal. */
  readonly revoked?: AbortSignal;
  /** How a forbidden name is answered: as missing, or as missing with the error PERMISSION_DENIED. Neither tells whether it exists. Default: `missing`. */
  readonly forbidden?: "missing" | "denied";
  /**
   * Which clients a caller with this policy is shown by client status: those with an equal policy and the names that it allows (`own`), or every client of the same source with every name (`all`).
   * Give `all` to operators only. Default: `own`.
   */
  readonly status?: "own" | "all";
}

/** A policy whose answers can be replaced while streams live. */
export interface ChangeablePolicy extends Policy {
  /** From now on these are the answers: what is forbidden by them is removed at the clients, what is allowed arrives. */
  replace(allows: Policy["allows"]): void;
  /** Ends all streams that were opened with this object, and opens no more. */
  revoke(): void;
}

/** Makes a policy that can be replaced and revoked. Give the same object to all streams with its key. */
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
