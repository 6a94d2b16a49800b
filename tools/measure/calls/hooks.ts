// Notes the calls of functions in the sources of the packages. It has to be imported before these are.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { createCallNotes } from "./crossings.ts";
import { instrument } from "./instrument.ts";

const SOURCE = /\/packages\/(?<name>[^/]+)\/src\/(?<file>.+)\.ts$/;
/** The packages that all others are written in terms of, and generated code: a call of one is not a detour. */
const WORDS = new Set(["core", "uri", "protos", "resource-types", "testing"]);

/** The notes of all calls. */
export const notes = createCallNotes();
Object.assign(globalThis, { noteCall: notes.begin });

registerHooks({
  load(url, context, nextLoad) {
    const { name, file } = SOURCE.exec(url)?.groups ?? {};
    if (name === undefined || file === undefined || WORDS.has(name)) return nextLoad(url, context);
    const text = readFileSync(fileURLToPath(url), "utf8");
    return {
      format: "module-typescript",
      source: instrument(text, `${name}/${file}`),
      shortCircuit: true,
    };
  },
});
