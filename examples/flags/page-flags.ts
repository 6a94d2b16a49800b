import type { User } from "./flag.ts";

/** Returns which features a user has, as a page gets it over OFREP; `@openfeature/ofrep-web-provider` does the same in a page, and follows changes. */
export async function flagsOfPage(
  origin: string,
  { id, groups }: User,
): Promise<ReadonlyMap<string, boolean>> {
  const answer = await fetch(`${origin}/ofrep/v1/evaluate/flags`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ context: { targetingKey: id, groups } }),
  });
  if (!answer.ok) throw new Error(`${origin} answers ${String(answer.status)}`);
  const { flags } = (await answer.json()) as {
    readonly flags: readonly { readonly key: string; readonly value: boolean }[];
  };
  return new Map(flags.map(({ key, value }) => [key, value]));
}
