import { LIST, nameOf, THING, type Content, type Place } from "./names.ts";

/**
 * Returns the contents of a place at each server of its authority, in order. `undefined`: the
 * authority has no server.
 */
export type Look = (typeUrl: string, place: Place) => readonly (Content | undefined)[] | undefined;

/** The result for a place. */
export type Found =
  { readonly state: "held"; readonly content: Content } | { readonly state: "missing" | "broken" };

/** A result, and the names that are requested on the way. */
export interface Walked {
  readonly found: Found;
  readonly asked: readonly (readonly [typeUrl: string, place: Place])[];
}

const MISSING: Found = { state: "missing" };
const BROKEN: Found = { state: "broken" };

/**
 * Follows a place through stores that are all reachable: at most 5 redirects, and no place twice
 * (C-REDIR-4). It uses an alternative only with `altOnMissing` (C-ALT-2).
 */
export function directWalk(
  look: Look,
  typeUrl: string,
  place: Place,
  altOnMissing = false,
  seen: readonly string[] = [],
  redirects = 0,
): Walked {
  const own = typeUrl === THING && place.entry !== undefined ? LIST : typeUrl;
  const name = nameOf(own, place);
  if (seen.includes(name) || redirects > 5) return { found: BROKEN, asked: [] };
  const [content, stands] = firstOf(look(own, place));
  if (!stands) return { found: BROKEN, asked: [] };
  const asked = [[own, place] as const];
  const led =
    content?.kind === "redirect"
      ? directWalk(look, own, content.to, altOnMissing, [...seen, name], redirects + 1)
      : { found: heldOf(content), asked: [] };
  const found = place.entry === undefined ? led.found : entryOf(led.found, place.entry);
  const other =
    found.state === "missing" && altOnMissing && place.alt !== undefined
      ? directWalk(look, typeUrl, place.alt, altOnMissing, seen, redirects)
      : undefined;
  return {
    found: other?.found.state === "held" ? other.found : found,
    asked: [...asked, ...led.asked, ...(other?.asked ?? [])],
  };
}

/**
 * Returns every text that a place may lead to, with any of the servers and with any alternative in
 * use.
 */
export function everyWalk(
  look: Look,
  typeUrl: string,
  place: Place,
  seen: readonly string[] = [],
  redirects = 0,
): readonly Content[] {
  const own = typeUrl === THING && place.entry !== undefined ? LIST : typeUrl;
  const name = nameOf(own, place);
  const there = seen.includes(name) || redirects > 5 ? [] : (look(own, place) ?? []);
  const led = there.flatMap((content) =>
    content?.kind === "redirect"
      ? everyWalk(look, own, content.to, [...seen, name], redirects + 1)
      : (content ?? []),
  );
  const found =
    place.entry === undefined
      ? led
      : led.flatMap((list) =>
          contentOf(entryOf({ state: "held", content: list }, place.entry ?? "")),
        );
  return [
    ...found,
    ...(place.alt === undefined ? [] : everyWalk(look, typeUrl, place.alt, seen, redirects)),
  ];
}

function firstOf(
  there: readonly (Content | undefined)[] | undefined,
): readonly [Content | undefined, boolean] {
  return there === undefined ? [undefined, false] : [there[0], true];
}

function heldOf(content: Content | undefined): Found {
  return content === undefined ? MISSING : { state: "held", content };
}

function entryOf(found: Found, name: string): Found {
  if (found.state !== "held") return found;
  const entry =
    found.content.kind === "list"
      ? found.content.entries.find((one) => "name" in one && one.name === name)
      : undefined;
  return entry !== undefined && "name" in entry
    ? { state: "held", content: { kind: "text", text: entry.text } }
    : MISSING;
}

function contentOf(found: Found): readonly Content[] {
  return found.state === "held" ? [found.content] : [];
}
