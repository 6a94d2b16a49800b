import { XdsError } from "@xdstp/core";
import { type Authorize, type ChangeablePolicy, createPolicy, type Policy } from "@xdstp/server";
import type { PolicyRule } from "./policy-rules.ts";

/** The rules that are in force, as a server asks for them. */
export interface PolicyBook {
  /** Who fits no rule is rejected, and who shows no certificate too. Of several rules the one that says most about the identity counts. */
  readonly authorize: Authorize;
  /** Puts other rules in force, while streams live: names arrive and go. Streams whose rule has gone or is another one by now end, and may come again. */
  apply(rules: readonly PolicyRule[]): void;
}

interface Held {
  readonly rule: PolicyRule;
  readonly policy: ChangeablePolicy;
}

/** Begins with these rules. */
export function createPolicyBook(first: readonly PolicyRule[]): PolicyBook {
  let held: ReadonlyMap<string, Held> = new Map(
    first.map((rule) => [rule.identity, hold(rule, 0)]),
  );
  let generation = 0;
  return {
    authorize({ identity }) {
      if (identity === undefined) throw new XdsError("UNAUTHENTICATED", "it shows no certificate");
      const best = bestOf(held.values(), identity.uris);
      if (best === undefined)
        throw new XdsError(
          "PERMISSION_DENIED",
          `no rule fits ${identity.uris.join(", ") || "its certificate, which has no URI"}`,
        );
      return best.policy;
    },
    apply(rules) {
      generation += 1;
      const before = held;
      const added = rules.filter(({ identity }) => !before.has(identity));
      held = new Map(
        rules.map((rule) => [
          rule.identity,
          renewed(before.get(rule.identity), rule, added, generation),
        ]),
      );
      for (const [identity, { policy }] of before)
        if (held.get(identity)?.policy !== policy) policy.revoke();
    },
  };
}

/** The same policy with other answers; a new one where clients have to be decided again. */
function renewed(
  before: Held | undefined,
  rule: PolicyRule,
  added: readonly PolicyRule[],
  generation: number,
): Held {
  if (
    before?.rule.forbidden !== rule.forbidden ||
    before.rule.status !== rule.status ||
    added.some(({ identity }) => covers(rule.identity, identity))
  )
    return hold(rule, generation);
  if (JSON.stringify([...before.rule.allow]) !== JSON.stringify([...rule.allow]))
    before.policy.replace(allowsOf(rule));
  return { rule, policy: before.policy };
}

/** A policy that was revoked may still be asked for a while, so its key is not used again. */
function hold(rule: PolicyRule, generation: number): Held {
  return {
    rule,
    policy: createPolicy({
      key: `${generation} ${rule.identity}`,
      allows: allowsOf(rule),
      forbidden: rule.forbidden,
      status: rule.status,
    }),
  };
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
  const fitting = [...held].filter(({ rule }) => uris.some((uri) => fits(rule.identity, uri)));
  return fitting.toSorted((a, b) => weightOf(b.rule) - weightOf(a.rule))[0];
}

/** A whole identity says more than any beginning, a longer beginning more than a shorter one. */
function weightOf({ identity }: PolicyRule): number {
  return identity.endsWith("*") ? identity.length : Number.MAX_SAFE_INTEGER;
}

function covers(wider: string, narrower: string): boolean {
  return wider !== narrower && wider.endsWith("*") && narrower.startsWith(wider.slice(0, -1));
}

function fits(pattern: string, text: string): boolean {
  return pattern.endsWith("*") ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}
