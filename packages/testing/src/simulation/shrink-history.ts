/** Options of {@link shrinkHistory}. */
export interface ShrinkOptions {
  /** How often `fails` is asked at most. Default: 2,000. */
  readonly tries?: number;
}

/**
 * The shortest history that still fails, as far as leaving things out finds it (delta debugging): first large parts are left out, then smaller ones, at last each thing alone.
 * `history` has to fail; `fails` has to give the same answer each time.
 */
export async function shrinkHistory<Action>(history: readonly Action[], fails: (history: readonly Action[]) => boolean | Promise<boolean>, { tries = 2_000 }: ShrinkOptions = {}): Promise<readonly Action[]> {
  let left = tries;
  let shortest = history;
  for (let size = Math.ceil(shortest.length / 2); size >= 1 && left > 0;) {
    const before = shortest.length;
    for (let end = shortest.length; end > 0 && left > 0; end -= size) {
      const without = shortest.toSpliced(Math.max(0, end - size), Math.min(size, end));
      left--;
      if (await fails(without)) shortest = without;
    }
    if (size > 1) size = Math.min(Math.ceil(size / 2), Math.max(1, shortest.length));
    else if (shortest.length === before) break;
  }
  return shortest;
}
