/**
 * Returns the shortest history that still fails, as far as leaving out actions finds it (delta
 * debugging). It first leaves out large parts, then smaller ones, and at last single actions; then
 * it replaces each action by a simpler one.
 * `history` has to fail. `fails` has to return the same result each time.
 */
export async function shrinkHistory<Action>(
  history: readonly Action[],
  fails: (history: readonly Action[]) => boolean | Promise<boolean>,
  {
    tries = 2_000,
    simpler = () => [],
  }: {
    /** The maximum number of calls of `fails`. Default: 2,000. */
    readonly tries?: number;
    /** Returns simpler actions that may replace an action. Default: none. */
    readonly simpler?: (action: Action) => readonly Action[];
  } = {},
): Promise<readonly Action[]> {
  let left = tries;
  const mayFail = async (candidate: readonly Action[]): Promise<boolean> =>
    left-- > 0 && fails(candidate);
  return simplify(await leaveOut(history, mayFail), mayFail, simpler);
}

type Fails<Action> = (history: readonly Action[]) => Promise<boolean>;

async function leaveOut<Action>(
  history: readonly Action[],
  fails: Fails<Action>,
): Promise<readonly Action[]> {
  let shortest = history;
  for (let size = Math.ceil(shortest.length / 2); size >= 1;) {
    const before = shortest.length;
    for (let end = shortest.length; end > 0; end -= size) {
      const without = shortest.toSpliced(Math.max(0, end - size), Math.min(size, end));
      if (await fails(without)) shortest = without;
    }
    if (size === 1 && shortest.length === before) break;
    size = Math.min(Math.ceil(size / 2), Math.max(1, shortest.length));
  }
  return shortest;
}

async function simplify<Action>(
  history: readonly Action[],
  fails: Fails<Action>,
  simpler: (action: Action) => readonly Action[],
): Promise<readonly Action[]> {
  let simplest = history;
  for (const index of history.keys()) {
    for (let goesOn = true; goesOn;) {
      const [action] = simplest.slice(index);
      goesOn = false;
      for (const other of action === undefined ? [] : simpler(action)) {
        if (!(await fails(simplest.with(index, other)))) continue;
        simplest = simplest.with(index, other);
        goesOn = true;
        break;
      }
    }
  }
  return simplest;
}
