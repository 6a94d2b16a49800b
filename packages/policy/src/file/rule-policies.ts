import { type PeerIdentity, XdsError } from "@xdstp/core";
import { type ChangeablePolicy, createPolicy, type Policy } from "../policy.ts";
import { type AddressRange, addressRange } from "./patterns.ts";
import { type PolicyRule, subjectOf } from "./parse-policy.ts";

/** The rules that are in force. */
export interface RulePolicies {
  /**
   * Returns the policy of a client, by its verified identity and its address and port: the option `authorize` of a server. Of several rules the one that says most about the identity counts, and where none goes by the identity, the one with the smallest range of addresses.
   * Throws an XdsError where no rule matches: UNAUTHENTICATED for a client without a certificate if all rules go by identity, else PERMISSION_DENIED.
   */
  readonly authorize: (peer: {
    readonly address: string;
    readonly identity?: PeerIdentity;
  }) => Policy;
  /** Replaces the rules while streams live: names arrive and are removed. Streams whose rule was removed or changed end, and may connect again. */
  apply(rules: readonly PolicyRule[]): void;
}

interface Held {
  readonly rule: PolicyRule;
  readonly policy: ChangeablePolicy;
  /** Of a rule by address. */
  readonly range: AddressRange | undefined;
}

/** Makes the policies of rules, which {@link parsePolicy} reads. Clients with one rule share one policy. */
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

/** The same policy with other answers; a new one where clients have to be decided again. */
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

/** A policy that was revoked may still be asked for a while, so its key is not used again. */
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

/** `the rule for spiffe://shop/* (policy.yaml:12)`. */
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

/** A whole identity says more than any beginning, a longer beginning more than a shorter one. */
function weightOf({ identity = "" }: PolicyRule): number {
  return identity.endsWith("*") ? identity.length : Number.MAX_SAFE_INTEGER;
}

/** Whether clients of `wider` may be clients of a new rule by now. Every rule that is added may concern the clients of a range. */
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
