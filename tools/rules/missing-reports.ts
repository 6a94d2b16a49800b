/** What to say where packages have left no test report, and how one is made. undefined: none is missing. */
export function missingReports(missing: readonly string[]): string | undefined {
  if (missing.length === 0) return undefined;
  const one = `pnpm --filter ${missing[0] ?? ""} test`;
  const many = missing.length === 1 ? "" : `, or for one package: ${one}`;
  return `no test report of ${missing.join(", ")}; make ${missing.length === 1 ? `it: ${one}` : `them: npm test${many}`}`;
}
