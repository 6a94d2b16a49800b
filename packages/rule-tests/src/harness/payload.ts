import { decodeText, lengthDelimited, walkFields, WireType } from "@xdstp/core/wire";

const NAME = 1;
/** A field that no type of Envoy has. */
const TEXT = 15_000;

/** A payload of any type: its name in field 1, and a text. */
export function payloadOf(name: string, text = ""): Uint8Array {
  return Buffer.concat([lengthDelimited(NAME, name), lengthDelimited(TEXT, text)]);
}

/** The name in a payload. */
export function nameIn(payload: Uint8Array): string {
  return textOfField(payload, NAME);
}

/** The text in a {@link payloadOf}. */
export function textIn(payload: Uint8Array): string {
  return textOfField(payload, TEXT);
}

function textOfField(payload: Uint8Array, wanted: number): string {
  let text = "";
  walkFields(payload, (field, start, end, wireType) => {
    if (field === wanted && wireType === WireType.LENGTH_DELIMITED)
      text = decodeText(payload, start, end);
    return true;
  });
  return text;
}
