/**
 * The shortest history that still fails, as far as leaving things out finds it (delta debugging): first large parts are left out, then smaller ones, at last each action alone;
 * then each action is replaced by a simpler one. `history` has to fail; `fails` has to give the same answer each time.
 */
export async function shrinkHistory<Action>(
  history: readonly Action[],
  fails: (history: readonly Action[]) => boolean | Promise<boolean>,
  {
    tries = 2_000,
    simpler = () => [],
  }: {
    /** How often `fails` is called at most. Default: 2,000. */
    readonly tries?: number;
    /** Simpler actions that may replace an action. Default: nothing. */
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
