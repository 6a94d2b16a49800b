/** Encoded bytes in which a name and a stamp are replaced in place: their widths are fixed, so no length changes. */
export interface Template {
  /** Bytes of every copy. */
  readonly length: number;
  /** A copy for the resource with this index, with this stamp in its content. */
  fill(index: number, stamp: number): Buffer;
}

const nameStart = "service-";
const nameDigits = 7;
const stampStart = "stamp-";
const stampDigits = 10;

/** The name of the resource with this index. */
export function nameOf(index: number): string {
  return `${nameStart}${String(index).padStart(nameDigits, "0")}`;
}

/** The text in a resource that changes with it. */
export function stampText(stamp: number): string {
  return `${stampStart}${String(stamp).padStart(stampDigits, "0")}`;
}

/** A template of a message that was encoded for index 0 and stamp 0. */
export function createTemplate(bytes: Uint8Array): Template {
  const original = Buffer.from(bytes);
  const names = placesOf(original, nameOf(0));
  const stamps = placesOf(original, stampText(0));
  return {
    length: original.length,
    fill(index, stamp) {
      const copy = Buffer.from(original);
      for (const place of names) copy.write(nameOf(index), place, "latin1");
      for (const place of stamps) copy.write(stampText(stamp), place, "latin1");
      return copy;
    },
  };
}

/** Tells index and stamp of each copy in a message, in its order: the last name before a stamp belongs to it. */
export function readCopies(message: Buffer, tell: (index: number, stamp: number) => void): void {
  for (let at = message.indexOf(stampStart); at >= 0; at = message.indexOf(stampStart, at + 1)) {
    const name = message.lastIndexOf(nameStart, at) + nameStart.length;
    const stamp = at + stampStart.length;
    tell(
      Number(message.toString("latin1", name, name + nameDigits)),
      Number(message.toString("latin1", stamp, stamp + stampDigits)),
    );
  }
}

function placesOf(bytes: Buffer, text: string): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) places.push(at);
  return places;
}
