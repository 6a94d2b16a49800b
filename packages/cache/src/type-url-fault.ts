import { describeValue } from "./describe-value.ts";

/** Why a type URL cannot be one (B-TYPE-1). Any prefix is good, as in every `google.protobuf.Any`, but there has to be one. */
export function typeUrlFault(typeUrl: string): string | undefined {
  if (typeof typeUrl !== "string")
    return `the type URL is ${describeValue(typeUrl)}; give type.googleapis.com/ and the full message name (B-TYPE-1)`;
  const slash = typeUrl.lastIndexOf("/");
  if (slash !== -1 && slash < typeUrl.length - 1) return undefined;
  const right =
    slash === -1 && typeUrl !== ""
      ? `write type.googleapis.com/${typeUrl}`
      : "write type.googleapis.com/ and the full message name";
  return `the type URL ${JSON.stringify(typeUrl)} has no ${slash === -1 ? "slash" : "name"}; ${right} (B-TYPE-1)`;
}
