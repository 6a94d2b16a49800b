import type { Call } from "./caller.ts";

/** The shares of calls, as text: `blue 90 %, green 10 %`, and how many failed. */
export function sharesOf(calls: readonly Call[]): string {
  if (calls.length === 0) return "no answer yet";
  const parts = [...Map.groupBy(calls, ({ answer }) => answer ?? "failed")];
  return parts
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([answer, { length }]) => `${answer} ${Math.round((100 * length) / calls.length)} %`)
    .join(", ");
}
