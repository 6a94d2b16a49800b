import type { ReadRequest } from "./read-message.ts";
import type { Variant } from "./recording.ts";

/** What a request of one type contains, each as a text: `+name` is subscribed, `-name` is unsubscribed, `=nonce` is answered. */
export type FactReader = (request: ReadRequest) => readonly string[];

/** Reads the requests of one type on one stream in their order: what one says depends on those before it. */
export function createFactReader(variant: Variant): FactReader {
  return variant === "delta" ? deltaReader() : sotwReader();
}

function deltaReader(): FactReader {
  let isFirst = true;
  return ({ names, dropped, nonce }) => {
    const wanted = isFirst && names.length === 0 && dropped.length === 0 ? ["*"] : names;
    isFirst = false;
    return [
      ...wanted.map((name) => `+${name}`),
      ...dropped.map((name) => `-${name}`),
      ...answered(nonce),
    ];
  };
}

/** Each request lists all subscriptions; facts are the differences from the one before. */
function sotwReader(): FactReader {
  let before: ReadonlySet<string> | undefined;
  return ({ names, nonce }) => {
    const known = before ?? new Set();
    const now = new Set(
      before === undefined && names.length === 0
        ? ["*"]
        : names.length === 0 && known.has("*")
          ? known
          : names,
    );
    before = now;
    return [
      ...[...now].filter((name) => !known.has(name)).map((name) => `+${name}`),
      ...[...known].filter((name) => !now.has(name)).map((name) => `-${name}`),
      ...answered(nonce),
    ];
  };
}

function answered(nonce: string): readonly string[] {
  return nonce === "" ? [] : [`=${nonce}`];
}
