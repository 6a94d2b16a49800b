import { walkFields } from "@xdstp/core/wire";

/** `identifier` of an encoded `ControlPlane` (B-NODE-9). Empty: none is given. */
export function readIdentifier(bytes: Buffer, start: number, end: number): string {
  let identifier = "";
  walkFields(
    bytes,
    (field, from, to) => {
      if (field === 1) identifier = bytes.toString("utf8", from, Math.min(to, from + MOST));
      return undefined;
    },
    { start, end },
  );
  return identifier;
}

/** Bytes of it that are kept: it is for people. */
const MOST = 1_024;
