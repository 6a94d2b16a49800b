import type { FetchLike } from "@xdstp/transport-http/client";

/** Something that is wrong with every client of a world, put around its `fetch`. */
export type HttpDefect = (fetch: FetchLike) => FetchLike;

type Answer = Awaited<ReturnType<FetchLike>>;

/** Returns a defect that changes answers. */
function changing(change: (answer: Answer, url: string) => Answer): HttpDefect {
  return (fetch) => async (url, init) => change(await fetch(url, init), url);
}

function withHeaders(answer: Answer, change: (name: string) => string | null | undefined): Answer {
  const { headers } = answer;
  return {
    ...answer,
    headers: {
      get: (name) => {
        const changed = change(name);
        return changed === undefined ? headers.get(name) : changed;
      },
    },
  };
}

/** Positions without an order: an answer that is older than one before is taken for a newer one. */
export const forgetOrder = changing((answer) =>
  withHeaders(answer, (name) => (name === "xds-position" ? null : undefined)),
);

/** A failure of the origin counts as the answer that the resource does not exist. */
export const dropOnFailure = changing((answer) =>
  answer.status >= 500 ? { ...answer, status: 404 } : answer,
);

/** The answer that a resource does not exist counts as a failure. */
export const keepRemoved = changing((answer) =>
  answer.status === 404 || answer.status === 410 ? { ...answer, status: 503 } : answer,
);

/** The answer to a long poll counts as one without a change. */
export const loseChanges = changing((answer, url) =>
  url.includes("after=") && answer.status === 200 ? { ...answer, status: 204 } : answer,
);

/** Each poll is sent twice. */
export const pollTwice: HttpDefect = (fetch) => async (url, init) => {
  fetch(url, init).catch(() => undefined);
  return fetch(url, init);
};

/** Each answer counts as a change, which a poll without a pause follows. */
export const pollWithoutPause = changing((answer) =>
  withHeaders(answer, (name) => {
    if (name === "xds-version") return `${answer.headers.get(name) ?? ""}${String(Math.random())}`;
    return undefined;
  }),
);
