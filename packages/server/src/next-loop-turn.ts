/** Up to this number of bytes are copied or encoded before others get a turn. */
export const BYTES_PER_TURN: number = 1 << 20;

/** Lets everything else that is due go first. */
export async function nextLoopTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
