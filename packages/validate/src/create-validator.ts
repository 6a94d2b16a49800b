import type { DescMessage, Message, MessageShape, Registry } from "@bufbuild/protobuf";
import { createImportSearch, loadBufRules } from "./buf-rules.ts";
import { createPlans } from "./message-plan.ts";
import { createRuleReader } from "./rule-settings.ts";
import type { Violation } from "./violation.ts";
import type { Root, Walk } from "./walk-message.ts";
import { walkMessage } from "./walk-message.ts";

/** Checks messages against the rules of their types. */
export interface Validator {
  /**
   * Returns the rules that the message, and all that is in it, does not keep; an empty list says that it is valid.
   *
   * The rules are those of the type of this name in the registry, and of the schema itself where the registry does not have it. What a `google.protobuf.Any` holds is checked if the registry has its type.
   *
   * Whatever a message has in it, this does not throw. It throws an Error for a schema with `buf.validate` rules, where the registry has no type with such rules.
   */
  check<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): readonly Violation[];
}

/**
 * Makes a {@link Validator} of the types of a registry: `envoyRegistry()`, or `registryWith(...)` for types of your own as well.
 *
 * The rules of a type are read when the first message of it is checked. protovalidate is loaded only if a type has `buf.validate` rules.
 */
export async function createValidator(options: {
  readonly registry: Registry;
}): Promise<Validator> {
  const { registry } = options;
  const bufRules = await loadBufRules(registry);
  const needsBufRules = createImportSearch("buf/validate/validate.proto");
  const plan = createPlans(createRuleReader(registry));
  return {
    check(schema: DescMessage, message: Message) {
      const desc = registry.getMessage(schema.typeName) ?? schema;
      if (bufRules === undefined && needsBufRules(desc.file))
        throw new Error(
          `${desc.typeName} has buf.validate rules; give its type to the registry of createValidator`,
        );
      const roots: Root[] = [{ desc, message, place: undefined }];
      const walk: Walk = { registry, plan, roots, violations: [] };
      walkMessage(walk, desc, message);
      // protovalidate has no limit of its own for messages within each other.
      const isTooDeep = walk.violations.some(({ rule }) => rule === "nesting");
      if (bufRules === undefined || isTooDeep) return walk.violations;
      return [
        ...walk.violations,
        ...roots
          .filter((root) => bufRules.apply(root.desc))
          .flatMap((root) => bufRules.check(root.desc, root.message, root.place)),
      ];
    },
  };
}
