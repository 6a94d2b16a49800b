import type { XdsError } from "@xdstp/core";

import { failure, shown, type ListMember } from "./list-member.ts";
import type { ListPart } from "./list-part.ts";

/** A member without a server. */
export function failedPart(
  name: string,
  error: XdsError,
  before: ListMember | undefined,
): ListPart {
  return { member: shown(before, name, failure(error)), settled: true, end: () => undefined };
}
