import { expect } from "vitest";

/** `expect(actual, where).toBe(expected)` for tests that compare millions of times: `expect` itself, which takes microseconds, is called only where they differ. */
export function expectSame<T>(actual: T, expected: T, where?: () => string): void {
  if (!Object.is(actual, expected)) expect(actual, where?.()).toBe(expected);
}

/** `expect(actual, where).toEqual(expected)` of arrays of texts and numbers, as {@link expectSame}. */
export function expectSameItems<T extends string | number | undefined>(
  actual: readonly T[],
  expected: readonly T[],
  where?: () => string,
): void {
  const isSame =
    actual.length === expected.length &&
    actual.every((item, index) => Object.is(item, expected[index]));
  if (!isSame) expect(actual, where?.()).toEqual(expected);
}
