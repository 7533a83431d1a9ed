/** One line of the bench: two things measured side by side in one run, never against a clock. */
export interface BenchRow {
  readonly name: string
  /** Ours divided by theirs, or the reverse; `detail` says which. Null: not measured here. */
  readonly ratio: number | null
  /** What was promised, for example `at most 1.25`. */
  readonly target: string
  readonly pass: boolean
  readonly detail: string
  /** What is not installed, where that is why nothing was measured, and how to install it. */
  readonly needs?: string
}
