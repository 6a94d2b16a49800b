/** How much of it there is. */
export interface Held {
  /** The first good state is loaded (S-STREAM-9). */
  readonly ready: boolean;
  readonly revision: number;
  readonly resources: number;
}
