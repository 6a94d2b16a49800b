/** The command and version of an installed program, or the reason why it cannot run. */
export type Program =
  | { readonly found: true; readonly command: string; readonly version: string }
  | { readonly found: false; readonly reason: string };
