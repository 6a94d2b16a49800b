/** The part of `fetch` that a follower uses. */
export type FetchLike = (
  url: string,
  init: {
    readonly headers: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
    readonly redirect: "manual" | "follow";
  },
) => Promise<{
  readonly status: number;
  /** `opaqueredirect` in browsers, which do not show where a redirect leads. */
  readonly type?: string;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
}>;
