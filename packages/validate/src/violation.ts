/** A step of the path from a message to a value in it. */
export type PathStep =
  | {
      readonly kind: "field";
      /** The name of the field in the `.proto` file, such as `load_assignment`. */
      readonly name: string;
      /**
       * The name of the field in JSON, such as `loadAssignment`. JSON and YAML may use either name.
       */
      readonly jsonName: string;
    }
  | { readonly kind: "index"; readonly index: number }
  /** A key of a map, as JSON spells it. */
  | { readonly kind: "key"; readonly key: string }
  /**
   * A oneof of which no field is set. It is the last step of a path. In JSON, its place is the
   * object around it.
   */
  | { readonly kind: "oneof"; readonly name: string };

/** A rule that a message violates. */
export interface Violation {
  /**
   * The path to the value, from the message that was checked. Empty if the rule applies to this
   * message as a whole.
   *
   * The content of a `google.protobuf.Any` follows without a step of its own, as in JSON.
   */
  readonly path: readonly PathStep[];
  /** The path as text: `load_assignment.endpoints[0].metadata.filter_metadata["envoy.lb"]`. */
  readonly field: string;
  /**
   * The id of the rule, such as `uint32.lte`, `string.min_len` or `required`. For a rule in CEL,
   * the id that its author gave it.
   */
  readonly rule: string;
  /**
   * The requirement on the value, as the predicate of a sentence: `must be at most 65535`. For
   * rules of the Envoy API it never contains the value, which may be a secret. For a rule in CEL it
   * is the text that its author wrote.
   */
  readonly message: string;
}

/**
 * The path to a value, with the last step first. Each step is one object, so that no path is built
 * until a rule is violated.
 */
export interface Place {
  readonly above: Place | undefined;
  readonly step: PathStep;
}

/** Returns a violation at a place. `undefined` is the message that was checked. */
export function violationAt(place: Place | undefined, rule: string, message: string): Violation {
  const path: PathStep[] = [];
  for (let at = place; at !== undefined; at = at.above) path.push(at.step);
  path.reverse();
  return { path, field: path.map(textOf).join("").replace(/^\./u, ""), rule, message };
}

function textOf(step: PathStep): string {
  switch (step.kind) {
    case "field":
    case "oneof":
      return `.${step.name}`;
    case "index":
      return `[${step.index}]`;
    case "key":
      return `[${JSON.stringify(step.key)}]`;
  }
}
