import { resolve } from "node:path";

/** The root of the checkout. */
export const root = resolve(import.meta.dirname, "../..");
