/** One run of a scenario, driven action by action. */
export interface Run {
  /** Returns the actions that are possible now; in the same order for the same state. */
  actions(): readonly string[];
  /** Performs an action. Throws if a rule is broken. */
  do(action: string): void;
  /** Returns the state as text: runs with equal text have the same future. */
  state(): string;
  /** Called when no action is possible any more. Throws if something is missing. */
  end(): void;
}

/** The extent of an exploration. */
export interface Explored {
  readonly states: number;
  /** The number of paths that ended because no action was possible any more. */
  readonly ends: number;
}

/**
 * Explores every order in which actions can happen. A run cannot be copied, so each branch is played again from the beginning; states that were seen are not entered twice.
 * Throws at the first broken rule, with the actions that lead there.
 */
export function explore(start: () => Run, limit: number): Explored {
  const seen = new Set<string>();
  const open: (readonly string[])[] = [[]];
  let ends = 0;
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const run = replay(start, path);
    const state = run.state();
    if (seen.has(state)) continue;
    seen.add(state);
    if (seen.size > limit) throw new Error(`more than ${limit} states: a scenario has to be small`);
    const actions = run.actions();
    if (actions.length === 0) {
      ends++;
      tell(path, () => {
        run.end();
      });
    }
    for (const action of actions) open.push([...path, action]);
  }
  return { states: seen.size, ends };
}

function replay(start: () => Run, path: readonly string[]): Run {
  const run = start();
  tell(path, () => {
    for (const action of path) run.do(action);
  });
  return run;
}

function tell(path: readonly string[], act: () => void): void {
  try {
    act();
  } catch (error) {
    throw new Error(
      `after ${path.join(", ")}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}
