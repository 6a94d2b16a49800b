/** Levels of `alt` inside one locator (N-17). */
export const maxAltDepth = 8;
