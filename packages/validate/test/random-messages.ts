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

/** Random messages of all types of a registry, the same ones for the same seed. */
export interface RandomMessages {
  /** All types but Google's own and those of options. */
  readonly types: readonly DescMessage[];
  /** The next messages. Half of them are of types with rules. A third tries to keep all rules, a third to violate some, a third to violate many. */
  take(count: number): readonly TypedMessage[];
  readonly reader: RuleReader;
  /** A count of the rules that messages violate and keep. */
  readonly tally: RuleTally;
}

/** Makes random messages. */
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

/** Whether messages of the type can violate a rule by themselves. */
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
