/** The type of what passes through a relay: one that it does not know. */
export const memberType = "type.googleapis.com/bench.v1.Member";

const bytes = 410;

/** The glob that everybody wants. */
export const memberGlob: string = nameOfMember("*");

/** The name of a member. */
export function nameOfMember(id: number | "*"): string {
  return `xdstp://bench/bench.v1.Member/all/${id}`;
}

/** A payload as large as a cluster of the other cases, which begins with when it was made. */
export function memberMadeAt(ms: number): Buffer {
  const value = Buffer.alloc(bytes, 0x2e);
  value.writeDoubleBE(ms);
  return value;
}
