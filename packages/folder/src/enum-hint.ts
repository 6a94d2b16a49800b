import type { Registry } from "@bufbuild/protobuf";
import { closest } from "./closest.ts";

/** Up to this number of values of an enum are named. */
const most = 5;

/** Which values an enum has, the one that was probably meant first. undefined: the enum is not known. */
export function enumHint(name: string, word: string, registry: Registry): string | undefined {
  const values = registry.getEnum(name)?.values.map((value) => value.name);
  if (values === undefined) return undefined;
  const meant = closest(word.toUpperCase(), values);
  const sorted = values.toSorted((a, b) => Number(b === meant) - Number(a === meant));
  return `one of ${[...sorted.slice(0, most), ...(sorted.length > most ? ["..."] : [])].join(", ")}`;
}
