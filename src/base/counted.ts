/** Numbers of things, as people read them. */

/** `1 image`, `2 images`. */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
