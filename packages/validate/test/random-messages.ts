import type { DescMessage, Message, Registry } from "@bufbuild/protobuf";
import { planOf } from "../src/message-plan.ts";
import type { RuleReader } from "../src/rule-settings.ts";
import { createRuleReader } from "../src/rule-settings.ts";
import { createRandom, randomMessage } from "./random-message.ts";
import { createRuleTally, type RuleTally } from "./rule-tally.ts";

/** A message with its type. */
export interface TypedMessage {
  readonly desc: DescMessage;
  readonly message: Message;
}

/** Random messages of all types of a registry. The same seed gives the same messages. */
export interface RandomMessages {
  /** All types, except those of Google and those of options. */
  readonly types: readonly DescMessage[];
  /**
   * Returns the next messages. Half of them are of types with rules. A third of them is meant to
   * violate no rule, a third to violate some, and a third to violate many.
   */
  take(count: number): readonly TypedMessage[];
  readonly reader: RuleReader;
  /** The number of violated and satisfied rules. */
  readonly tally: RuleTally;
}

/** Creates random messages. */
export function createRandomMessages(registry: Registry, seed: number): RandomMessages {
  const reader = createRuleReader(registry);
  const random = createRandom(seed);
  const types = [...registry]
    .filter((type) => type.kind === "message")
    .filter(({ typeName }) => !/^(?:google\.protobuf|validate)\./u.test(typeName));
  const ruled = types.filter((type) => hasRules(type, reader));
  let made = 0;
  const next = (): TypedMessage => {
    const list = made % 2 === 0 ? types : ruled;
    const desc = list[Math.floor(made / 2) % list.length];
    if (desc === undefined) throw new Error("the registry has no types with rules");
    const badness = [0, 0.12, 0.5][made % 3] ?? 0;
    made++;
    return { desc, message: randomMessage({ random, reader, badness }, desc) };
  };
  return {
    types,
    take: (count) => Array.from({ length: count }, next),
    reader,
    tally: createRuleTally(reader),
  };
}

/** Returns true if messages of the type can violate a rule by themselves. */
function hasRules(desc: DescMessage, reader: RuleReader): boolean {
  const { fields, oneofs } = planOf(desc, reader);
  return (
    oneofs.length > 0 ||
    fields.some(
      ({ isRequired, isUnique, check, keys, item }) =>
        isRequired || isUnique || [check, keys, item.check].some((part) => part !== undefined),
    )
  );
}
