/** Raw characters of the canonical form, as bits of {@link kept}. */
export const inAuthority = 1; // N-31
export const inType = 2; // N-08, N-32
export const inId = 4; // N-33
export const inParam = 8; // N-34
export const inDirective = 16; // N-36

const sets: readonly (readonly [bit: number, characters: RegExp])[] = [
  [inAuthority, /[\w.~!$&'()*+,;=:@[\]-]/],
  [inType, /[\w.~-]/],
  [inId, /[\w.~!$&'()*+,;=:@/-]/],
  [inParam, /[\w.~!$'()*,:@/?-]/],
  [inDirective, /[\w.~!$&'()*+;=:@/?-]/],
];

/** The sets in which each ASCII character stays as it is. */
const kept = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return sets.reduce(
    (bits, [bit, characters]) => (characters.test(character) ? bits | bit : bits),
    0,
  );
});

/** The index of the first character at or after `from` that is not in the set; the length if there is none. */
export function skip(text: string, from: number, set: number): number {
  let index = from;
  while (index < text.length && ((kept[text.charCodeAt(index)] ?? 0) & set) !== 0) index++;
  return index;
}
