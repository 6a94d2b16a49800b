/** Where a program is and which it is, or why it cannot run. */
export type Program =
  | { readonly found: true; readonly command: string; readonly version: string }
  | { readonly found: false; readonly reason: string };
