import type { TypeHost } from "../src/stream/type-machine.ts";

type Sibling = NonNullable<ReturnType<TypeHost["sibling"]>>;

/** Another type of a stream, of which the client has everything but for what a test says. */
export function siblingWith(more: Partial<Sibling> = {}): Sibling {
  return {
    accepted: 0,
    isBehind: false,
    warm: () => undefined,
    covers: () => true,
    lacks: () => undefined,
    existsSince: () => 0,
    carries: () => false,
    isCold: () => false,
    misses: () => false,
    ...more,
  };
}
