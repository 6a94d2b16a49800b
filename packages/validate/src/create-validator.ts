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
   * Returns the violations of rules in the message and in everything that it contains. An empty
   * list means that the message is valid.
   *
   * The rules are those of the registry's type with the same name, or those of the schema if the
   * registry does not have the type. The content of a `google.protobuf.Any` is checked if the
   * registry has its type.
   *
   * This method does not throw for any content of a message. It throws an Error for a schema with
   * `buf.validate` rules if no type of the registry has such rules.
   */
  check<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): readonly Violation[];
}

/**
 * Creates a {@link Validator} for the types of a registry: `envoyRegistry()`, or
 * `registryWith(...)` if you also have types of your own.
 *
 * The validator reads the rules of a type when it checks the first message of the type. It loads
 * protovalidate only if a type has `buf.validate` rules.
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
      // protovalidate itself does not limit how deep messages may be nested.
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
