const PREFIX = "type.googleapis.com/";

/** The type URL of a full message name (B-TYPE-1). */
export function typeUrlOf(fullName: string): string {
  return PREFIX + fullName;
}
