/** A step on the way from a message to a value in it. */
export type PathStep =
  | {
      readonly kind: "field";
      /** The name in the `.proto` file, as in `load_assignment`. */
      readonly name: string;
      /** The name in JSON, as in `loadAssignment`. JSON and YAML may have either. */
      readonly jsonName: string;
    }
  | { readonly kind: "index"; readonly index: number }
  /** A key of a map, as JSON spells it. */
  | { readonly kind: "key"; readonly key: string }
  /** A oneof, as the last step: none of its fields is set. In JSON its place is the object around it. */
  | { readonly kind: "oneof"; readonly name: string };

/** A rule that a message does not keep. */
export interface Violation {
  /**
   * The way to the value, from the message that was checked. Empty where the rule is of this message as a whole.
   *
   * What a `google.protobuf.Any` holds follows without a step of its own, as in JSON.
   */
  readonly path: readonly PathStep[];
  /** The path as text: `load_assignment.endpoints[0].metadata.filter_metadata["envoy.lb"]`. */
  readonly field: string;
  /** The id of the rule: `uint32.lte`, `string.min_len`, `required`; of a rule in CEL, what its author calls it. */
  readonly rule: string;
  /** What the value has to be, as the predicate of a sentence about it: `must be at most 65535`. Rules of the Envoy API never show the value, which may be a secret; a rule in CEL says what its author wrote. */
  readonly message: string;
}

/** The way down, the last step first; made of one object per step, so that it costs nothing until a rule is violated. */
export interface Place {
  readonly above: Place | undefined;
  readonly step: PathStep;
}

/** A violation at a place; `undefined` is the message that was checked. */
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
