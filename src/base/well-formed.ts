/** A method of strings since V8 11.3, which the declarations for ES2023 do not have yet. */
interface SelfAware { isWellFormed(): boolean }

/** Whether a text has UTF-8 bytes, that is, no half of a surrogate pair. */
export const isWellFormed = (text: string): boolean => (text as unknown as SelfAware).isWellFormed()
