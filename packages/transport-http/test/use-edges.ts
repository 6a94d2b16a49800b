import type { SeededRandom } from "@xdstp/testing";

import type { FetchLike } from "../src/client/index.ts";
import type { Http, TestRequest } from "./use-http.ts";

/** A network with shared caches in front of a server: each request goes to any of them. */
export interface Edges {
  readonly fetch: FetchLike;
  /** True: requests and answers are lost at times, and all take up to 3 s. */
  isLossy: boolean;
  /** True: the server cannot be reached; the caches can. */
  isDown: boolean;
}

interface Stored {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | null;
  readonly at: number;
}

/** Creates caches that store an answer for its `max-age`, and use it for `stale-if-error` while the server is away (RFC 9111). */
export function useEdges(http: Http, random: SeededRandom, count = 2): Edges {
  const edges = Array.from({ length: count }, () => new Map<string, Stored>());
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      http.clock.after(edgesNow.isLossy ? random.below(3_000) : 1, resolve);
    });
  const lose = (): void => {
    if (edgesNow.isLossy && random.once(6)) throw new TypeError("fetch failed");
  };
  const fromOrigin = async (target: string, request: TestRequest): Promise<Stored> => {
    if (edgesNow.isDown) return { status: 502, headers: {}, body: null, at: http.clock.now() };
    const { status, headers, body } = await http.send(target, request);
    const bytes = body instanceof Uint8Array ? new Uint8Array(body) : null;
    return { status, headers, body: bytes, at: http.clock.now() };
  };
  const edgesNow: Edges = {
    isLossy: false,
    isDown: false,
    async fetch(text, { headers, signal }) {
      const url = new URL(text);
      const edge = random.pick(edges);
      await pause();
      lose();
      const known = edge.get(text);
      const ageMs = known === undefined ? Infinity : http.clock.now() - known.at;
      let answer = known;
      if (known === undefined || ageMs >= 1_000 * directive(known, "max-age")) {
        const target = `${url.pathname}${url.search}`;
        const fresh = await fromOrigin(target, { headers, signal, host: url.host });
        const isError = fresh.status >= 500;
        if (!isError) edge.set(text, fresh);
        const mayBeStale =
          known !== undefined && ageMs < 1_000 * directive(known, "stale-if-error");
        if (!isError || !mayBeStale) answer = fresh;
      }
      await pause();
      lose();
      signal.throwIfAborted();
      if (answer === undefined) throw new Error("no answer");
      const age = String(Math.floor((http.clock.now() - answer.at) / 1_000));
      return new Response(answer.body, {
        status: answer.status,
        headers: { ...answer.headers, age },
      });
    },
  };
  return edgesNow;
}

/** Returns the seconds of a directive of `cache-control`; 0: it has none. */
function directive({ headers }: Stored, name: string): number {
  const [, seconds = "0"] =
    new RegExp(`\\b${name}=(\\d+)`).exec(headers["cache-control"] ?? "") ?? [];
  return Number(seconds);
}
