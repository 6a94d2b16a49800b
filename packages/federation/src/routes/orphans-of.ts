import type { Held, Removal, ResourceSink, TypedInterest } from "@xdstp/core";

/** Members of a collection that is known completely from one server, which only others have given: they are removed (C-GRPC-11). */
export function orphansOf(
  { typeUrl, interest }: TypedInterest,
  all: Pick<ResourceSink, "held">,
  own: Pick<ResourceSink, "held">,
): readonly Removal[] {
  const there = new Set(Array.from(own.held(typeUrl, interest), idOf));
  return Array.from(all.held(typeUrl, interest))
    .filter((held) => !there.has(idOf(held)))
    .map((held) => removalOf(typeUrl, held));
}

function removalOf(typeUrl: string, { name, constraints }: Held): Removal {
  return { typeUrl, name, ...(constraints === undefined ? {} : { constraints }) };
}

function idOf({ name, constraints }: Held): string {
  return constraints === undefined
    ? name
    : `${name}\n${Buffer.from(constraints).toString("base64")}`;
}
