/** Seeds of federation that failed once, with what they showed; they run each time. */
export const failedSeeds: readonly { readonly seed: number; readonly showed: string }[] = [
];
