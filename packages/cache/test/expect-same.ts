import { expect } from "vitest";

/**
 * As `expect(actual, where).toBe(expected)`, for tests with millions of comparisons: `expect`
 * itself, which takes microseconds, is called only if the values differ.
 */
export function expectSame<T>(actual: T, expected: T, where?: () => string): void {
  if (!Object.is(actual, expected)) expect(actual, where?.()).toBe(expected);
}

/**
 * As `expect(actual, where).toEqual(expected)` for arrays of texts and numbers; see {@link
 * expectSame}.
 */
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
