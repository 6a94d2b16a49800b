import { type PeerIdentity, XdsError } from "@xdstp/core";
import { type ChangeablePolicy, createPolicy, type Policy } from "../policy.ts";
import { type AddressRange, addressRange } from "./patterns.ts";
import { type PolicyRule, subjectOf } from "./parse-policy.ts";

/** The policies of the rules that are in force. */
export interface RulePolicies {
  /**
   * Returns the policy of a client, by its verified identity and its address: the option
   * `authorize` of a server. If several rules match the identity, the most specific one counts; if
   * none matches by identity, the rule with the smallest range of addresses counts.
   * Throws an XdsError if no rule matches: UNAUTHENTICATED for a client without a certificate if
   * all rules are by identity, else PERMISSION_DENIED.
   */
  readonly authorize: (peer: {
    readonly address: string;
    readonly identity?: PeerIdentity;
  }) => Policy;
  /**
   * Replaces the rules while streams are open: names that are allowed now are sent, and names that
   * are forbidden now are removed. A stream ends, and may connect again, if its rule was removed,
   * if `forbidden` or `status` of its rule has changed, or if a new rule may match its client.
   */
  apply(rules: readonly PolicyRule[]): void;
}

interface Held {
  readonly rule: PolicyRule;
  readonly policy: ChangeablePolicy;
  /** The address range of a rule by address. */
  readonly range: AddressRange | undefined;
}

/**
 * Creates the policies of rules that {@link parsePolicy} has read. All clients of a rule share one
 * policy.
 */
export function createRulePolicies(first: readonly PolicyRule[]): RulePolicies {
  const nameOf = (rule: PolicyRule): string => ruleName(held.get(subjectOf(rule))?.rule ?? rule);
  let held: ReadonlyMap<string, Held> = new Map(
    first.map((rule) => [subjectOf(rule), hold(rule, 0, nameOf)]),
  );
  let generation = 0;
  return {
    authorize({ identity, address }) {
      const best =
        bestOf(held.values(), identity?.uris ?? []) ?? bestInRange(held.values(), address);
      if (best !== undefined) return best.policy;
      const isByAddress = held.values().some(({ range }) => range !== undefined);
      if (identity === undefined && !isByAddress)
        throw new XdsError("UNAUTHENTICATED", "it shows no certificate");
      const subjects = [
        ...(identity === undefined
          ? []
          : [identity.uris.join(", ") || "its certificate, which has no URI"]),
        ...(isByAddress ? ["its address"] : []),
      ];
      throw new XdsError("PERMISSION_DENIED", `no rule fits ${subjects.join(" or ")}`);
    },
    apply(rules) {
      generation += 1;
      const before = held;
      const added = rules.filter((rule) => !before.has(subjectOf(rule)));
      held = new Map(
        rules.map((rule) => [
          subjectOf(rule),
          renewed(before.get(subjectOf(rule)), rule, added, (one) => hold(one, generation, nameOf)),
        ]),
      );
      for (const [subject, { policy }] of before)
        if (held.get(subject)?.policy !== policy) policy.revoke();
    },
  };
}

/**
 * Returns the policy of a rule after a change: the earlier one with new answers, or a new one if
 * its clients have to be authorized again.
 */
function renewed(
  before: Held | undefined,
  rule: PolicyRule,
  added: readonly PolicyRule[],
  holdNew: (rule: PolicyRule) => Held,
): Held {
  if (
    before?.rule.forbidden !== rule.forbidden ||
    before.rule.status !== rule.status ||
    added.some((one) => covers(rule, one))
  )
    return holdNew(rule);
  if (JSON.stringify([...before.rule.allow]) !== JSON.stringify([...rule.allow]))
    before.policy.replace(allowsOf(rule));
  return { ...before, rule };
}

/**
 * Creates the policy of a rule. A revoked policy may still be used for a while, so its key is not
 * used again.
 */
function hold(rule: PolicyRule, generation: number, nameOf: (rule: PolicyRule) => string): Held {
  return {
    rule,
    range: rule.address === undefined ? undefined : addressRange(rule.address),
    policy: createPolicy({
      key: `${generation} ${subjectOf(rule)}`,
      allows: allowsOf(rule),
      forbidden: rule.forbidden,
      status: rule.status,
      rule: () => nameOf(rule),
    }),
  };
}

/**
 * Returns the name of a rule for people, such as `the rule for spiffe://shop/* (policy.yaml:12)`.
 */
function ruleName(rule: PolicyRule): string {
  const place = rule.place === undefined ? "" : ` (${rule.place})`;
  return `the rule for ${subjectOf(rule)}${place}`;
}

function allowsOf({ allow }: PolicyRule): Policy["allows"] {
  const everywhere = allow.get("*") ?? [];
  const byType = new Map(
    [...allow].map(([typeUrl, patterns]) => [typeUrl, [...patterns, ...everywhere]]),
  );
  return (typeUrl, name) =>
    (byType.get(typeUrl) ?? everywhere).some((pattern) => fits(pattern, name));
}

function bestOf(held: Iterable<Held>, uris: readonly string[]): Held | undefined {
  const fitting = [...held].filter(
    ({ rule: { identity } }) => identity !== undefined && uris.some((uri) => fits(identity, uri)),
  );
  return fitting.toSorted((a, b) => weightOf(b.rule) - weightOf(a.rule))[0];
}

function bestInRange(held: Iterable<Held>, address: string): Held | undefined {
  const fitting = [...held].filter(({ range }) => range?.has(address) === true);
  return fitting.toSorted((a, b) => (b.range?.bits ?? 0) - (a.range?.bits ?? 0))[0];
}

/**
 * Returns how specific a rule is: a whole identity is more specific than any beginning, and a
 * longer beginning is more specific than a shorter one.
 */
function weightOf({ identity = "" }: PolicyRule): number {
  return identity.endsWith("*") ? identity.length : Number.MAX_SAFE_INTEGER;
}

/**
 * Returns true if clients of the rule `wider` may match a new rule now. Any new rule may match the
 * clients of a range of addresses.
 */
function covers({ identity: wider }: PolicyRule, { identity: narrower }: PolicyRule): boolean {
  if (wider === undefined) return true;
  return (
    narrower !== undefined &&
    wider !== narrower &&
    wider.endsWith("*") &&
    narrower.startsWith(wider.slice(0, -1))
  );
}

function fits(pattern: string, text: string): boolean {
  return pattern.endsWith("*") ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}
