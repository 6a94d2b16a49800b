import { type StatusName, statusNameOf, XdsError } from "@xdstp/core";
import { decodeText, varintValue, walkFields } from "@xdstp/core/wire";
import { readResourceName } from "./read-resource.ts";
import type { ReceivedName } from "./received.ts";

/**
 * Reads an encoded `ResourceError` (TP3). undefined: it cannot be read. An unknown status code
 * becomes UNKNOWN, which is transient (C-ERR-4).
 */
export function readError(
  bytes: Uint8Array,
  start: number,
  end: number,
  typeUrl: string,
  errorText: (text: string) => string,
): ReceivedName | undefined {
  let name: ReturnType<typeof readResourceName> = { name: "" };
  let code: StatusName = "UNKNOWN";
  let text = "";
  const { outcome } = walkFields(
    bytes,
    (field, from, to) => {
      if (field === 1) name = readResourceName(bytes, from, to);
      if (field === 2) [code, text] = readStatus(bytes, from, to);
      return undefined;
    },
    { start, end },
  );
  if (outcome !== "complete" || name.fault !== undefined || name.name === "") return undefined;
  const { constraints } = name;
  const said = errorText(text);
  const error = new XdsError(code, `the server says: ${said}`, {
    typeUrl,
    resource: name.name,
    said,
  });
  return { name: name.name, error, ...(constraints === undefined ? {} : { constraints }) };
}

/** Reads a `google.rpc.Status`. OK is not an error, so it becomes UNKNOWN. */
function readStatus(
  bytes: Uint8Array,
  start: number,
  end: number,
): [code: StatusName, text: string] {
  let code = 2;
  let text = "";
  walkFields(
    bytes,
    (field, from, to) => {
      if (field === 1) code = varintValue(bytes, from, to);
      if (field === 2) text = decodeText(bytes, from, to);
      return undefined;
    },
    { start, end },
  );
  return [code === 0 ? "UNKNOWN" : (statusNameOf(code) ?? "UNKNOWN"), text];
}
