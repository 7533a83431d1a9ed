/** Something that waits until a test lets it go on. */
export interface Gate {
  open(): void
  readonly passed: Promise<void>
}

/** Makes a closed one. */
export const gate = (): Gate => {
  let open: () => void = () => undefined
  const passed = new Promise<void>((resolve) => { open = resolve })
  return { open, passed }
}
