/** Seeds of files that failed once, with what they showed; they run each time. */
export const failedSeeds: readonly {
  readonly seed: number;
  readonly steps: number;
  readonly showed: string;
}[] = [];
