/** Seeds of federation that failed once, with what they showed; they run each time. */
export const failedSeeds: readonly { readonly seed: number; readonly showed: string }[] = [
  { seed: 291_507, showed: "a stand-in stayed in use, and what it had given, beside a server whose answer has nothing in it" },
];
